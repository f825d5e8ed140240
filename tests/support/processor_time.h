// What a reader costs for each byte, without a clock's word on how fast the machine is: the
// processor time of this thread for an input, and for one four times as large. A linear reader
// takes 4 times as long, a quadratic one 16 times.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstddef>

namespace leakgate::test {

inline double ProcessorSeconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// More than linear, and far less than quadratic.
inline constexpr double kMostGrowth = 12;

// How many times as long `use` takes for what `make` makes of 4 * `size` as for that of `size`:
// the least of several tries each. REQUIRES: `size` is large enough to be timed.
template <typename Make, typename Use>
double GrowthOfCost(std::size_t size, const Make& make, const Use& use) {
  const auto cost = [&](const auto& input) {
    double least = 0;
    for (int i = 0; i < 3; ++i) {
      const double begin = ProcessorSeconds();
      use(input);
      const double took = ProcessorSeconds() - begin;
      least = i == 0 ? took : std::min(least, took);
    }
    return least;
  };
  return cost(make(4 * size)) / std::max(cost(make(size)), 1e-6);
}

}  // namespace leakgate::test
