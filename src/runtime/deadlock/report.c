/* Reports of deadlocks that happened: which thread waits for what; ends a process that would hang. */
#include "runtime/deadlock/state.h"

#include "event/finding_log.h"
#include "runtime/core/options.h"
#include "runtime/core/start.h"
#include "runtime/core/threads.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <stdio.h>

#define EXIT_CODE 66 /* where the option says "the program's own": it has none */

static struct dh_report_access accesses[DH_REPORT_ACCESSES];
static char notes[DH_REPORT_ACCESSES][128], text[160];

static struct dh_report_access *describe(unsigned at, const struct dh_deadlock_thread *b)
{
    struct dh_report_access *a = &accesses[at];
    dh_bytes_zero(a, sizeof *a);
    a->thread = b->index;
    a->flags = DH_LOG_BY_LIBRARY;
    a->role = b->role;
    a->place = UINT32_MAX;
    a->context = b->context;
    const struct dh_thread *joined = b->role == DH_ROLE_JOIN ? dh_threads_find_handle(b->object) : NULL;
    a->addr = b->role != DH_ROLE_JOIN ? b->object : joined ? joined->index : UINT32_MAX;
    for (uint32_t i = 0; i < b->n_held && i < DH_DEADLOCK_LOCKS && a->n_locks < DH_REPORT_LOCKS; i++)
        a->lock[a->n_locks++] = (struct dh_report_lock){b->held[i].lock, b->held[i].context, b->held[i].shared};
    return a;
}

static bool waits_for_lock(const struct dh_deadlock_thread *b)
{
    return b->role == DH_ROLE_LOCK_WAIT || b->role == DH_ROLE_RDLOCK_WAIT;
}

static const struct dh_deadlock_thread *holder_of(const struct dh_deadlock_thread *b)
{
    const struct dh_deadlock_thread *h = waits_for_lock(b) ? atomic_load(&dh_deadlock_threads) : NULL;
    while (h && !(atomic_load(&h->used) && dh_deadlock_holds(h, b->object, b->role == DH_ROLE_RDLOCK_WAIT)))
        h = h->next;
    return h;
}

static void note_holder(unsigned at, const struct dh_deadlock_thread *b)
{
    const struct dh_deadlock_thread *h = holder_of(b);
    if (!waits_for_lock(b))
        return;
    if (h)
        dh_print_text(notes[at], sizeof notes[at], h == b ? "it holds that itself" : "held by thread T%u", h->index);
    else
        dh_text_copy(notes[at], sizeof notes[at], "no thread that runs still has taken it");
    accesses[at].note = notes[at];
}

/* What the program has written but not yet flushed. Threads are asleep, so none changes it; libc's own functions
 * might wait for one of them. */
static void flush_streams(void)
{
    FILE *const streams[] = {stdout, stderr};
    for (unsigned i = 0; i < 2; i++) {
        FILE *f = streams[i];
        for (const char *at = f ? f->_IO_write_base : NULL; at && at < f->_IO_write_ptr;) {
            long n = dh_sys_write(f->_fileno, at, (size_t)(f->_IO_write_ptr - at));
            if (n <= 0 && n != -EINTR)
                break;
            at += n > 0 ? n : 0;
        }
    }
}

/* A cycle was reported while other threads went on. */
static bool cycle_reported;

static bool report(const struct dh_report *r)
{
    uint32_t before = dh_report_count();
    dh_report(r);
    return dh_report_count() != before;
}

__attribute__((noreturn)) static void end_process(void)
{
    dh_finish();
    dh_sys_exit_group(dh_options.exitcode ? dh_options.exitcode : EXIT_CODE);
}

/* One that is suppressed goes on hanging, as it would without us. */
static void tell_and_end(const struct dh_report *r)
{
    flush_streams();
    if (cycle_reported || report(r))
        end_process();
}

/* ---- a cycle ---- */

void dh_deadlock_report_cycle(struct dh_deadlock_thread *const *waiters, unsigned n)
{
    unsigned shown = n < DH_REPORT_ACCESSES ? n : DH_REPORT_ACCESSES;
    for (unsigned i = 0; i < shown; i++) {
        describe(i, waiters[i]);
        note_holder(i, waiters[i]);
    }
    dh_print_text(text, sizeof text, "%u threads wait for each other and will never go on", n);
    struct dh_report r = {.kind = DH_FINDING_DEADLOCK,
                          .detector = "deadlock",
                          .access = accesses,
                          .n_accesses = shown,
                          .addr = waiters[0]->role == DH_ROLE_JOIN ? waiters[1]->object : waiters[0]->object,
                          .text = text};
    cycle_reported = report(&r) || cycle_reported;
}

/* ---- everybody waits ---- */

static bool is_owned_by_waiter(const struct dh_deadlock_thread *lock_waiter,
                               const struct dh_deadlock_thread *condition_waiter)
{
    return waits_for_lock(lock_waiter) &&
           dh_deadlock_holds(condition_waiter, lock_waiter->object, lock_waiter->role == DH_ROLE_RDLOCK_WAIT);
}

