/* Livelock detection. Layer: runtime. A task that only reads and comes back to an earlier state (callee-saved registers
 * and stack) does so for ever unless another task writes. A loop that counts never does, and may end. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_LIVELOCK_H
#define DH_RUNTIME_ENGINE_CHECKS_LIVELOCK_H

#include "runtime/engine/engine.h"

/* From now on states of parking tasks are compared. */
void dh_livelock_watch(struct dh_engine *e);
void dh_livelock_stop(void);
bool dh_livelock_is_watching(void);
/* By the task itself, when it parks. */
void dh_livelock_check_task(struct dh_task *t);
/* All enabled tasks came back to an earlier state. */
bool dh_livelock_of_all(const struct dh_engine *e);

/* Defines `name`, which saves registers and stack pointer for dh_livelock_check_task and jumps to `function`. */
#define DH_LIVELOCK_ENTRY(name, visibility, function)                                                                  \
    __asm__(".text\n"                                                                                                  \
            ".globl " name "\n" visibility ".type " name ", @function\n"                                               \
            "" name ":\n"                                                                                              \
            ".cfi_startproc\n"                                                                                         \
            "cmpb $0, dh_livelock_watches(%rip)\n"                                                                     \
            "je " function "\n"                                                                                        \
            "mov %rbx, dh_livelock_entry(%rip)\n"                                                                      \
            "mov %rbp, dh_livelock_entry+8(%rip)\n"                                                                    \
            "mov %r12, dh_livelock_entry+16(%rip)\n"                                                                   \
            "mov %r13, dh_livelock_entry+24(%rip)\n"                                                                   \
            "mov %r14, dh_livelock_entry+32(%rip)\n"                                                                   \
            "mov %r15, dh_livelock_entry+40(%rip)\n"                                                                   \
            "mov %rsp, dh_livelock_entry+48(%rip)\n"                                                                   \
            "jmp " function "\n"                                                                                       \
            ".cfi_endproc\n"                                                                                           \
            ".size " name ", .-" name "\n")

#endif
