#include "plugin/agent/arch/call_on_stack.h"

// x29 locates the frame. Calls preserve x29, so the frame can be left from the other stack, too.
asm(R"(
  .text
  .p2align 4
  .globl leakgate_call_on_stack
  .hidden leakgate_call_on_stack
  .type leakgate_call_on_stack, %function
leakgate_call_on_stack:
  .cfi_startproc
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa x29, 16
  mov sp, x0
  mov x0, x2
  blr x1
  mov sp, x29
  .cfi_def_cfa sp, 16
  ldp x29, x30, [sp], #16
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  ret
  .cfi_endproc
  .size leakgate_call_on_stack, . - leakgate_call_on_stack
)");
