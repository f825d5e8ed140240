// What made a test exceed a limit on what it may do, whatever it leaves: allocate, allocate only
// for a moment, or have at its peak. The test was repeated for that, alone and recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/budget/metric.h"
#include "runner/result/finding.h"

namespace leakgate {

// A call site, by the stack of it that has most. Its blocks need not be outstanding.
struct TopAllocator {
  Finding site;  // without what became of its blocks

  friend bool operator==(const TopAllocator&, const TopAllocator&) = default;
};

struct TopAllocators {
  Quantity quantity{};                // kAllocated, kTemporary or kPeak
  bool is_within_limits = false;      // without what is GoogleTest's own
  Amount amount{};                    // in the repetition; of a peak, all that was live then
  std::vector<TopAllocator> sites{};  // those of most
  std::int64_t other_sites = 0;       // that are not among them
  Amount other{};                     // of these
  Amount framework{};                 // of amount: GoogleTest's own, by none of the sites
  std::string problem{};              // why it is not known, one line; empty if it is

  friend bool operator==(const TopAllocators&, const TopAllocators&) = default;
};

}  // namespace leakgate
