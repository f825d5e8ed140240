# void CallStepByStep(void (*function)(void*), void* argument)
#
# Sets the processor's trap flag for the call: SIGTRAP after each instruction.

        .text
        .globl  CallStepByStep
        .type   CallStepByStep, @function
CallStepByStep:
        .cfi_startproc
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rdi, %rax
        movq    %rsi, %rdi
        pushfq
        .cfi_adjust_cfa_offset 8
        orq     $0x100, (%rsp)
        popfq
        .cfi_adjust_cfa_offset -8
        call    *%rax
        pushfq
        .cfi_adjust_cfa_offset 8
        andq    $~0x100, (%rsp)
        popfq
        .cfi_adjust_cfa_offset -8
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   CallStepByStep, .-CallStepByStep

        .section .note.GNU-stack, "", @progbits
