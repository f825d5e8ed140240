#include "plugin/agent/arch/aarch64/named_entry.h"

// From the stack pointer up: 32 words of arguments, x0 to x18 but for x16 and x17, the place, what
// was said as the call began, and the vector registers.
asm(R"(
  .text
  .p2align 4
  .globl leakgate_call_named
  .hidden leakgate_call_named
  .type leakgate_call_named, %function
leakgate_call_named:
  .cfi_startproc
  .cfi_personality 0x1b, leakgate_leave_named
  hint #34  // bti c
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  .cfi_def_cfa_register x29
  sub sp, sp, #800
  add x17, sp, #256
  stp x0, x1, [x17]
  stp x2, x3, [x17, #16]
  stp x4, x5, [x17, #32]
  stp x6, x7, [x17, #48]
  stp x8, x9, [x17, #64]
  stp x10, x11, [x17, #80]
  stp x12, x13, [x17, #96]
  stp x14, x15, [x17, #112]
  stp x18, x16, [x17, #128]
  add x17, sp, #416
  stp q0, q1, [x17]
  stp q2, q3, [x17, #32]
  stp q4, q5, [x17, #64]
  stp q6, q7, [x17, #96]
  stp q16, q17, [x17, #128]
  stp q18, q19, [x17, #160]
  stp q20, q21, [x17, #192]
  stp q22, q23, [x17, #224]
  stp q24, q25, [x17, #256]
  stp q26, q27, [x17, #288]
  stp q28, q29, [x17, #320]
  stp q30, q31, [x17, #352]
  mov x0, x16
  add x1, sp, #256
  mov x2, x29
  ldr x17, [x0, #8]
  blr x17
  str x0, [sp, #400]
  add x1, x29, #16
  mov x2, sp
  mov x3, #16
1:
  ldp x4, x5, [x1], #16
  stp x4, x5, [x2], #16
  subs x3, x3, #1
  b.ne 1b
  add x17, sp, #416
  ldp q0, q1, [x17]
  ldp q2, q3, [x17, #32]
  ldp q4, q5, [x17, #64]
  ldp q6, q7, [x17, #96]
  add x17, sp, #256
  ldp x0, x1, [x17]
  ldp x2, x3, [x17, #16]
  ldp x4, x5, [x17, #32]
  ldp x6, x7, [x17, #48]
  ldp x8, x9, [x17, #64]
  ldp x10, x11, [x17, #80]
  ldp x12, x13, [x17, #96]
  ldp x14, x15, [x17, #112]
  ldp x18, x16, [x17, #128]
  ldr x16, [x16]
  blr x16
  ldr x16, [sp, #400]
  cbz x16, 2f
  stp x0, x1, [sp]
  str q0, [sp, #16]
  mov x3, x0
  ldr x0, [sp, #392]
  add x1, sp, #256
  mov x2, x29
  ldr x17, [x0, #16]
  blr x17
  ldp x0, x1, [sp]
  ldr q0, [sp, #16]
2:
  add x17, sp, #416
  ldr q1, [x17, #16]
  ldp q2, q3, [x17, #32]
  ldp q4, q5, [x17, #64]
  ldp q6, q7, [x17, #96]
  ldp q16, q17, [x17, #128]
  ldp q18, q19, [x17, #160]
  ldp q20, q21, [x17, #192]
  ldp q22, q23, [x17, #224]
  ldp q24, q25, [x17, #256]
  ldp q26, q27, [x17, #288]
  ldp q28, q29, [x17, #320]
  ldp q30, q31, [x17, #352]
  add x17, sp, #256
  ldp x2, x3, [x17, #16]
  ldp x4, x5, [x17, #32]
  ldp x6, x7, [x17, #48]
  ldp x8, x9, [x17, #64]
  ldp x10, x11, [x17, #80]
  ldp x12, x13, [x17, #96]
  ldp x14, x15, [x17, #112]
  ldr x18, [x17, #128]
  mov sp, x29
  .cfi_def_cfa_register sp
  ldp x29, x30, [sp], #16
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
  .size leakgate_call_named, . - leakgate_call_named
)");
