// The verdict on one window: what was measured against what is allowed. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runner/budget/applied_budget.h"
#include "runner/region/amount.h"

namespace leakgate {

// kUnconfirmed: something retained could not be told from a leak, for the test
// could not be repeated.
enum class Verdict { kPass, kOverBudget, kInconclusive, kNotGated, kUnconfirmed };

// What a window did to the heap, without what is the framework's own or allowed.
struct Measured {
  Amount outstanding;
  Amount lost;
  Amount retained;
  Amount growth;
  Amount allocated;
  std::int64_t peak_bytes = 0;
  Amount mapped;  // blocks: mappings
  // What the process has at the window's end and had not at its begin; nothing
  // where no budget asks.
  std::optional<std::int64_t> file_descriptors;
  std::optional<std::int64_t> threads;
};

struct Violation {
  std::string metric;  // "outstanding_bytes", "growth_blocks", "threads", ...
  std::int64_t actual = 0;
  AppliedLimit limit;
  std::string component;  // whose limit; empty: nobody's, the default's
  Amount amount;          // of the quantity, bytes and blocks, where it has both
};

// Each limit that is exceeded, in the order of Measured, bytes before blocks.
// Equal to the limit is within it.
[[nodiscard]] std::vector<Violation> Judge(const Measured& measured, const AppliedBudget& budget);

[[nodiscard]] bool IsLimited(const AppliedAmountLimits& limits);

// True if any limit is set: a window without one is reported, not gated.
[[nodiscard]] bool IsGated(const AppliedBudget& budget);

}  // namespace leakgate