/* How much a wait looks like the cause: a condition whose waiter holds what others want, one that is never signalled,
 * one that was signalled too early; then a wait for itself or for what no thread holds; the others wait for these. */
enum cause { JOINS, OTHERS, ANY_CONDITION, DEAD_OWNER, ITSELF, LOST, NEVER, CRITICAL };

static enum cause cause_of(const struct dh_deadlock_thread *b, struct dh_deadlock_thread *const *waiters, unsigned n)
{
    if (waits_for_lock(b)) {
        const struct dh_deadlock_thread *h = holder_of(b);
        return h == b ? ITSELF : h ? JOINS : DEAD_OWNER;
    }
    if (b->role != DH_ROLE_COND_WAIT)
        return b->role == DH_ROLE_JOIN ? JOINS : OTHERS;
    for (unsigned i = 0; i < n; i++)
        if (is_owned_by_waiter(waiters[i], b))
            return CRITICAL;
    const struct dh_deadlock_condition *c = dh_deadlock_condition(b->object, false);
    if (!c || !atomic_load(&c->signals))
        return NEVER;
    return atomic_load(&c->lone) && c->thread != b->index ? LOST : ANY_CONDITION;
}

static const struct {
    enum dh_finding_kind kind;
    const char *text;
} meaning[] = {
    [JOINS] = {DH_FINDING_DEADLOCK, "every thread of the process waits for another"},
    [OTHERS] = {DH_FINDING_DEADLOCK, "nobody is left to end the wait: every thread waits"},
    [ANY_CONDITION] = {DH_FINDING_INDEFINITE_WAIT, "nobody is left to signal the condition: every thread waits"},
    [DEAD_OWNER] = {DH_FINDING_DEADLOCK, "a lock is waited for that no running thread holds; every thread waits"},
    [ITSELF] = {DH_FINDING_DEADLOCK, "a thread waits for a lock that it holds itself; every thread waits"},
    [LOST] = {DH_FINDING_LOST_WAKEUP, "the signal came when nobody waited yet; now every thread waits"},
    [NEVER] = {DH_FINDING_INDEFINITE_WAIT, "nobody has ever signalled the condition; now every thread waits"},
    [CRITICAL] = {DH_FINDING_CRITICAL_WAIT,
                  "who could signal the condition needs a lock that the waiting thread holds; every thread waits"},
};

static void add_lone_signal(unsigned at, const struct dh_deadlock_thread *b)
{
    const struct dh_deadlock_condition *c = dh_deadlock_condition(b->object, false);
    struct dh_report_access *a = &accesses[at];
    dh_bytes_zero(a, sizeof *a);
    *a = (struct dh_report_access){.thread = c->thread,
                                   .flags = DH_LOG_BY_LIBRARY,
                                   .role = c->all ? DH_ROLE_COND_BROADCAST : DH_ROLE_COND_SIGNAL,
                                   .place = UINT32_MAX,
                                   .context = c->context,
                                   .addr = b->object,
                                   .note = "nobody waited"};
}

/* The cause, the threads that wait for what it holds, and then the rest. */
void dh_deadlock_report_stuck(struct dh_deadlock_thread *const *waiters, unsigned n, bool sure)
{
    unsigned first = 0, shown = 0;
    enum cause cause = JOINS;
    for (unsigned i = 0; i < n; i++) {
        enum cause c = cause_of(waiters[i], waiters, n);
        first = c > cause ? i : first;
        cause = c > cause ? c : cause;
    }
    describe(shown, waiters[first]);
    note_holder(shown++, waiters[first]);
    if (cause == LOST)
        add_lone_signal(shown++, waiters[first]);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < n && shown < DH_REPORT_ACCESSES; i++)
            if (i != first && is_owned_by_waiter(waiters[i], waiters[first]) == !round) {
                describe(shown, waiters[i]);
                note_holder(shown++, waiters[i]);
            }
    struct dh_report r = {.kind = meaning[cause].kind,
                          .suspected = !sure,
                          .detector = "deadlock",
                          .access = accesses,
                          .n_accesses = shown,
                          .addr = waiters[first]->role == DH_ROLE_JOIN ? 0 : waiters[first]->object,
                          .text = meaning[cause].text};
    tell_and_end(&r);
}

void dh_deadlock_report_hang(struct dh_deadlock_thread *b, unsigned seconds)
{
    const struct dh_deadlock_thread *h = holder_of(b);
    unsigned n = 0;
    describe(n, b);
    note_holder(n++, b);
    /* What it does if it does not wait is not known; where it took the lock is. */
    if (h && h != b && dh_deadlock_still_waits(h)) {
        describe(n, h);
        note_holder(n++, h);
    }
    dh_print_text(text, sizeof text, "the lock has been waited for for %u seconds (hang_timeout=%d)", seconds,
                  dh_options.hang_timeout);
    struct dh_report r = {.kind = DH_FINDING_DEADLOCK,
                          .suspected = true,
                          .detector = "deadlock",
                          .access = accesses,
                          .n_accesses = n,
                          .addr = b->object,
                          .text = text};
    tell_and_end(&r);
}
