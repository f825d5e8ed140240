#pragma once

#include <cstdint>

namespace leakgate {

// The processor ignores the highest byte.
constexpr std::uint64_t AddressIn(std::uint64_t word) { return word & ~(0xFFULL << 56); }

}  // namespace leakgate
