/* Sending and taking signals. Taking one is an alternative of the step at which a task is parked: the handler runs as
 * a call from there, on the task's stack or its alternate one, and then the task is parked at that step again. */
#include "runtime/engine/system/signals/signal.h"

#include "runtime/core/start.h"
#include "runtime/core/thread_state.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/time/timers.h"
#include "runtime/platform/bytes.h"

#include <ucontext.h>

enum { DELAY_MOST = 24, INDEX_MOST = 30, RED_ZONE = 128, ALIGN = 64, SIZE_OF_STATE = 464 + 4, REPEATS_MOST = 64 };

/* On the stack of the task, while a handler runs. */
struct dh_signal_frame {
    struct dh_signal_frame *outer;
    int fatal;    /* signal of a fault or of abort: the program does not go on, unless the handler returns or is left */
    int of_timer; /* signal that a timer sent, or 0 */
};

/* Calls handler(signal, info, context) on another stack. */
void dh_signal_call_on(uintptr_t top, void *handler, int signal, siginfo_t *info, void *context);
__asm__(".text\n"
        ".globl dh_signal_call_on\n.hidden dh_signal_call_on\n.type dh_signal_call_on, @function\n"
        "dh_signal_call_on:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "mov %rdi, %rsp\n"
        "mov %rsi, %rax\n"
        "mov %edx, %edi\n"
        "mov %rcx, %rsi\n"
        "mov %r8, %rdx\n"
        "call *%rax\n"
        "mov %rbp, %rsp\n"
        "pop %rbp\n"
        ".cfi_def_cfa %rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size dh_signal_call_on, .-dh_signal_call_on\n");

/* ---- which handlers run ---- */

static bool is_on_alternate(const struct dh_task *t, uintptr_t at)
{
    return at - t->alternate_stack < t->alternate_size;
}

/* A frame that the stack pointer is above of was left, by longjmp. */
static bool is_left(const struct dh_task *t, const struct dh_signal_frame *f, uintptr_t sp)
{
    bool there = is_on_alternate(t, (uintptr_t)f), here = is_on_alternate(t, sp);
    return there == here ? (uintptr_t)f < sp : there;
}

static void forget_left_frames(struct dh_task *t, uintptr_t sp)
{
    while (t->handlers && is_left(t, t->handlers, sp))
        t->handlers = t->handlers->outer;
}

void dh_engine_jumps_to(uintptr_t sp)
{
    forget_left_frames(dh_engine_self(), sp);
}

int dh_signals_fatal_handler(const struct dh_task *t)
{
    for (const struct dh_signal_frame *f = t->handlers; f; f = f->outer)
        if (f->fatal)
            return f->fatal;
    return 0;
}

int dh_signals_timer_handler(const struct dh_task *t)
{
    for (const struct dh_signal_frame *f = t->handlers; f; f = f->outer)
        if (f->of_timer)
            return f->of_timer;
    return 0;
}

/* ---- handlers ---- */

static uint64_t never_blocked(void)
{
    return dh_signal_bit(SIGKILL) | dh_signal_bit(SIGSTOP);
}

static void fill_context(ucontext_t *c, const struct dh_task *t, uint64_t mask)
{
    dh_bytes_zero(c, sizeof *c);
    c->uc_stack = (stack_t){.ss_sp = (void *)t->alternate_stack,
                            .ss_size = t->alternate_size,
                            .ss_flags = t->alternate_size ? 0 : SS_DISABLE};
    c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)__builtin_return_address(0);
    c->uc_mcontext.gregs[REG_RSP] = c->uc_mcontext.gregs[REG_RBP] = (greg_t)(uintptr_t)__builtin_frame_address(0);
    c->uc_mcontext.fpregs = &c->__fpregs_mem;
    dh_bytes_copy(&c->uc_sigmask, &mask, sizeof mask);
}

