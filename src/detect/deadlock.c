/* Deadlocks that another schedule could bring (lock_order.h), critical and indefinite waits (waits.h), and misuse of
 * locks. Events: LOCK, CONDITION, WAIT, THREAD; the others only order threads. */
#include "base/alloc.h"
#include "detect/detector.h"
#include "detect/happens_before.h"
#include "detect/lock_order.h"
#include "detect/must_hb.h"
#include "detect/waits.h"

#include <stdlib.h>
#include <string.h>

const struct dh_detector dh_detector_deadlock;

struct deadlock {
    struct dh_run_state *run;
    struct dh_must_hb *must_hb;
    struct dh_lock_order *order;
    struct dh_waits *waits;
    uint64_t number; /* of the event */
};

/* ---- cycles ---- */

static void cycle_found(void *arg, const struct dh_lock_request *const *cycle, size_t n)
{
    struct deadlock *d = arg;
    struct dh_suspect suspects[DH_SUSPECTS];
    struct dh_suspicion s = {.kind = DH_FINDING_DEADLOCK,
                             .level = DH_LEVEL_SUSPECTED,
                             .suspects = suspects,
                             .n_suspects = n < DH_SUSPECTS ? n : DH_SUSPECTS,
                             .text =
                                 "each thread can hold what the one before waits for: no lock that two of them hold "
                                 "and no order of threads keeps them apart"};
    /* The least thread comes first, whichever request closed the cycle. */
    size_t first = 0;
    for (size_t i = 1; i < n; i++)
        first = cycle[i]->thread < cycle[first]->thread ? i : first;
    for (size_t i = 0; i < s.n_suspects; i++) {
        const struct dh_lock_request *r = cycle[(first + i) % n];
        suspects[i] = (struct dh_suspect){.op = !r->lock    ? DH_OP_THREAD_JOIN
                                                : r->shared ? DH_OP_RDLOCK
                                                            : DH_OP_LOCK,
                                          .flags = r->shared ? DH_EVENT_SHARED : 0,
                                          .thread = r->thread,
                                          .site = r->site,
                                          .ctx = r->ctx,
                                          .addr = r->lock ? r->lock : r->joined,
                                          .locks = r->held,
                                          .n_locks = r->n_held,
                                          .note = r->again_after_wait ? "takes it again after its wait" : NULL};
    }
    s.addr = cycle[first]->lock;
    dh_run_report(d->run, &dh_detector_deadlock, &s);
}

/* A lock that was acquired already is the last of those held. */
static void request(struct deadlock *d, const struct dh_event *e)
{
    const struct dh_run_thread *t = dh_run_thread(d->run, e->thread);
    struct dh_hb_snapshot *now = dh_must_hb_current(d->must_hb, e->thread);
    struct dh_lock_request r = {.thread = e->thread,
                                .site = e->site,
                                .ctx = e->ctx,
                                .shared = e->flags & DH_EVENT_SHARED,
                                .again_after_wait = e->flags & DH_EVENT_WAIT,
                                .held = t->held.at,
                                .n_held = (uint32_t)t->held.n,
                                .first = d->number,
                                .last = d->number};
    if (!now)
        return;
    if (e->kind == DH_EVENT_THREAD_JOIN) {
        r.joined = (uint32_t)e->arg;
    } else {
        r.lock = e->addr;
        r.id = dh_run_lock_id(d->run, e->addr);
        r.n_held -= e->kind == DH_EVENT_LOCK;
    }
    dh_lock_order_request(d->order, &r, now);
}

/* Requests that do not block, or not for ever, cause no deadlock; nor do those for a lock that the thread holds. */
static void lock_requested(struct deadlock *d, const struct dh_event *e)
{
    const struct dh_lock_hold *h = dh_run_find_held(d->run, e->thread, e->addr);
    bool again = e->flags & DH_EVENT_AGAIN || (h && (e->kind == DH_EVENT_LOCK_WAIT || h->depth > 1));
    if (!(e->flags & (DH_EVENT_TRY | DH_EVENT_TIMED)) && !again)
        request(d, e);
}

static void thread_joins(struct deadlock *d, const struct dh_event *e)
{
    if (e->arg < DH_RUN_THREADS_MAX && e->arg != e->thread)
        request(d, e);
}

/* ---- misuse of locks ---- */

static void misused(struct deadlock *d, const struct dh_event *e, uint8_t op, const struct dh_lock_hold *h,
                    uint32_t holder, const char *text)
{
    const struct dh_run_thread *t = dh_run_thread(d->run, e->thread);
    struct dh_suspect suspects[2] = {{.op = op,
                                      .flags = e->flags,
                                      .thread = e->thread,
                                      .site = e->site,
                                      .ctx = e->ctx,
                                      .addr = h ? h->lock : e->addr,
                                      .locks = t->held.at,
                                      .n_locks = t->held.n}};
    if (h)
        suspects[1] = (struct dh_suspect){.op = h->shared ? DH_OP_RDLOCK : DH_OP_LOCK,
                                          .flags = h->shared ? DH_EVENT_SHARED : 0,
                                          .thread = holder,
                                          .site = h->site,
                                          .ctx = h->ctx,
                                          .addr = h->lock,
                                          .note = "took it"};
    struct dh_suspicion s = {.kind = DH_FINDING_LOCK_MISUSE,
                             .level = DH_LEVEL_OBSERVED,
                             .addr = suspects[0].addr,
                             .suspects = suspects,
                             .n_suspects = h ? 2 : 1,
                             .text = text,
                             .key = text};
    dh_run_report(d->run, &dh_detector_deadlock, &s);
}

