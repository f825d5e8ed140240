#include "plugin/agent/arch/registers.h"

namespace leakgate::agent {

__attribute__((noinline)) RegisterFile CaptureRegisters() {
  std::uint64_t value[13];  // x19 to x30, sp
  std::uint64_t pc = 0;
  asm volatile(
      "adr %0, .\n\t"
      "stp x19, x20, [%1, 0]\n\t"
      "stp x21, x22, [%1, 16]\n\t"
      "stp x23, x24, [%1, 32]\n\t"
      "stp x25, x26, [%1, 48]\n\t"
      "stp x27, x28, [%1, 64]\n\t"
      "stp x29, x30, [%1, 80]\n\t"
      "mov x9, sp\n\t"
      "str x9, [%1, 96]\n\t"
      : "=&r"(pc)
      : "r"(value)
      : "x9", "memory");
  RegisterFile registers;
  for (std::uint32_t i = 0; i < 13; ++i) registers.Set(kX19 + i, value[i]);
  registers.Set(kProgramCounter, pc);
  return registers;
}

}  // namespace leakgate::agent
