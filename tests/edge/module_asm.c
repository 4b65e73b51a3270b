// Module-level assembly: defines a function and data, refers to C symbols, an alias label, sections.
#include <stdio.h>

int base = 40;
int from_c(int x)
{
    return x + base;
}
int from_asm(int x);
int other_name(int x);
extern const char asm_text[];
extern int asm_counter;

__asm__(".pushsection .text\n"
        ".globl from_asm\n"
        ".type from_asm, @function\n"
        "from_asm:\n"
        "other_name:\n"
        "  .cfi_startproc\n"
        "  pushq %rbx\n"
        "  .cfi_adjust_cfa_offset 8\n"
        "  movl %edi, %ebx\n"
        "  call from_c@PLT\n"
        "  addl %ebx, %eax\n"
        "  popq %rbx\n"
        "  .cfi_adjust_cfa_offset -8\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size from_asm, .-from_asm\n"
        ".globl other_name\n"
        ".popsection\n");
__asm__(".section .rodata.mine,\"a\",@progbits\n"
        ".globl asm_text\n"
        "asm_text: .asciz \"text in assembly\"\n"
        ".data\n"
        ".globl asm_counter\n"
        ".p2align 2\n"
        "asm_counter: .long 17\n"
        ".text\n");

int main(void)
{
    asm_counter++;
    printf("%d %d %s %d\n", from_asm(1), other_name(2), asm_text, asm_counter);
    return 0;
}
