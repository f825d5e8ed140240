#include <asm/hwcap.h>
#include <sys/auxv.h>

#include <cstddef>

#include "plugin/agent/arch/registers.h"

namespace leakgate::agent {

static_assert(offsetof(RegisterFile, value) == 0 && offsetof(RegisterFile, known) == 264);

std::optional<std::uint64_t> CommonRegister(std::uint64_t number) {
  constexpr std::uint64_t kVg = 46;  // the number of 64-bit words in an SVE vector
  if (number != kVg || (::getauxval(AT_HWCAP) & HWCAP_SVE) == 0) return std::nullopt;
  std::uint64_t words = 0;
  asm volatile(".inst 0x04e0e3e0; mov %0, x0" : "=r"(words) : : "x0");  // cntd x0
  return words;
}

// The result is written to the address in x8. The first frame is the caller's, which continues at
// x30: a frame of this function would be overwritten before it is unwound.
asm(R"(
  .text
  .p2align 4
  .globl _ZN8leakgate5agent16CaptureRegistersEv
  .hidden _ZN8leakgate5agent16CaptureRegistersEv
  .type _ZN8leakgate5agent16CaptureRegistersEv, %function
_ZN8leakgate5agent16CaptureRegistersEv:
  .cfi_startproc
  stp x19, x20, [x8, #19 * 8]
  stp x21, x22, [x8, #21 * 8]
  stp x23, x24, [x8, #23 * 8]
  stp x25, x26, [x8, #25 * 8]
  stp x27, x28, [x8, #27 * 8]
  str x29, [x8, #29 * 8]
  mov x9, sp
  stp x9, x30, [x8, #31 * 8]
  mov x9, #0x3ff80000 // x19 to x29
  movk x9, #1, lsl #32 // the pc
  orr x9, x9, #0x80000000 // sp
  str x9, [x8, #33 * 8]
  ret
  .cfi_endproc
  .size _ZN8leakgate5agent16CaptureRegistersEv, . - _ZN8leakgate5agent16CaptureRegistersEv
)");

}  // namespace leakgate::agent
