#include "plugin/agent/arch/call_on_stack.h"

// rbp locates the frame. Calls preserve rbp, so the frame can be left from the other stack, too.
asm(R"(
  .text
  .p2align 4
  .globl leakgate_call_on_stack
  .hidden leakgate_call_on_stack
  .type leakgate_call_on_stack, @function
leakgate_call_on_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rsp
  movq %rdx, %rdi
  callq *%rsi
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size leakgate_call_on_stack, . - leakgate_call_on_stack
)");
