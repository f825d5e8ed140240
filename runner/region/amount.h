// Amounts of heap, and numbers as a person reads them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/region_layout.h"

namespace leakgate {

// Both are signed, because growth may be negative.
struct Amount {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;

  friend bool operator==(const Amount&, const Amount&) = default;
};

// Sums saturate instead of overflowing: amounts come from files, and from memory that the process
// under test may have overwritten.
inline std::int64_t AddSaturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}
inline std::int64_t SubtractSaturating(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

inline Amount operator+(Amount a, Amount b) {
  return {AddSaturating(a.bytes, b.bytes), AddSaturating(a.blocks, b.blocks)};
}
inline Amount operator-(Amount a, Amount b) {
  return {SubtractSaturating(a.bytes, b.bytes), SubtractSaturating(a.blocks, b.blocks)};
}
inline Amount& operator+=(Amount& a, Amount b) { return a = a + b; }

// Converts the region's counters, which may hold any value: nothing here overflows.
[[nodiscard]] inline Amount AmountOf(std::uint64_t bytes, std::uint64_t blocks) {
  return {static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(blocks)};
}

[[nodiscard]] inline Amount AllocatedIn(const Totals& totals) {
  return AmountOf(totals.allocated_bytes, totals.allocated_blocks);
}

[[nodiscard]] inline Amount FreedIn(const Totals& totals) {
  return AmountOf(totals.freed_bytes, totals.freed_blocks);
}

[[nodiscard]] inline Amount TemporaryIn(const Totals& totals) {
  return AmountOf(totals.temporary_bytes, totals.temporary_blocks);
}

[[nodiscard]] inline Amount LiveIn(const Totals& totals) {
  return AmountOf(totals.allocated_bytes - totals.freed_bytes,
                  totals.allocated_blocks - totals.freed_blocks);
}

// Returns text such as "128 B", "9999 B", "1.5 MiB". It is exact below 10 KiB, so that small
// findings add up.
[[nodiscard]] std::string FormatBytes(std::int64_t bytes);

// Returns text such as "1 block" or "2 blocks". `noun` is in the singular and takes an s.
[[nodiscard]] std::string FormatCount(std::int64_t count, std::string_view noun);

// Returns text such as "64 B in 1 block".
[[nodiscard]] std::string FormatAmount(Amount amount);

// Returns text such as "64.0 KiB in 1 mapping".
[[nodiscard]] std::string FormatMapped(Amount amount);

// Returns text such as "-8 B (+0 blocks)". A change always has its sign.
[[nodiscard]] std::string FormatChange(Amount change);

// Returns text such as "0.4 ms", "41 ms", "2.31 s" or "3 min 20 s".
[[nodiscard]] std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace leakgate
