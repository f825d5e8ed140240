// LEAKGATE_CHOSEN_JUMP(function, choose) defines `function` for the program, by its name in the
// object file, and jumps to what `choose` returns, as if the caller had called that: with the same
// arguments, including those on the stack, and the same return address. It is for functions that
// check who calls them, or must not return to another frame.
//
//   extern "C" LEAKGATE_INTERNAL void* choose(a, b, c, d, e, f, caller);
//
// `choose` gets the first six arguments, whatever they are, and the address to which the call
// returns.
#pragma once

#define LEAKGATE_CHOSEN_JUMP(function, choose)       \
  asm("  .text\n"                                    \
      "  .p2align 4\n"                               \
      "  .globl " #function                          \
      "\n"                                           \
      "  .type " #function ", @function\n" #function \
      ":\n"                                          \
      "  .cfi_startproc\n"                           \
      "  endbr64\n"                                  \
      "  pushq %rdi\n"                               \
      "  .cfi_adjust_cfa_offset 8\n"                 \
      "  pushq %rsi\n"                               \
      "  .cfi_adjust_cfa_offset 8\n"                 \
      "  pushq %rdx\n"                               \
      "  .cfi_adjust_cfa_offset 8\n"                 \
      "  pushq %rcx\n"                               \
      "  .cfi_adjust_cfa_offset 8\n"                 \
      "  pushq %r8\n"                                \
      "  .cfi_adjust_cfa_offset 8\n"                 \
      "  pushq %r9\n"                                \
      "  .cfi_adjust_cfa_offset 8\n"                 \
      "  pushq 48(%rsp)\n"                           \
      "  .cfi_adjust_cfa_offset 8\n"                 \
      "  callq " #choose                             \
      "\n"                                           \
      "  addq $8, %rsp\n"                            \
      "  .cfi_adjust_cfa_offset -8\n"                \
      "  popq %r9\n"                                 \
      "  .cfi_adjust_cfa_offset -8\n"                \
      "  popq %r8\n"                                 \
      "  .cfi_adjust_cfa_offset -8\n"                \
      "  popq %rcx\n"                                \
      "  .cfi_adjust_cfa_offset -8\n"                \
      "  popq %rdx\n"                                \
      "  .cfi_adjust_cfa_offset -8\n"                \
      "  popq %rsi\n"                                \
      "  .cfi_adjust_cfa_offset -8\n"                \
      "  popq %rdi\n"                                \
      "  .cfi_adjust_cfa_offset -8\n"                \
      "  jmpq *%rax\n"                               \
      "  .cfi_endproc\n"                             \
      "  .size " #function ", . - " #function "\n")