/* With the mask that the handler has; returns that of the return. */
static uint64_t set_mask(struct dh_task *t, int signal)
{
    struct dh_kernel_sigaction *a = dh_signals_action(signal);
    uint64_t after = t->has_mask_after ? t->mask_after : t->mask;
    t->has_mask_after = false;
    t->mask |= a->mask | (a->flags & SA_NODEFER ? 0 : dh_signal_bit(signal));
    t->mask &= ~never_blocked();
    if (a->flags & SA_RESETHAND)
        a->handler = (void *)SIG_DFL;
    return after;
}

static void call(struct dh_task *t, const struct dh_kernel_sigaction *a, siginfo_t *info, ucontext_t *context)
{
    bool switches =
        a->flags & SA_ONSTACK && t->alternate_size && !is_on_alternate(t, (uintptr_t)__builtin_frame_address(0));
    uintptr_t top = (t->alternate_stack + t->alternate_size) & ~(uintptr_t)15;
    if (switches)
        dh_signal_call_on(top, a->handler, info->si_signo, info, context);
    else
        ((void (*)(int, siginfo_t *, void *))a->handler)(info->si_signo, info, context);
}

static void run_handler(struct dh_task *t, siginfo_t *info)
{
    int signal = info->si_signo;
    struct dh_kernel_sigaction a = *dh_signals_action(signal);
    ucontext_t context;
    bool by_timer = info->si_code == SI_TIMER || (info->si_code == SI_KERNEL && signal != SIGABRT);
    struct dh_signal_frame frame = {t->handlers, signal == SIGABRT ? signal : 0, by_timer ? signal : 0};
    uint64_t after = set_mask(t, signal);
    fill_context(&context, t, after);
    t->handlers = &frame;
    call(t, &a, info, &context);
    t->handlers = frame.outer;
    if (by_timer)
        dh_timers_handler_returned(signal);
    dh_bytes_copy(&t->mask, &context.uc_sigmask, sizeof t->mask);
    t->mask &= ~never_blocked();
}

/* What the handler's own steps would overwrite of the step that the task is parked at. */
struct parked {
    struct dh_step step;
    dh_engine_alternatives *alternatives;
    uint64_t deadline, awaited;
    const void *waits_at, *announced[2];
    long io_args[4];
    bool woken, cancellable;
    uint8_t interrupts;
    uint32_t place;
    struct dh_description *io_on;
    bool (*io_outside)(const struct dh_task *);
};

static struct parked save(struct dh_task *t)
{
    struct parked p = {*dh_task_step(t),
                       dh_engine->alternatives[t->index],
                       t->deadline,
                       t->awaited,
                       t->waits_at,
                       {t->announced[0], t->announced[1]},
                       {t->io_args[0], t->io_args[1], t->io_args[2], t->io_args[3]},
                       t->woken,
                       t->cancellable,
                       t->interrupts,
                       __dh_thread.place,
                       t->io_on,
                       t->io_outside};
    t->awaited = 0;
    t->cancellable = false;
    t->interrupts = DH_GOES_ON;
    t->announced[0] = t->announced[1] = NULL;
    dh_engine->alternatives[t->index] = NULL;
    return p;
}

static void restore(struct dh_task *t, const struct parked *p)
{
    *dh_task_step(t) = p->step;
    dh_engine->alternatives[t->index] = p->alternatives;
    t->deadline = p->deadline;
    t->awaited = p->awaited;
    t->announced[0] = p->announced[0];
    t->announced[1] = p->announced[1];
    dh_bytes_copy(t->io_args, p->io_args, sizeof t->io_args);
    /* If the handler waited itself, who woke the task meanwhile is not known: a spurious wakeup. */
    t->woken = t->waits_at == p->waits_at ? t->woken : true;
    t->waits_at = p->waits_at;
    t->cancellable = p->cancellable;
    t->interrupts = p->interrupts;
    __dh_thread.place = p->place;
    t->io_on = p->io_on;
    t->io_outside = p->io_outside;
}

/* The handler comes after what the sender did. */
void dh_signals_order_after(int signal)
{
    struct dh_step s = {.kind = DH_STEP_DELIVER, .object = (uint64_t)signal};
    dh_hb_check_fence(&s);
}

