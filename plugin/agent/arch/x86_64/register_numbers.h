// DWARF's numbers of the registers that unwinding reads (System V ABI, AMD64 supplement,
// figure 3.36).
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint32_t kRbx = 3;
inline constexpr std::uint32_t kRbp = 6;
inline constexpr std::uint32_t kRsp = 7;
inline constexpr std::uint32_t kR12 = 12;
inline constexpr std::uint32_t kR15 = 15;
inline constexpr std::uint32_t kRegisterCount = 17;

inline constexpr std::uint32_t kStackPointer = kRsp;
inline constexpr std::uint32_t kFramePointer = kRbp;
// Calls leave the return address on the stack: number 16 is not a register, but a column of the
// tables.
inline constexpr std::uint32_t kReturnAddress = 16;
inline constexpr std::uint32_t kProgramCounter = kReturnAddress;

// Whether a called function must preserve the register.
constexpr bool IsPreservedByCalls(std::uint32_t number) {
  return number == kRbx || number == kRbp || (number >= kR12 && number <= kR15);
}

}  // namespace leakgate::agent
