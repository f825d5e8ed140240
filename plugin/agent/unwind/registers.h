// The registers of x86-64 that unwinding reads, by their DWARF numbers
// (System V ABI, AMD64 supplement, figure 3.36).
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint32_t kRbx = 3;
inline constexpr std::uint32_t kRbp = 6;
inline constexpr std::uint32_t kRsp = 7;
inline constexpr std::uint32_t kR12 = 12;
inline constexpr std::uint32_t kR15 = 15;
inline constexpr std::uint32_t kReturnAddress = 16;
inline constexpr std::uint32_t kRegisterCount = 17;

// A frame's registers, as far as they are known.
struct RegisterFile {
  std::uint64_t value[kRegisterCount] = {};
  std::uint32_t known = 0;  // bit n: value[n] is known

  bool Knows(std::uint64_t number) const {
    return number < kRegisterCount && (known >> number & 1) != 0;
  }
  void Set(std::uint32_t number, std::uint64_t to) {
    value[number] = to;
    known |= 1U << number;
  }
};

}  // namespace leakgate::agent
