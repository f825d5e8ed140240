// A quantity of heap: bytes and blocks. Signed, because growth may be negative.
#pragma once

#include <cstdint>

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

}  // namespace leakgate
