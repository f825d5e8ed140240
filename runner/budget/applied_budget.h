// The budget of one window: its limits and allowances, each with the place where it was set.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/budget/budget_file.h"

namespace leakgate {

// The place in a budget file that sets a limit or an allowance.
struct LimitSource {
  std::string file;  // empty: the limit is leakgate's default
  int line = 0;
  std::string reason;  // the reason of the override or allowance; empty: it is neither

  bool operator==(const LimitSource&) const = default;
};

struct AppliedLimit {
  std::int64_t value = 0;
  LimitSource source;

  bool operator==(const AppliedLimit&) const = default;
};

struct AppliedAmountLimits {
  std::optional<AppliedLimit> bytes;
  std::optional<AppliedLimit> blocks;

  bool operator==(const AppliedAmountLimits&) const = default;
};

[[nodiscard]] inline bool IsLimited(const AppliedAmountLimits& limits) {
  return limits.bytes || limits.blocks;
}

// An Allowance that applies to the window.
struct AppliedAllowance {
  std::vector<std::string> stack;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> blocks;
  LimitSource source;
  std::string owner;
  std::string issue;
  std::optional<std::chrono::year_month_day> expires;

  bool operator==(const AppliedAllowance&) const = default;
};

// What one budget file permits one window, after its overrides.
struct AppliedBudget {
  std::string component;  // empty: no file covers the window
  std::string owner;
  std::string file;  // the path as the user gave it
  AppliedAmountLimits outstanding;
  AppliedAmountLimits lost;
  AppliedAmountLimits retained;
  AppliedAmountLimits growth;
  AppliedAmountLimits allocated;
  AppliedAmountLimits mapped;  // its blocks are mappings
  std::optional<AppliedLimit> peak_bytes;
  std::optional<AppliedLimit> file_descriptors;
  std::optional<AppliedLimit> threads;
  FreeBy free_by = FreeBy::kTest;
  std::optional<Confirm> confirm;
  ThreadScope thread_scope = ThreadScope::kProcess;
  std::vector<AppliedAllowance> allowances;

  bool operator==(const AppliedBudget&) const = default;
};

}  // namespace leakgate
