#define NAME times_factor
        .text
        .globl  NAME
        .type   NAME, @function
NAME:
        imull   $FACTOR, %edi, %eax
        incl    asm_calls(%rip)
        ret
        .size   NAME, .-NAME
        .data
        .globl  asm_calls
        .type   asm_calls, @object
        .size   asm_calls, 4
        .p2align 2
asm_calls:
        .long   10
        .section .note.GNU-stack,"",@progbits
