#pragma once

#include <cstdint>

namespace leakgate {

// The processor ignores the highest byte.
constexpr std::uint64_t AddressIn(std::uint64_t word) { return word & ~(0xFFULL << 56); }

// Not needed: the frame pointer is kept as it is.
constexpr std::uint64_t PointerGuardAt(std::uint64_t) { return 0; }
constexpr std::uint64_t UnmangledPointer(std::uint64_t word, std::uint64_t) { return word; }

}  // namespace leakgate