/* Takes one of `set`; true: a handler ran, and `flags` are its action's. */
static bool take_one(struct dh_task *t, uint64_t set, unsigned long *flags)
{
    siginfo_t info;
    if (!dh_signals_dequeue(t, set, &info))
        return false;
    if (!dh_signals_is_handled(info.si_signo)) {
        dh_signals_act_by_default(info.si_signo);
        return false;
    }
    *flags = dh_signals_action(info.si_signo)->flags;
    struct parked p = save(t);
    dh_signals_order_after(info.si_signo);
    run_handler(t, &info);
    restore(t, &p);
    return true;
}

void dh_signals_deliver(struct dh_task *t)
{
    unsigned long flags;
    uint64_t set;
    while ((set = dh_signals_pending(t) & dh_signals_takeable(t, ~t->mask)))
        take_one(t, set, &flags);
}

/* ---- as an alternative of a step ---- */

static bool can_take(const struct dh_task *t)
{
    unsigned kind = dh_task_step(t)->kind;
    return t->is_parked && !t->is_daemon && kind != DH_STEP_END && kind != DH_STEP_EXIT && kind != DH_STEP_FLUSH &&
           dh_signals_takeable(t, ~t->mask & ~t->awaited);
}

uint32_t dh_signals_alternatives(struct dh_task *t, uint32_t own)
{
    struct dh_step *s = dh_task_step(t);
    unsigned index = own ? 32u - (unsigned)__builtin_clz(own) : t->interrupts == DH_PAUSES ? 0 : 1;
    t->signal_alternative = DH_NO_SIGNAL;
    s->flags &= (uint16_t)~DH_STEP_SIGNALLED;
    if (index > INDEX_MOST || dh_signals_are_quiet() || !can_take(t))
        return own;
    t->signal_alternative = (uint8_t)index;
    s->flags |= DH_STEP_SIGNALLED;
    return (t->signals_delayed < DELAY_MOST ? own : 0) | 1u << index;
}

bool dh_signals_is_taken_by(uint32_t thread, uint32_t alternative)
{
    return thread < dh_engine->n_tasks && dh_engine->tasks[thread].signal_alternative == alternative;
}

bool dh_signals_take(struct dh_task *t)
{
    unsigned long flags = 0;
    dh_engine->executed = (struct dh_step){.kind = DH_STEP_DELIVER, .site = dh_task_step(t)->site};
    t->signals_delayed = 0;
    t->signal_alternative = DH_NO_SIGNAL;
    if (!take_one(t, dh_signals_takeable(t, ~t->mask & ~t->awaited), &flags))
        return false;
    return t->interrupts == DH_ENDS || t->interrupts == DH_PAUSES ||
           (t->interrupts == DH_RESTARTS && !(flags & SA_RESTART));
}

/* ---- sending ---- */

static bool has_others(const struct dh_task *self)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (&dh_engine->tasks[i] != self && !dh_engine->actors[i].ended)
            return true;
    return false;
}

static bool others_may_take(const struct dh_task *self, int signal)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++) {
        const struct dh_task *t = &dh_engine->tasks[i];
        bool open = !(t->mask & dh_signal_bit(signal)) || t->awaited & dh_signal_bit(signal);
        if (t != self && !dh_engine->actors[i].ended && !t->is_daemon && open)
            return true;
    }
    return false;
}

void dh_signals_order_before(int signal)
{
    struct dh_step s = {.kind = DH_STEP_KILL, .second = (uint64_t)signal};
    if (dh_engine->current)
        dh_hb_check_fence(&s);
}

void dh_signals_send(struct dh_task *to, int signal, const siginfo_t *info)
{
    struct dh_task *self = dh_engine_self();
    uint64_t whom = to ? to->index : UINT32_MAX;
    if (to != self && has_others(self))
        dh_engine_park_at(DH_STEP_KILL, 0, (void *)(uintptr_t)whom, (void *)(uintptr_t)signal, NULL);
    else
        dh_signals_order_before(signal);
    if (to && to->ended)
        return;
    dh_signals_raise(to, signal, info);
    if (to == self || (!to && !others_may_take(self, signal)))
        dh_signals_deliver(self);
}

