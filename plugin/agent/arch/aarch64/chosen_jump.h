// LEAKGATE_CHOSEN_JUMP(function, choose) as in the folder of x86-64: arguments are in x0 to x7, and
// the chosen function is entered with them and with the return address in x30.
//
//   extern "C" LEAKGATE_INTERNAL void* choose(a, b, c, d, e, f, caller);
#pragma once

#define LEAKGATE_CHOSEN_JUMP(function, choose)       \
  asm("  .text\n"                                    \
      "  .p2align 4\n"                               \
      "  .globl " #function                          \
      "\n"                                           \
      "  .type " #function ", %function\n" #function \
      ":\n"                                          \
      "  .cfi_startproc\n"                           \
      "  hint #34\n" /* bti c */                     \
      "  stp x29, x30, [sp, #-80]!\n"                \
      "  .cfi_def_cfa_offset 80\n"                   \
      "  .cfi_offset x29, -80\n"                     \
      "  .cfi_offset x30, -72\n"                     \
      "  mov x29, sp\n"                              \
      "  stp x0, x1, [sp, #16]\n"                    \
      "  stp x2, x3, [sp, #32]\n"                    \
      "  stp x4, x5, [sp, #48]\n"                    \
      "  stp x6, x7, [sp, #64]\n"                    \
      "  mov x6, x30\n"                              \
      "  bl " #choose                                \
      "\n"                                           \
      "  mov x16, x0\n"                              \
      "  ldp x6, x7, [sp, #64]\n"                    \
      "  ldp x4, x5, [sp, #48]\n"                    \
      "  ldp x2, x3, [sp, #32]\n"                    \
      "  ldp x0, x1, [sp, #16]\n"                    \
      "  ldp x29, x30, [sp], #80\n"                  \
      "  .cfi_def_cfa_offset 0\n"                    \
      "  .cfi_restore x29\n"                         \
      "  .cfi_restore x30\n"                         \
      "  br x16\n"                                   \
      "  .cfi_endproc\n"                             \
      "  .size " #function ", . - " #function "\n")
