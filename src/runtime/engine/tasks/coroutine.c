#include "runtime/engine/tasks/coroutine.h"

#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/tasks/task.h"

#include <asm/prctl.h>
#include <sys/mman.h>

enum { ENGINE_STACK = 1 << 20 };

__asm__(".text\n"
        ".globl dh_engine_switch\n"
        ".hidden dh_engine_switch\n"
        ".type dh_engine_switch, @function\n"
        "dh_engine_switch:\n"
        "push %rbp\n"
        "push %rbx\n"
        "push %r12\n"
        "push %r13\n"
        "push %r14\n"
        "push %r15\n"
        "sub $8, %rsp\n"
        "stmxcsr (%rsp)\n"
        "fnstcw 4(%rsp)\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "ldmxcsr (%rsp)\n"
        "fldcw 4(%rsp)\n"
        "add $8, %rsp\n"
        "pop %r15\n"
        "pop %r14\n"
        "pop %r13\n"
        "pop %r12\n"
        "pop %rbx\n"
        "pop %rbp\n"
        "ret\n"
        ".size dh_engine_switch, .-dh_engine_switch\n"
        /* Unwinders must stop above a task's first frame. */
        ".globl dh_task_entry\n"
        ".hidden dh_task_entry\n"
        ".type dh_task_entry, @function\n"
        "dh_task_entry:\n"
        ".cfi_startproc\n"
        ".cfi_undefined rip\n"
        "mov %rbx, %rdi\n"
        "call dh_task_run\n"
        "ud2\n"
        ".cfi_endproc\n"
        ".size dh_task_entry, .-dh_task_entry\n");

extern void dh_task_entry(void);

/* As dh_engine_switch leaves it. */
struct saved {
    uint32_t mxcsr;
    uint16_t x87, unused;
    uint64_t r15, r14, r13, r12, rbx, rbp;
    uint64_t rip;
};

void dh_engine_set_thread_pointer(uintptr_t fs)
{
    if (dh_engine->current_fs == fs)
        return;
    dh_engine->current_fs = fs;
    if (dh_engine->use_arch_prctl)
        dh_kernel_call(SYS_arch_prctl, ARCH_SET_FS, (long)fs, 0, 0, 0, 0);
    else
        __asm__ volatile("wrfsbase %0" : : "r"(fs) : "memory");
}

static void resume(struct dh_task *t)
{
    struct dh_engine *e = dh_engine;
    e->current = t;
    dh_engine_set_thread_pointer(t->fs);
    dh_engine_switch(&e->sp, t->sp);
    e->current = NULL;
}

static void park(struct dh_task *t)
{
    if (dh_engine_undisturbed_continues(t))
        return;
    dh_engine_switch(&t->sp, dh_engine->sp);
}

static void leave(void)
{
    void *nowhere;
    dh_engine_switch(&nowhere, dh_engine->sp);
    __builtin_unreachable();
}

/* At its entry the stack is aligned as after a call. */
static bool create(struct dh_task *t)
{
    t->fs = dh_tls_of(t->index, t->tid);
    if (!t->fs || !dh_task_allocate_stack(t))
        return false;
    uintptr_t top = ((uintptr_t)t->stack + t->stack_size - 64) & ~(uintptr_t)15;
    struct saved *s = (struct saved *)(top - sizeof *s);
    *s = (struct saved){.mxcsr = 0x1f80, .x87 = 0x37f, .rbx = (uint64_t)(uintptr_t)t, .rip = (uint64_t)dh_task_entry};
    t->sp = s;
    return true;
}

const struct dh_engine_carrier_ops dh_coroutines = {
    .resume = resume,
    .park = park,
    .leave = leave,
    .create = create,
};

static void begin_loop(void)
{
    dh_engine_loop();
}

void dh_coroutines_begin(struct dh_task *main)
{
    char *stack = dh_keep_private(ENGINE_STACK);
    if (!stack)
        dh_engine_cannot("no memory");
    struct saved *s = (struct saved *)(stack + ENGINE_STACK - 64 - sizeof *s - 8);
    *s = (struct saved){.mxcsr = 0x1f80, .x87 = 0x37f, .rip = (uint64_t)begin_loop};
    dh_engine_switch(&main->sp, s);
}
