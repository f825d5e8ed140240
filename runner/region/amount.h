// A quantity of heap: bytes and blocks. Signed, because growth may be negative.
#pragma once

#include <cstdint>

#include "common/region_layout.h"

namespace leakgate {

struct Amount {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;

  friend bool operator==(const Amount&, const Amount&) = default;
};

// The nearest there is where the sum is out of range: amounts come of what a process may have
// scribbled on, and of files.
inline std::int64_t AddWithin(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? INT64_MIN : INT64_MAX;
}
inline std::int64_t SubtractWithin(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

inline Amount operator+(Amount a, Amount b) {
  return {AddWithin(a.bytes, b.bytes), AddWithin(a.blocks, b.blocks)};
}
inline Amount operator-(Amount a, Amount b) {
  return {SubtractWithin(a.bytes, b.bytes), SubtractWithin(a.blocks, b.blocks)};
}
inline Amount& operator+=(Amount& a, Amount b) { return a = a + b; }

// What the region's counters come to, as amounts. They may hold anything: nothing overflows.

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
