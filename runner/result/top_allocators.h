// The call sites that made a test exceed a limit on its activity, whatever it leaves: what it
// allocates, what it allocates only for a moment, or what it has at its peak. The test was repeated
// alone and recorded to find them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/budget/metric.h"
#include "runner/result/finding.h"

namespace leakgate {

// A call site, with the largest of its stacks. Its blocks need not be outstanding.
struct TopAllocator {
  Finding site;  // without the fate of its blocks

  friend bool operator==(const TopAllocator&, const TopAllocator&) = default;
};

struct TopAllocators {
  Quantity quantity{};                // kAllocated, kTemporary or kPeak
  bool is_within_limits = false;      // apart from GoogleTest's own allocations
  Amount amount{};                    // in the repetition; for a peak, all that was live then
  std::vector<TopAllocator> sites{};  // the largest ones
  std::int64_t other_sites = 0;       // how many further call sites there are
  Amount other{};                     // the sum of these
  // The part of `amount` that GoogleTest allocated itself; it is in none of the sites.
  Amount framework{};
  std::string problem{};  // why the sites are not known, one line; empty if they are

  friend bool operator==(const TopAllocators&, const TopAllocators&) = default;
};

}  // namespace leakgate
