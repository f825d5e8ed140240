// The bytes of html_template.html: a string literal may not be as long.
#if defined(__ELF__)
    .section .rodata
#else
    .section .rdata, "dr"
#endif
    .globl leakgate_html_template_begin
    .globl leakgate_html_template_end
    .balign 16
leakgate_html_template_begin:
    .incbin LEAKGATE_HTML_TEMPLATE
leakgate_html_template_end:
    .byte 0
#if defined(__ELF__)
    .section .note.GNU-stack, "", %progbits
#endif
