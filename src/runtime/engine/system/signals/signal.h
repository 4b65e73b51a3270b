/* Signals of the program are virtual: masks, pending signals, actions and alternate stacks are the engine's own, and
 * taking one is a step of the schedule. The kernel only knows the engine's handlers. Layer: runtime. What is here is
 * rolled back; nothing blocks the signals that the engine needs. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SIGNALS_SIGNAL_H
#define DH_RUNTIME_ENGINE_SYSTEM_SIGNALS_SIGNAL_H

#include "runtime/engine/engine.h"
#include "runtime/engine/system/kernel_call.h"

#include <signal.h>

/* What a handler that runs while a task waits does to the wait. */
enum dh_interrupts {
    DH_GOES_ON,  /* nothing: locks, conditions, joins */
    DH_RESTARTS, /* ends it with EINTR, unless it was installed with SA_RESTART */
    DH_ENDS,     /* ends it with EINTR */
    DH_PAUSES,   /* the same, and nothing else ends it */
};

enum {
    DH_NO_SIGNAL = 0xFF,     /* of a task's signal_alternative */
    DH_INTERRUPTED = 0xFFFF, /* instead of an alternative: a handler ended the wait */
    DH_SIGNALS = 65,
};

static inline uint64_t dh_signal_bit(int signal)
{
    return 1ull << (signal - 1);
}

/* ---- signal.c: the kernel's side ---- */

/* Takes over what the program installed, blocked and left pending, and the kernel's handlers. */
bool dh_signals_begin(void);
/* Gives the kernel what the program set: in a child process, and when the engine is done. */
void dh_signals_give_back(void);
/* The default action; returns if that is nothing. */
void dh_signals_act_by_default(int signal);
/* The process ends with this signal's handler on the stack that it got for a fault or abort: 0 or that signal. */
int dh_signals_fatal_handler(const struct dh_task *t);
/* The same of a signal that a timer sent. */
int dh_signals_timer_handler(const struct dh_task *t);

/* ---- signal_pending.c: actions and pending signals ---- */

struct dh_kernel_sigaction *dh_signals_action(int signal);
/* Is a function of the program's installed for it? */
bool dh_signals_is_handled(int signal);
/* Would it be dropped? */
bool dh_signals_is_ignored(int signal);
/* Would one to the process be dropped now: nobody wants it, and main does not block it? */
bool dh_signals_would_drop(int signal);
/* Is it one whose default action ends the process, with none other installed? */
bool dh_signals_is_deadly(int signal);
/* Is any function installed, but for those of faults? */
bool dh_signals_have_handlers(void);
/* Makes it pending, for the task or, if that is NULL, for the process. Of standard signals there is at most one. */
void dh_signals_raise(struct dh_task *t, int signal, const siginfo_t *info);
/* Signals that are pending for the task, the process's among them. */
uint64_t dh_signals_pending(const struct dh_task *t);
/* The same, with those of timers that may expire. */
uint64_t dh_signals_possible(const struct dh_task *t);
/* Those of `set` that it would take now, if it does not block them. */
uint64_t dh_signals_takeable(const struct dh_task *t, uint64_t set);
/* Removes the first one of `set`, perhaps by letting a timer expire; false: there is none. */
bool dh_signals_dequeue(struct dh_task *t, uint64_t set, siginfo_t *out);
/* Forgets pending ones of this number. */
void dh_signals_flush(int signal);
/* Does the task wait for signals of which the program sent none in this schedule? */
bool dh_signals_come_from_outside(const struct dh_task *t);
/* Nothing is pending, no timer runs. */
bool dh_signals_are_quiet(void);

/* ---- signal_deliver.c: taking them ---- */

/* At a decision: adds the alternative of taking a signal to those of a parked task. */
uint32_t dh_signals_alternatives(struct dh_task *t, uint32_t own);
/* Is that the alternative of taking a signal? */
bool dh_signals_is_taken_by(uint32_t thread, uint32_t alternative);
/* The task was chosen to take one; true: its wait ends with EINTR. */
bool dh_signals_take(struct dh_task *t);
/* Takes all pending ones that it does not block, at once. */
void dh_signals_deliver(struct dh_task *t);
/* Another task, or the process, gets it: a step. Own ones are taken before this returns. */
void dh_signals_send(struct dh_task *to, int signal, const siginfo_t *info);
/* Every run of its handlers from now on comes after what the task did so far. */
void dh_signals_order_before(int signal);
/* What the task does from now on comes after who sent it. */
void dh_signals_order_after(int signal);
/* Handlers of faults: with the kernel's context, on the program's stack. False: the program has none. */
bool dh_signals_hand_fault(int signal, const siginfo_t *info, void *context);

/* ---- signal_wait.c: waits that signals end ---- */

/* Like dh_engine_park_at, and answers DH_INTERRUPTED when a handler ended the wait. */
uint32_t dh_signals_park_at(enum dh_step_kind kind, unsigned flags, const void *object, const void *second,
                            dh_engine_alternatives *alternatives, enum dh_interrupts how);
/* Before a wait of that kind which will have to wait: a step, at which signals still come before the call. */
void dh_signals_enter_wait(void);
/* Around a wait, with that mask in place of the task's; NULL: with its own. `wait` returns what the call does. */
long dh_signals_with_mask(const uint64_t *mask, long (*wait)(void *), void *argument);

#endif
