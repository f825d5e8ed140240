// The verdict on one window: what was measured against what is allowed. Pure.
#pragma once

#include <string>
#include <vector>

#include "runner/budget/budget_set.h"
#include "runner/snapshot/amount.h"

namespace leakgate {

enum class Verdict { kPass, kOverBudget, kInconclusive, kNotGated };

// What a window did to the heap, without what is the framework's own.
struct Measured {
  Amount outstanding;
  Amount growth;
};

struct Violation {
  std::string metric;  // "outstanding_bytes", "growth_blocks", ...
  std::int64_t actual = 0;
  AppliedLimit limit;
};

// Each limit that is exceeded, in the order outstanding bytes, outstanding
// blocks, growth bytes, growth blocks. Equal to the limit is within it.
[[nodiscard]] std::vector<Violation> Judge(const Measured& measured, const AppliedBudget& budget);

// True if any limit is set: a window without one is reported, not gated.
[[nodiscard]] bool IsGated(const AppliedBudget& budget);

}  // namespace leakgate
