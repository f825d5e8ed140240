// The budget of one window: its limits and allowances, each with the place where it was set; and
// the table of the quantities that it limits.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/budget/budget_file.h"
#include "runner/budget/metric.h"

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
  AppliedAmountLimits temporary;
  AppliedAmountLimits mapped;  // its blocks are mappings
  std::optional<AppliedLimit> peak_bytes;
  std::optional<AppliedLimit> file_descriptors;
  std::optional<AppliedLimit> threads;
  FreeBy free_by = FreeBy::kTest;
  std::optional<Confirm> confirm;
  bool shows_contents = true;
  ThreadScope thread_scope = ThreadScope::kProcess;
  std::vector<AppliedAllowance> allowances;

  bool operator==(const AppliedBudget&) const = default;
};

// The tables below list the quantities that a budget limits. Code that treats all quantities alike
// (applying, explaining, tightening) goes through them, and so forgets none.

// A quantity that is limited in bytes and in blocks.
struct AmountQuantity {
  Quantity quantity;
  AmountLimits WindowLimits::*limits;
  AppliedAmountLimits AppliedBudget::*applied;

  [[nodiscard]] constexpr std::string_view key() const { return Word(quantity); }
};

// A quantity that is limited by one number.
struct NumberQuantity {
  Quantity quantity;
  std::optional<Limit> WindowLimits::*limit;
  std::optional<AppliedLimit> AppliedBudget::*applied;
  bool in_bytes;             // false: the number is a count
  std::string_view counted;  // what it counts, in the plural; empty if it is in bytes

  [[nodiscard]] constexpr std::string_view key() const { return Word(quantity); }
};

namespace quantity {

inline constexpr AmountQuantity kOutstanding{Quantity::kOutstanding, &WindowLimits::outstanding,
                                             &AppliedBudget::outstanding};
inline constexpr AmountQuantity kLost{Quantity::kLost, &WindowLimits::lost, &AppliedBudget::lost};
inline constexpr AmountQuantity kRetained{Quantity::kRetained, &WindowLimits::retained,
                                          &AppliedBudget::retained};
inline constexpr AmountQuantity kGrowth{Quantity::kGrowth, &WindowLimits::growth,
                                        &AppliedBudget::growth};
inline constexpr AmountQuantity kAllocated{Quantity::kAllocated, &WindowLimits::allocated,
                                           &AppliedBudget::allocated};
inline constexpr AmountQuantity kTemporary{Quantity::kTemporary, &WindowLimits::temporary,
                                           &AppliedBudget::temporary};
inline constexpr AmountQuantity kMapped{Quantity::kMapped, &WindowLimits::mapped,
                                        &AppliedBudget::mapped};
inline constexpr NumberQuantity kPeak{Quantity::kPeak, &WindowLimits::peak_bytes,
                                      &AppliedBudget::peak_bytes, true, ""};
inline constexpr NumberQuantity kFileDescriptors{
    Quantity::kFileDescriptors, &WindowLimits::file_descriptors, &AppliedBudget::file_descriptors,
    false, "file descriptors"};
inline constexpr NumberQuantity kThreads{Quantity::kThreads, &WindowLimits::threads,
                                         &AppliedBudget::threads, false, "threads"};

}  // namespace quantity

inline constexpr std::array kAmountQuantities = {
    quantity::kOutstanding, quantity::kLost,      quantity::kRetained, quantity::kGrowth,
    quantity::kAllocated,   quantity::kTemporary, quantity::kMapped};

inline constexpr std::array kNumberQuantities = {quantity::kPeak, quantity::kFileDescriptors,
                                                 quantity::kThreads};

}  // namespace leakgate
