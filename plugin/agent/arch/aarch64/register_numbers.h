// DWARF's numbers of the registers that unwinding reads (DWARF for the Arm 64-bit Architecture,
// section 4.1).
#pragma once

#include <cstdint>

namespace leakgate::agent {

inline constexpr std::uint32_t kX19 = 19;
inline constexpr std::uint32_t kX28 = 28;
inline constexpr std::uint32_t kX29 = 29;
inline constexpr std::uint32_t kX30 = 30;
inline constexpr std::uint32_t kSp = 31;
inline constexpr std::uint32_t kPc = 32;
inline constexpr std::uint32_t kRegisterCount = 33;

inline constexpr std::uint32_t kStackPointer = kSp;
inline constexpr std::uint32_t kFramePointer = kX29;
// Calls leave the return address in the link register.
inline constexpr std::uint32_t kReturnAddress = kX30;
inline constexpr std::uint32_t kProgramCounter = kPc;

// Whether a called function must preserve the register. The link register is the function's own
// return address: an interrupted function that calls none may have it there still.
constexpr bool IsPreservedByCalls(std::uint32_t number) { return number >= kX19 && number <= kX29; }

}  // namespace leakgate::agent
