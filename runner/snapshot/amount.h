// A quantity of heap: bytes and blocks. Signed, because growth may be negative.
#pragma once

#include <cstdint>

namespace leakgate {

struct Amount {
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;

  friend bool operator==(const Amount&, const Amount&) = default;
};

inline Amount operator+(Amount a, Amount b) { return {a.bytes + b.bytes, a.blocks + b.blocks}; }
inline Amount operator-(Amount a, Amount b) { return {a.bytes - b.bytes, a.blocks - b.blocks}; }
inline Amount& operator+=(Amount& a, Amount b) { return a = a + b; }

}  // namespace leakgate
