// What each repetition of a test has left, for tests that judge series of repetitions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace leakgate {

using Net = std::vector<std::int64_t>;

// `value` at each of the first `until` of `size` repetitions, then 0.
inline Net EachTime(std::size_t size, std::size_t until, std::int64_t value = 1) {
  Net net(size);
  for (std::size_t i = 0; i < std::min(size, until); ++i) net[i] = value;
  return net;
}

}  // namespace leakgate
