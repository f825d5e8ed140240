// An amount of heap: bytes and blocks. Both are signed, because growth may be negative.
#pragma once

#include <cstdint>

#include "common/region_layout.h"

namespace leakgate {

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

[[nodiscard]] inline Amount LiveIn(const Totals& totals) {
  return AmountOf(totals.allocated_bytes - totals.freed_bytes,
                  totals.allocated_blocks - totals.freed_blocks);
}

}  // namespace leakgate
