// The clock of records: QueryPerformanceCounter, in nanoseconds.
#pragma once

#include <cstdint>

namespace leakgate::agent {

[[nodiscard]] std::uint64_t MonotonicTime();

}  // namespace leakgate::agent
