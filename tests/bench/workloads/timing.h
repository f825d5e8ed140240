// What every workload shares: it times itself with a steady clock, for about as
// long as it was asked to, and prints one line a figure, "bench.NAME VALUE",
// for tests/bench/compare to read.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace bench {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

inline void Print(const char* name, double value) {
  std::printf("bench.%s %.4f\n", name, value);
  std::fflush(stdout);
}

inline double PerOperation(Clock::duration took, std::uint64_t operations) {
  return Nanoseconds(took).count() / static_cast<double>(operations);
}

// The compiler must assume that the memory behind `pointer` is used: neither an
// allocation nor what is written to it can be left out.
inline void Use(const void* pointer) { asm volatile("" : : "g"(pointer) : "memory"); }

// The argument at `index`, as a number.
inline std::uint64_t Argument(int argc, char** argv, int index) {
  if (index < argc) return std::strtoull(argv[index], nullptr, 10);
  std::fprintf(stderr, "%s: argument %d is missing\n", argv[0], index);
  std::exit(2);
}

// Runs `batch`, which returns how many operations it did, once to warm up and
// then again and again for `budget_ms`; prints the time of one.
template <typename Batch>
void Measure(std::uint64_t budget_ms, Batch batch) {
  batch();
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::milliseconds(budget_ms);
  std::uint64_t operations = 0;
  Clock::time_point now;
  do {
    operations += batch();
    now = Clock::now();
  } while (now < end);
  Print("ns_per_op", PerOperation(now - begin, operations));
}

}  // namespace bench
