#pragma once

#include <bit>
#include <cstdint>

namespace leakgate {

constexpr std::uint64_t AddressIn(std::uint64_t word) { return word; }

// In the thread's descriptor. All registers that point into the stack are mangled.
constexpr std::uint64_t PointerGuardAt(std::uint64_t thread_pointer) {
  return thread_pointer + 0x30;
}
constexpr std::uint64_t UnmangledPointer(std::uint64_t word, std::uint64_t guard) {
  return std::rotr(word, 17) ^ guard;
}

}  // namespace leakgate