/* Some thread that holds the lock. */
static const struct dh_lock_hold *find_holder(struct deadlock *d, uint64_t lock, uint32_t *holder)
{
    uint32_t n = dh_run_thread_count(d->run);
    for (*holder = 0; *holder < n; ++*holder) {
        const struct dh_lock_hold *h = dh_run_find_held(d->run, *holder, lock);
        if (h)
            return h;
    }
    return NULL;
}

static void lock_released(struct deadlock *d, const struct dh_event *e)
{
    uint32_t holder;
    if (dh_run_find_held(d->run, e->thread, e->addr))
        return;
    const struct dh_lock_hold *h = find_holder(d, e->addr, &holder);
    if (h)
        misused(d, e, DH_OP_UNLOCK, h, holder, "unlocked by a thread that does not hold it");
    else if (e->flags & DH_EVENT_FOREIGN)
        misused(d, e, DH_OP_UNLOCK, NULL, 0, "unlocked while nobody holds it");
}

static void lock_destroyed(struct deadlock *d, const struct dh_event *e)
{
    uint32_t holder;
    const struct dh_lock_hold *h = find_holder(d, e->addr, &holder);
    if (h || e->flags & DH_EVENT_FOREIGN)
        misused(d, e, DH_OP_LOCK_DESTROY, h, holder, "destroyed while it is held");
    dh_lock_order_forget(d->order, e->addr);
}

/* The end of the main thread is the end of the process: its locks do not matter any more. */
static void thread_ends(struct deadlock *d, const struct dh_event *e)
{
    const struct dh_run_thread *t = dh_run_thread(d->run, e->thread);
    for (size_t i = 0; e->thread && i < t->held.n; i++)
        misused(d, e, DH_OP_THREAD_EXIT, &t->held.at[i], e->thread, "still held when its thread ended");
}

/* ---- the detector ---- */

static void *begin_detector(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    const char *order = o && o->get ? o->get(o->arg, "deadlock-order") : NULL;
    if (order && strcmp(order, "all") && strcmp(order, "threads")) {
        *why = "--deadlock-order is all or threads";
        return NULL;
    }
    const char *hang = o && o->get ? o->get(o->arg, "hang-timeout") : NULL;
    if (hang && (!*hang || hang[strspn(hang, "0123456789")] || strlen(hang) > 6)) {
        *why = "--hang-timeout is a number of seconds";
        return NULL;
    }
    struct deadlock *d = DH_NEW(struct deadlock);
    d->run = w;
    d->must_hb = dh_must_hb_new(order && order[0] == 't' ? DH_EDGES_THREADS : DH_EDGES_WITHOUT_LOCKS);
    d->order = dh_lock_order_new(cycle_found, d);
    d->waits = dh_waits_new(w, &dh_detector_deadlock, d->order);
    return d;
}

static void (*const handlers[DH_EVENT_COUNT])(struct deadlock *, const struct dh_event *) = {
    [DH_EVENT_LOCK] = lock_requested,      [DH_EVENT_LOCK_WAIT] = lock_requested,
    [DH_EVENT_UNLOCK] = lock_released,     [DH_EVENT_LOCK_DESTROY] = lock_destroyed,
    [DH_EVENT_THREAD_JOIN] = thread_joins, [DH_EVENT_THREAD_END] = thread_ends,
};

static void event(void *self, const struct dh_event *e)
{
    struct deadlock *d = self;
    if (e->kind >= DH_EVENT_COUNT)
        return;
    d->number++;
    if (handlers[e->kind])
        handlers[e->kind](d, e);
    dh_waits_event(d->waits, e, d->must_hb, d->number);
    dh_must_hb_event(d->must_hb, e);
}

static void end_stream(void *self)
{
    struct deadlock *d = self;
    dh_waits_end(d->waits);
}

static void release(void *self)
{
    struct deadlock *d = self;
    dh_waits_free(d->waits);
    dh_lock_order_free(d->order);
    dh_must_hb_free(d->must_hb);
    free(d);
}

const struct dh_detector dh_detector_deadlock = {
    .name = "deadlock",
    .summary = "lock orders that can become deadlocks, waits that may not end, misused locks",
    .events = DH_EVENTS_LOCK | DH_EVENTS_CONDITION | DH_EVENTS_WAIT | DH_EVENTS_THREAD | DH_EVENTS_ORDER |
              DH_EVENTS_ATOMIC | DH_EVENTS_MEMORY,
    .begin = begin_detector,
    .event = event,
    .end = end_stream,
    .release = release,
};
