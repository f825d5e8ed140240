// How a walk tells the frame of a signal's handler, where no frame description does: the vDSO's
// has no index (.eh_frame_hdr). The handler returns to code that is known, at which the kernel's
// record of the interrupted thread begins at the stack pointer. libgcc's unwinder does the same.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// mov x8, #__NR_rt_sigreturn; svc #0
inline constexpr std::uint64_t kSignalReturnCode = 0xD400'0001'D280'1168;

// Where the interrupted registers are, from the stack pointer, by DWARF's numbers: behind the
// siginfo and up to the registers of the sigcontext (arch/arm64/include/uapi/asm/sigcontext.h).
inline constexpr std::uint64_t kInterruptedRegistersAt = 128 + 176 + 8;

// The address of the code that `lookup_pc` is of, or one byte short of.
constexpr std::uint64_t InstructionOf(std::uint64_t lookup_pc) {
  return (lookup_pc + 3) & ~std::uint64_t{3};
}

}  // namespace leakgate::agent
