// Compares what a window was measured to do with what its budget permits. All functions are pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/budget/applied_budget.h"
#include "runner/region/amount.h"

namespace leakgate {

// kNotGated: the window has no limit. kUnconfirmed: the window retains blocks that may be a leak,
// and its test could not be repeated to find out.
enum class Verdict { kPass, kOverBudget, kInconclusive, kNotGated, kUnconfirmed };

// What a window did to the heap. Blocks of the framework's own and allowed blocks are not counted.
struct Measured {
  Amount outstanding;
  Amount lost;
  Amount retained;
  Amount growth;
  Amount allocated;
  std::int64_t peak_bytes = 0;
  Amount mapped;  // its blocks are mappings
  // How many more the process has at the window's end than at its begin; nullopt if no budget asks.
  std::optional<std::int64_t> file_descriptors;
  std::optional<std::int64_t> threads;
};

struct Violation {
  std::string metric;  // "outstanding_bytes", "growth_blocks", "threads", ...
  std::int64_t actual = 0;
  AppliedLimit limit;
  std::string component;  // the limit's; empty: the limit is leakgate's default
  Amount amount;          // all of the quantity, if it has both bytes and blocks

  friend bool operator==(const Violation&, const Violation&) = default;
};

// Returns each limit that is exceeded, in the order of Measured, bytes before blocks. A measured
// value that equals its limit does not exceed it.
[[nodiscard]] std::vector<Violation> Judge(const Measured& measured, const AppliedBudget& budget);

// True if any limit is set. A window without limits is reported, but not gated.
[[nodiscard]] bool IsGated(const AppliedBudget& budget);

}  // namespace leakgate
