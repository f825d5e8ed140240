// How a walk recognises the frame of a signal handler, which no frame description shows: the vDSO
// has no index (.eh_frame_hdr). The handler returns to known code, at which the kernel's record of
// the interrupted thread begins at the stack pointer. libgcc's unwinder does the same.
#pragma once

#include <cstdint>

namespace leakgate::agent {

// mov x8, #__NR_rt_sigreturn; svc #0
inline constexpr std::uint64_t kSignalReturnCode = 0xD400'0001'D280'1168;

// Where the interrupted registers are, from the stack pointer, by DWARF's numbers: behind the
// siginfo and up to the registers of the sigcontext (arch/arm64/include/uapi/asm/sigcontext.h).
inline constexpr std::uint64_t kInterruptedRegistersAt = 128 + 176 + 8;

// The address of the code to which `lookup_pc` belongs, or which begins one byte after it.
constexpr std::uint64_t InstructionOf(std::uint64_t lookup_pc) {
  return (lookup_pc + 3) & ~std::uint64_t{3};
}

}  // namespace leakgate::agent
