// The limits that apply to one window, each with where it comes from. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/budget/budget_file.h"

namespace leakgate {

// Where a limit comes from. The default has no file.
struct LimitSource {
  std::string file;  // empty: leakgate's default
  int line = 0;
  std::string reason;  // of the override that set it, if one did

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

// An allowance of a budget file that applies to a window.
struct AppliedAllowance {
  std::vector<std::string> stack;  // as Allowance's
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> blocks;
  LimitSource source;
  std::string owner;
  std::string issue;
  std::optional<std::chrono::year_month_day> expires;

  bool operator==(const AppliedAllowance&) const = default;
};

// The limits of one window, override by override resolved.
struct AppliedBudget {
  std::string component;  // empty: no file covers the window
  std::string owner;
  std::string file;  // as given
  AppliedAmountLimits outstanding;
  AppliedAmountLimits lost;
  AppliedAmountLimits retained;
  AppliedAmountLimits growth;
  AppliedAmountLimits allocated;
  AppliedAmountLimits mapped;  // blocks: mappings
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
