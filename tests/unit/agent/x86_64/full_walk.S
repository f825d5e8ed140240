# Functions whose call frame information the compact rules cannot express, as
# hand-written assembly has it. Each: void NAME(void (*function)(void*), void* argument)

        .text

# Its CFA hangs on rbx, a register that the compact rules do not follow.
        .globl  WalkFromPreservedRegisterFrame
        .type   WalkFromPreservedRegisterFrame, @function
WalkFromPreservedRegisterFrame:
        .cfi_startproc
        pushq   %rbx
        .cfi_def_cfa_offset 16
        .cfi_offset %rbx, -16
        leaq    16(%rsp), %rbx
        .cfi_def_cfa %rbx, 0
        subq    $64, %rsp
        andq    $-64, %rsp
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        leaq    -16(%rbx), %rsp
        .cfi_def_cfa %rsp, 16
        popq    %rbx
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .size   WalkFromPreservedRegisterFrame, .-WalkFromPreservedRegisterFrame

# Its CFA is an expression that is no plain load: *(rsp + 8) + 0.
        .globl  WalkFromExpressionFrame
        .type   WalkFromExpressionFrame, @function
WalkFromExpressionFrame:
        .cfi_startproc
        leaq    8(%rsp), %rax
        subq    $24, %rsp
        .cfi_def_cfa_offset 32
        movq    %rax, 8(%rsp)
        # DW_CFA_def_cfa_expression, 6 bytes: breg7 8; deref; lit0; plus; nop
        .cfi_escape 0x0f, 0x06, 0x77, 0x08, 0x06, 0x30, 0x22, 0x96
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        addq    $24, %rsp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   WalkFromExpressionFrame, .-WalkFromExpressionFrame

# Says nothing of its frame.
        .globl  WalkFromNoInfoFrame
        .type   WalkFromNoInfoFrame, @function
WalkFromNoInfoFrame:
        subq    $8, %rsp
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        addq    $8, %rsp
        ret
        .size   WalkFromNoInfoFrame, .-WalkFromNoInfoFrame

# Where processors can, such a function signs its return address. Here it is as any other.
        .globl  WalkFromSignedFrame
        .type   WalkFromSignedFrame, @function
WalkFromSignedFrame:
        .cfi_startproc
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   WalkFromSignedFrame, .-WalkFromSignedFrame

        .section .note.GNU-stack, "", @progbits
