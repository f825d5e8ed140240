// Functions whose call frame information the compact rules cannot express, as
// hand-written assembly has it. Each: void NAME(void (*function)(void*), void* argument)

        .text

// Its CFA hangs on x19, a register that the compact rules do not follow.
        .globl  WalkFromPreservedRegisterFrame
        .type   WalkFromPreservedRegisterFrame, %function
WalkFromPreservedRegisterFrame:
        .cfi_startproc
        stp     x19, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x19, -16
        .cfi_offset x30, -8
        add     x19, sp, #16
        .cfi_def_cfa x19, 0
        sub     x9, sp, #64
        and     sp, x9, #0xffffffffffffffc0
        mov     x2, x0
        mov     x0, x1
        blr     x2
        sub     sp, x19, #16
        .cfi_def_cfa sp, 16
        ldp     x19, x30, [sp], #16
        .cfi_def_cfa_offset 0
        .cfi_restore x19
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   WalkFromPreservedRegisterFrame, .-WalkFromPreservedRegisterFrame

// Its CFA is an expression that is no plain load: *(sp + 8) + 0.
        .globl  WalkFromExpressionFrame
        .type   WalkFromExpressionFrame, %function
WalkFromExpressionFrame:
        .cfi_startproc
        mov     x9, sp
        sub     sp, sp, #32
        .cfi_def_cfa_offset 32
        str     x30, [sp, #24]
        .cfi_offset x30, -8
        str     x9, [sp, #8]
        // DW_CFA_def_cfa_expression, 6 bytes: breg31 8; deref; lit0; plus; nop
        .cfi_escape 0x0f, 0x06, 0x8f, 0x08, 0x06, 0x30, 0x22, 0x96
        mov     x2, x0
        mov     x0, x1
        blr     x2
        ldr     x30, [sp, #24]
        add     sp, sp, #32
        .cfi_def_cfa sp, 0
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   WalkFromExpressionFrame, .-WalkFromExpressionFrame

// Keeps two vectors of SVE's, whose length only the machine knows; its CFA is what compilers write of such frames.
        .arch_extension sve
        .globl  WalkFromScalableFrame
        .type   WalkFromScalableFrame, %function
WalkFromScalableFrame:
        .cfi_startproc
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        addvl   sp, sp, #-2
        // DW_CFA_def_cfa_expression, 8 bytes: breg31 16; lit16; bregx 46 (VG) 0; mul; plus
        .cfi_escape 0x0f, 0x08, 0x8f, 0x10, 0x40, 0x92, 0x2e, 0x00, 0x1e, 0x22
        mov     x2, x0
        mov     x0, x1
        blr     x2
        addvl   sp, sp, #2
        .cfi_def_cfa sp, 16
        ldp     x29, x30, [sp], #16
        .cfi_def_cfa_offset 0
        .cfi_restore x29
        .cfi_restore x30
        ret
        .cfi_endproc
        .size   WalkFromScalableFrame, .-WalkFromScalableFrame

// void StopWithoutAFrame(void): calls nothing, and has nothing on the stack.
        .globl  StopWithoutAFrame
        .type   StopWithoutAFrame, %function
StopWithoutAFrame:
        .cfi_startproc
        brk     #0
        ret
        .cfi_endproc
        .size   StopWithoutAFrame, .-StopWithoutAFrame

// Says nothing of its frame.
        .globl  WalkFromNoInfoFrame
        .type   WalkFromNoInfoFrame, %function
WalkFromNoInfoFrame:
        str     x30, [sp, #-16]!
        mov     x2, x0
        mov     x0, x1
        blr     x2
        ldr     x30, [sp], #16
        ret
        .size   WalkFromNoInfoFrame, .-WalkFromNoInfoFrame

// Signs its return address, as compilers do with -mbranch-protection, and is no function that
// the compact rules cannot express.
        .globl  WalkFromSignedFrame
        .type   WalkFromSignedFrame, %function
WalkFromSignedFrame:
        .cfi_startproc
        hint    #25                     // paciasp
        .cfi_negate_ra_state
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x2, x0
        mov     x0, x1
        blr     x2
        ldp     x29, x30, [sp], #16
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        hint    #29                     // autiasp
        .cfi_negate_ra_state
        ret
        .cfi_endproc
        .size   WalkFromSignedFrame, .-WalkFromSignedFrame

        .section .note.GNU-stack, "", %progbits
