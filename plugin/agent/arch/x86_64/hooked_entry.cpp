#include "plugin/agent/arch/x86_64/hooked_entry.h"

asm(R"(
  .text
  .p2align 4
  .globl leakgate_enter_agent
  .hidden leakgate_enter_agent
  .type leakgate_enter_agent, @function
leakgate_enter_agent:
  .cfi_startproc
  .cfi_def_cfa_offset 16
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 24
  .cfi_offset %rbp, -24
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $320, %rsp
  andq $-16, %rsp
  movq %rcx, 256(%rsp)
  movq %rdx, 264(%rsp)
  movq %rsi, 272(%rsp)
  movq %rdi, 280(%rsp)
  movq %r8, 288(%rsp)
  movq %r9, 296(%rsp)
  movq %r10, 304(%rsp)
  movq %r11, 312(%rsp)
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movaps %xmm\n, (16*\n)(%rsp)
  .endr
  callq *8(%rbp)
  .globl leakgate_entered
  .hidden leakgate_entered
leakgate_entered:
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movaps (16*\n)(%rsp), %xmm\n
  .endr
  movq 256(%rsp), %rcx
  movq 264(%rsp), %rdx
  movq 272(%rsp), %rsi
  movq 280(%rsp), %rdi
  movq 288(%rsp), %r8
  movq 296(%rsp), %r9
  movq 304(%rsp), %r10
  movq 312(%rsp), %r11
  leaveq
  .cfi_def_cfa %rsp, 16
  leaq 8(%rsp), %rsp
  .cfi_def_cfa_offset 8
  retq
  .cfi_endproc
  .size leakgate_enter_agent, . - leakgate_enter_agent
)");
