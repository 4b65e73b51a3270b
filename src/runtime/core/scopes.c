#include "runtime/core/public_hooks.h"

#include "runtime/core/scopes.h"

#include "runtime/core/thread_state.h"
#include "runtime/sync/sync.h"

/* Called through __dh_scope_enter_slow, too. */
uint32_t dh_scope_enter(const void *object, uint32_t place)
{
    struct dh_thread_state *t = &__dh_thread;
    uint32_t token = t->scopes++;
    dh_scope_entered(token, object, place);
    return token;
}

void dh_scope_leave(uint32_t token)
{
    struct dh_thread_state *t = &__dh_thread;
    uint32_t open = t->scopes;
    if (token >= open)
        return;
    t->scopes = token;
    dh_scope_left(token, open);
}

uint32_t __dh_scope_enter(const void *object, uint32_t place)
{
    return dh_scope_enter(object, place);
}

void __dh_scope_leave(uint32_t token)
{
    dh_scope_leave(token);
}

/* For the inline parts, which leave most registers to the callee to keep (preserve_most): all but r11, and rax where it
 * carries the result. `more` and `less` keep the stack aligned. */
#define KEEPING(name, function, more, less)                                                                            \
    __asm__(".text\n"                                                                                                  \
            ".globl " name "\n"                                                                                        \
            ".hidden " name "\n"                                                                                       \
            ".type " name ", @function\n" name ":\n"                                                                   \
            ".cfi_startproc\n" more "push %rcx\n.cfi_adjust_cfa_offset 8\n"                                            \
            "push %rdx\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %rsi\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %rdi\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "push %r8\n.cfi_adjust_cfa_offset 8\n"                                                                     \
            "push %r9\n.cfi_adjust_cfa_offset 8\n"                                                                     \
            "push %r10\n.cfi_adjust_cfa_offset 8\n"                                                                    \
            "call " function "\n"                                                                                      \
            "pop %r10\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %r9\n.cfi_adjust_cfa_offset -8\n"                                                                     \
            "pop %r8\n.cfi_adjust_cfa_offset -8\n"                                                                     \
            "pop %rdi\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %rdx\n.cfi_adjust_cfa_offset -8\n"                                                                    \
            "pop %rcx\n.cfi_adjust_cfa_offset -8\n" less "ret\n"                                                       \
            ".cfi_endproc\n"                                                                                           \
            ".size " name ", .-" name "\n")
KEEPING("__dh_scope_enter_slow", "dh_scope_enter", "", "");
KEEPING("__dh_scope_leave_slow", "dh_scope_leave",
        "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\npush %rax\n.cfi_adjust_cfa_offset 8\n",
        "pop %rax\n.cfi_adjust_cfa_offset -8\nadd $8, %rsp\n.cfi_adjust_cfa_offset -8\n");
