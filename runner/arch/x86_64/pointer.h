#pragma once

#include <cstdint>

namespace leakgate {

constexpr std::uint64_t AddressIn(std::uint64_t word) { return word; }

}  // namespace leakgate
