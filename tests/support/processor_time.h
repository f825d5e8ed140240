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

// How many times as long `use` takes for what `make` makes of 4 * `size` as for that of `size`.
// Wine counts processor time in steps of 10 ms, so each is used again until it takes many of them.
template <typename Make, typename Use>
double GrowthOfCost(std::size_t size, const Make& make, const Use& use) {
  constexpr double kManySteps = 0.05;
  const auto seconds_of = [&](const auto& input, std::size_t uses) {
    const double begin = ProcessorSeconds();
    for (std::size_t i = 0; i < uses; ++i) use(input);
    return ProcessorSeconds() - begin;
  };
  const auto cost = [&](const auto& input) {
    std::size_t uses = 1;
    double seconds = seconds_of(input, uses);
    while (seconds < kManySteps) seconds = seconds_of(input, uses *= 2);
    return std::min(seconds, seconds_of(input, uses)) / static_cast<double>(uses);
  };
  return cost(make(4 * size)) / cost(make(size));
}

}  // namespace leakgate::test
