        .text
        .globl  twice_of_c
        .type   twice_of_c, @function
twice_of_c:
        pushq   %rbx
        movl    %edi, %ebx
        call    from_c@PLT
        movl    %ebx, %edi
        movl    %eax, %ebx
        call    from_c@PLT
        addl    %ebx, %eax
        popq    %rbx
        ret
        .size   twice_of_c, .-twice_of_c
        .section .note.GNU-stack,"",@progbits
