#include "runner/arch/time_counter.h"

#include <cpuid.h>
#include <x86intrin.h>

namespace leakgate {

// Invariant TSC: bit 8 of EDX in leaf 0x8000'0007, in Intel's and in AMD's manuals.
bool HasSteadyCounter() {
  constexpr unsigned kLeaf = 0x8000'0007;
  constexpr unsigned kInvariant = 1U << 8;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(kLeaf, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
}

std::uint64_t ReadCounter() { return __rdtsc(); }

std::string_view CounterClockSource() { return "tsc"; }

}  // namespace leakgate