/* ---- faults ---- */

/* What the kernel left for the handler of the engine, copied to the program's stack. */
struct fault {
    struct dh_signal_frame frame;
    siginfo_t info;
    uint64_t kernel_mask;
    ucontext_t context;
};

static struct {
    bool is_handing;
    uintptr_t address, at; /* of the latest one */
    unsigned times;
} fault;

/* The kernel's frame is as if its own handler returned. */
static __attribute__((noreturn)) void return_to(ucontext_t *c)
{
    __asm__ volatile("mov %0, %%rsp\n\tjmp dh_signal_restorer" : : "r"(c) : "memory");
    __builtin_unreachable();
}

__attribute__((noreturn)) static void run_fault(struct fault *f)
{
    struct dh_task *t = dh_engine_self();
    struct dh_kernel_sigaction a = *dh_signals_action(f->info.si_signo);
    forget_left_frames(t, (uintptr_t)f->context.uc_mcontext.gregs[REG_RSP]);
    f->frame = (struct dh_signal_frame){t->handlers, f->info.si_signo, 0};
    dh_bytes_copy(&f->kernel_mask, &f->context.uc_sigmask, sizeof f->kernel_mask);
    uint64_t after = set_mask(t, f->info.si_signo);
    dh_bytes_copy(&f->context.uc_sigmask, &after, sizeof after);
    t->handlers = &f->frame;
    ((void (*)(int, siginfo_t *, void *))a.handler)(f->info.si_signo, &f->info, &f->context);
    t->handlers = f->frame.outer;
    dh_bytes_copy(&t->mask, &f->context.uc_sigmask, sizeof t->mask);
    dh_bytes_copy(&f->context.uc_sigmask, &f->kernel_mask, sizeof f->kernel_mask);
    return_to(&f->context);
}

static uintptr_t stack_for(const struct dh_task *t, const struct dh_kernel_sigaction *a, const ucontext_t *c)
{
    uintptr_t sp = (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
    if (a->flags & SA_ONSTACK && t->alternate_size && !is_on_alternate(t, sp))
        return t->alternate_stack + t->alternate_size;
    return sp - RED_ZONE;
}

/* The same fault again and again: the handler does not mend it, and natively this would go on for ever. */
static bool is_repeated(const siginfo_t *info, const ucontext_t *c)
{
    uintptr_t address = (uintptr_t)info->si_addr, at = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
    fault.times = fault.address == address && fault.at == at ? fault.times + 1 : 0;
    fault.address = address;
    fault.at = at;
    return fault.times > REPEATS_MOST;
}

bool dh_signals_hand_fault(int signal, const siginfo_t *info, void *context)
{
    struct dh_task *t = dh_engine_self();
    ucontext_t *c = context;
    const struct dh_kernel_sigaction *a = dh_signals_action(signal);
    if (!t || fault.is_handing || !dh_signals_is_handled(signal) || t->mask & dh_signal_bit(signal) ||
        is_repeated(info, c))
        return false;
    const char *state = (const char *)c->uc_mcontext.fpregs;
    uint32_t size = state ? *(const uint32_t *)(state + SIZE_OF_STATE) : 0;
    uintptr_t saved = (stack_for(t, a, c) - size) & ~(uintptr_t)(ALIGN - 1);
    struct fault *f = (struct fault *)((saved - sizeof *f) & ~(uintptr_t)(ALIGN - 1));
    fault.is_handing = true; /* a fault here is one of the stack itself */
    dh_bytes_copy((void *)saved, state, size);
    dh_bytes_copy(&f->info, info, sizeof f->info);
    dh_bytes_copy(&f->context, c, sizeof f->context);
    fault.is_handing = false;
    f->context.uc_mcontext.fpregs = state ? (fpregset_t)saved : NULL;
    c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)run_fault;
    c->uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)f;
    c->uc_mcontext.gregs[REG_RSP] = (greg_t)((uintptr_t)f - 8);
    c->uc_mcontext.gregs[REG_EFL] &= ~0x400; /* direction flag */
    return true;
}
