#include "plugin/agent/arch/registers.h"

namespace leakgate::agent {

std::optional<std::uint64_t> CommonRegister(std::uint64_t) { return std::nullopt; }

// The compiler has only so many registers to spare, so r15 is read by itself.
__attribute__((noinline)) RegisterFile CaptureRegisters() {
  std::uint64_t pc = 0;
  std::uint64_t value[6];
  asm volatile(
      "leaq 0(%%rip), %0\n\t"
      "movq %%rbx, 0(%1)\n\t"
      "movq %%rbp, 8(%1)\n\t"
      "movq %%rsp, 16(%1)\n\t"
      "movq %%r12, 24(%1)\n\t"
      "movq %%r13, 32(%1)\n\t"
      "movq %%r14, 40(%1)\n\t"
      : "=&r"(pc)
      : "r"(value)
      : "memory");
  std::uint64_t r15 = 0;
  asm volatile("movq %%r15, %0" : "=r"(r15));

  RegisterFile registers;
  registers.Set(kProgramCounter, pc);
  registers.Set(kRbx, value[0]);
  registers.Set(kRbp, value[1]);
  registers.Set(kRsp, value[2]);
  for (std::uint32_t i = 0; i < 3; ++i) registers.Set(kR12 + i, value[3 + i]);
  registers.Set(kR15, r15);
  return registers;
}

}  // namespace leakgate::agent
