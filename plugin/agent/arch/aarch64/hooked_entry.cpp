#include "plugin/agent/arch/aarch64/hooked_entry.h"

asm(R"(
  .text
  .p2align 4
  .globl leakgate_enter_agent
  .hidden leakgate_enter_agent
  .type leakgate_enter_agent, %function
leakgate_enter_agent:
  .cfi_startproc
  hint #34  // bti c
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  sub sp, sp, #512
  stp x1, x2, [sp]
  stp x3, x4, [sp, #16]
  stp x5, x6, [sp, #32]
  stp x7, x8, [sp, #48]
  stp x9, x10, [sp, #64]
  stp x11, x12, [sp, #80]
  stp x13, x14, [sp, #96]
  stp x15, x18, [sp, #112]
  stp q0, q1, [sp, #128]
  stp q2, q3, [sp, #160]
  stp q4, q5, [sp, #192]
  stp q6, q7, [sp, #224]
  stp q16, q17, [sp, #256]
  stp q18, q19, [sp, #288]
  stp q20, q21, [sp, #320]
  stp q22, q23, [sp, #352]
  stp q24, q25, [sp, #384]
  stp q26, q27, [sp, #416]
  stp q28, q29, [sp, #448]
  stp q30, q31, [sp, #480]
  blr x16
  .globl leakgate_entered
  .hidden leakgate_entered
leakgate_entered:
  ldp x1, x2, [sp]
  ldp x3, x4, [sp, #16]
  ldp x5, x6, [sp, #32]
  ldp x7, x8, [sp, #48]
  ldp x9, x10, [sp, #64]
  ldp x11, x12, [sp, #80]
  ldp x13, x14, [sp, #96]
  ldp x15, x18, [sp, #112]
  ldp q0, q1, [sp, #128]
  ldp q2, q3, [sp, #160]
  ldp q4, q5, [sp, #192]
  ldp q6, q7, [sp, #224]
  ldp q16, q17, [sp, #256]
  ldp q18, q19, [sp, #288]
  ldp q20, q21, [sp, #320]
  ldp q22, q23, [sp, #352]
  ldp q24, q25, [sp, #384]
  ldp q26, q27, [sp, #416]
  ldp q28, q29, [sp, #448]
  ldp q30, q31, [sp, #480]
  mov sp, x29
  .cfi_def_cfa_register sp
  ldp x29, x30, [sp], #16
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size leakgate_enter_agent, . - leakgate_enter_agent
)");
