#include "plugin/agent/arch/x86_64/named_entry.h"

// From the stack pointer up: 32 words of arguments, 16 vector registers, 10 other registers, the
// vector registers of the result.
asm(R"(
  .text
  .p2align 4
  .globl leakgate_call_named
  .hidden leakgate_call_named
  .type leakgate_call_named, @function
leakgate_call_named:
  .cfi_startproc
  .cfi_personality 0x1b, leakgate_leave_named
  .cfi_def_cfa_offset 16
  endbr64
  pushq %rbp
  .cfi_def_cfa_offset 24
  .cfi_offset %rbp, -24
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  subq $640, %rsp
  andq $-16, %rsp
  movq %rcx, 512(%rsp)
  movq %rdx, 520(%rsp)
  movq %rsi, 528(%rsp)
  movq %rdi, 536(%rsp)
  movq %r8, 544(%rsp)
  movq %r9, 552(%rsp)
  movq %r10, 560(%rsp)
  movq %r11, 568(%rsp)
  movq %rax, 576(%rsp)
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movaps %xmm\n, (256+16*\n)(%rsp)
  .endr
  movq 8(%rbp), %rdi
  leaq 512(%rsp), %rsi
  movq %rbp, %rdx
  callq *8(%rdi)
  movq %rax, 584(%rsp)
  leaq 24(%rbp), %rsi
  movq %rsp, %rdi
  movl $32, %ecx
  cld
  rep movsq
  .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movaps (256+16*\n)(%rsp), %xmm\n
  .endr
  movq 512(%rsp), %rcx
  movq 520(%rsp), %rdx
  movq 528(%rsp), %rsi
  movq 536(%rsp), %rdi
  movq 544(%rsp), %r8
  movq 552(%rsp), %r9
  movq 560(%rsp), %r10
  movq 576(%rsp), %rax
  movq 8(%rbp), %r11
  callq *(%r11)
  cmpq $0, 584(%rsp)
  je 1f
  movq %rax, 576(%rsp)
  movq %rdx, 592(%rsp)
  movaps %xmm0, 608(%rsp)
  movaps %xmm1, 624(%rsp)
  movq 8(%rbp), %rdi
  leaq 512(%rsp), %rsi
  movq %rbp, %rdx
  movq %rax, %rcx
  callq *16(%rdi)
  movq 576(%rsp), %rax
  movq 592(%rsp), %rdx
  movaps 608(%rsp), %xmm0
  movaps 624(%rsp), %xmm1
1:
  .irp n, 2,3,4,5,6,7,8,9,10,11,12,13,14,15
  movaps (256+16*\n)(%rsp), %xmm\n
  .endr
  movq 512(%rsp), %rcx
  movq 528(%rsp), %rsi
  movq 536(%rsp), %rdi
  movq 544(%rsp), %r8
  movq 552(%rsp), %r9
  movq 560(%rsp), %r10
  movq 568(%rsp), %r11
  leaveq
  .cfi_def_cfa %rsp, 16
  leaq 8(%rsp), %rsp
  .cfi_def_cfa_offset 8
  retq
  .cfi_endproc
  .size leakgate_call_named, . - leakgate_call_named
)");
