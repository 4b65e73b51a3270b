/* Functions that leave every register as it was, around C functions that use no vector registers: for checks that are
 * inlined, so that they spill nothing. Layer: runtime. What is called may report, which saves the rest
 * (vector_state.h). */
#ifndef DH_RUNTIME_PLATFORM_KEEPS_REGISTERS_H
#define DH_RUNTIME_PLATFORM_KEEPS_REGISTERS_H

/* Defines the hidden function `name`, which calls `function` with its own arguments. */
#define DH_KEEPS_REGISTERS(name, function) DH_KEEPS_(name, function, "pop %rax")
/* The same, but what that answers is answered. */
#define DH_KEEPS_ALL_BUT_RESULT(name, function) DH_KEEPS_(name, function, "lea 8(%rsp), %rsp")
#define DH_KEEPS_(name, function, last)                                                                                \
    __asm__(".text\n"                                                                                                  \
            ".globl " name "\n"                                                                                        \
            ".hidden " name "\n"                                                                                       \
            ".type " name ", @function\n"                                                                              \
            "" name ":\n"                                                                                              \
            ".cfi_startproc\n"                                                                                         \
            "push %rax\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %rcx\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %rdx\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %rsi\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %rdi\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %r8\n.cfi_adjust_cfa_offset 8\n"                                                                     \
            "push %r9\n.cfi_adjust_cfa_offset 8\n"                                                                     \
            "push %r10\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %r11\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_offset %rbp, -88\n"                                             \
            "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                                                             \
            "and $-16, %rsp\n"                                                                                         \
            "call " function "\n"                                                                                      \
            "mov %rbp, %rsp\n.cfi_def_cfa_register %rsp\n"                                                             \
            "pop %rbp\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %r11\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %r10\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %r9\n.cfi_adjust_cfa_offset -8\n"                                                                     \
            "pop %r8\n.cfi_adjust_cfa_offset -8\n"                                                                     \
            "pop %rdi\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %rdx\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %rcx\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "" last "\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "ret\n"                                                                                                    \
            ".cfi_endproc\n"                                                                                           \
            ".size " name ", .-" name "\n")

#endif
