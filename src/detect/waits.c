#include "detect/waits.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/set.h"

#include <stdlib.h>
#include <string.h>

enum { CRITICAL_MOST = 32, SIGNALLERS_MOST = 256 }; /* of one condition */
enum { POSSIBLE_MOST = 256, PLACES_MOST = 1 << 24 };

/* A condition wait with other locks held than its mutex. */
struct critical {
    struct dh_event e;
    struct dh_hb_snapshot *when;
    struct dh_lock_hold *held; /* without the mutex */
    size_t n_held;
};

struct signaller {
    struct dh_event last;
    struct dh_hb_snapshot *when; /* of the last */
    uint64_t number;
};

struct condition {
    uint64_t addr;
    DH_VEC(struct critical) critical;
    DH_VEC(struct signaller) signallers;
    uint32_t waiting;
    bool many; /* signallers: not all are known */
    bool lone; /* signalled while no thread waited */
    struct dh_event lone_signal;
};

/* What a thread waits for now. */
struct pending {
    bool on;
    struct dh_event e;
};

/* A section that may reach a condition wait but did not in this run; the address of the condition is not known. */
struct possible {
    struct critical wait; /* at the wait's place, under the mutex e.arg */
    bool nobody_signals;
};

struct dh_waits {
    struct dh_run_state *run;
    const struct dh_detector *detector;
    struct dh_lock_order *order;
    DH_VEC(struct pending) pending; /* by thread */
    struct dh_u64_map conditions;   /* by address */
    DH_VEC(struct possible) possible;
    struct dh_bitset wait_free; /* places of lock calls: no section that begins there may wait */
};

struct dh_waits *dh_waits_new(struct dh_run_state *run, const struct dh_detector *detector, struct dh_lock_order *order)
{
    struct dh_waits *w = DH_NEW(struct dh_waits);
    w->run = run;
    w->detector = detector;
    w->order = order;
    return w;
}

/* ---- conditions ---- */

static struct condition *find_condition(struct dh_waits *w, uint64_t addr)
{
    uint32_t i = dh_u64_map_seek(&w->conditions, addr);
    return i == DH_ABSENT ? NULL : w->conditions.at[i].pointer;
}

static struct condition *get_condition(struct dh_waits *w, uint64_t addr)
{
    struct dh_u64_entry *entry = dh_u64_map_entry(&w->conditions, addr);
    struct condition *c = entry->pointer;
    if (!c) {
        entry->pointer = c = DH_NEW(struct condition);
        c->addr = addr;
    }
    return c;
}

static void free_condition(struct condition *c)
{
    for (size_t i = 0; i < c->critical.n; i++) {
        dh_hb_snapshot_unref(c->critical.at[i].when);
        free(c->critical.at[i].held);
    }
    for (size_t i = 0; i < c->signallers.n; i++)
        dh_hb_snapshot_unref(c->signallers.at[i].when);
    dh_vec_release(&c->critical);
    dh_vec_release(&c->signallers);
    free(c);
}

static bool is_same_wait(const struct critical *a, const struct critical *b)
{
    if (a->e.thread != b->e.thread || a->e.site != b->e.site || a->e.ctx != b->e.ctx || a->n_held != b->n_held)
        return false;
    for (size_t i = 0; i < a->n_held; i++)
        if (a->held[i].id != b->held[i].id)
            return false;
    return true;
}

/* Of equal waits the first counts: later ones are ordered after more. */
static void record_critical(struct dh_waits *w, const struct dh_event *e, struct dh_hb_snapshot *now)
{
    const struct dh_run_thread *t = dh_run_thread(w->run, e->thread);
    struct condition *c = get_condition(w, e->addr);
    struct critical new = {.e = *e, .when = now, .held = dh_xcalloc(t->held.n + 1, sizeof *new.held)};
    for (size_t i = 0; i < t->held.n; i++)
        if (t->held.at[i].lock != e->arg)
            new.held[new.n_held++] = t->held.at[i];
    bool known = !new.n_held || c->critical.n == CRITICAL_MOST;
    for (size_t i = 0; i < c->critical.n && !known; i++)
        known = is_same_wait(&c->critical.at[i], &new);
    if (known) {
        free(new.held);
        return;
    }
    dh_hb_snapshot_ref(now);
    dh_vec_push(&c->critical, new);
}

/* ---- waits that did not happen ---- */

static bool is_wait_free(struct dh_waits *w, uint32_t place)
{
    return place == DH_NO_PLACE || dh_bitset_has(&w->wait_free, place);
}

static void record_possible(struct dh_waits *w, struct possible *new, struct dh_hb_snapshot *now)
{
    const struct dh_run_thread *t = dh_run_thread(w->run, new->wait.e.thread);
    struct critical *c = &new->wait;
    bool known = w->possible.n == POSSIBLE_MOST;
    c->when = now;
    c->held = dh_xcalloc(t->held.n + 1, sizeof *c->held);
    for (size_t i = 0; i < t->held.n; i++)
        if (t->held.at[i].lock != c->e.arg)
            c->held[c->n_held++] = t->held.at[i];
    for (size_t i = 0; i < w->possible.n && !known; i++)
        known = w->possible.at[i].wait.e.arg == c->e.arg && is_same_wait(&w->possible.at[i].wait, c);
    if (known || (!c->n_held && !new->nobody_signals)) {
        free(c->held);
        return;
    }
    dh_hb_snapshot_ref(now);
    dh_vec_push(&w->possible, *new);
}

static void locks(struct dh_waits *w, const struct dh_event *e, struct dh_must_hb *must_hb)
{
    bool nobody;
    if (e->flags & (DH_EVENT_AGAIN | DH_EVENT_WAIT) || is_wait_free(w, e->site))
        return;
    unsigned n = 0;
    for (uint32_t at; (at = dh_run_may_wait(w->run, e->site, n, &nobody)) != DH_NO_PLACE; n++) {
        struct possible new = {.nobody_signals = nobody};
        new.wait.e = (struct dh_event){.kind = DH_EVENT_COND_WAIT, .thread = e->thread, .site = at, .ctx = e->ctx};
        new.wait.e.arg = e->addr;
        struct dh_hb_snapshot *now = dh_must_hb_current(must_hb, e->thread);
        if (now)
            record_possible(w, &new, now);
    }
    if (!n && e->site < PLACES_MOST)
        dh_bitset_add(&w->wait_free, e->site);
}

static void waits(struct dh_waits *w, const struct dh_event *e, struct dh_hb_snapshot *now)
{
    get_condition(w, e->addr)->waiting++;
    if (now && !(e->flags & DH_EVENT_TIMED))
        record_critical(w, e, now);
}

static struct signaller *signaller_of(struct condition *c, uint32_t thread)
{
    for (size_t i = 0; i < c->signallers.n; i++)
        if (c->signallers.at[i].last.thread == thread)
            return &c->signallers.at[i];
    if (c->signallers.n == SIGNALLERS_MOST) {
        c->many = true;
        return NULL;
    }
    dh_vec_push(&c->signallers, (struct signaller){0});
    return &c->signallers.at[c->signallers.n - 1];
}

static void signals(struct dh_waits *w, const struct dh_event *e, struct dh_hb_snapshot *now, uint64_t number)
{
    struct condition *c = get_condition(w, e->addr);
    struct signaller *s = signaller_of(c, e->thread);
    if (!c->waiting && !c->lone) {
        c->lone = true;
        c->lone_signal = *e;
    }
    if (!s || !now)
        return;
    dh_hb_snapshot_ref(now);
    dh_hb_snapshot_unref(s->when);
    *s = (struct signaller){*e, now, number};
}

/* ---- critical waits: every signaller must first acquire a lock that the waiting thread holds ---- */

static bool is_beside(const struct dh_lock_request *r, const struct dh_hb_snapshot *when)
{
    for (uint32_t i = 0; i < r->n_snapshots; i++)
        if (dh_hb_snapshots_concurrent(r->snapshots[i], when))
            return true;
    return false;
}

static const struct dh_lock_hold *blocking_lock(const struct critical *c, const struct dh_lock_request *r)
{
    for (size_t i = 0; r->lock && i < c->n_held; i++)
        if (c->held[i].lock == r->lock && c->held[i].id == r->id && !(c->held[i].shared && r->shared))
            return &c->held[i];
    return NULL;
}

/* A lock request of the signaller, before its last signal, that the wait can block. */
static const struct dh_lock_request *blocked_request(struct dh_waits *w, const struct critical *c,
                                                     const struct signaller *s)
{
    size_t at = 0;
    const struct dh_lock_request *r;
    while ((r = dh_lock_order_next(w->order, s->last.thread, &at)))
        if (r->first < s->number && blocking_lock(c, r) && is_beside(r, c->when))
            return r;
    return NULL;
}

static void report(struct dh_waits *w, enum dh_finding_kind kind, enum dh_finding_level level, uint64_t addr,
                   const struct dh_suspect *suspects, size_t n, const char *text)
{
    struct dh_suspicion s = {
        .kind = kind, .level = level, .addr = addr, .suspects = suspects, .n_suspects = n, .text = text};
    if (s.n_suspects > DH_SUSPECTS)
        s.n_suspects = DH_SUSPECTS;
    dh_run_report(w->run, w->detector, &s);
}

static void report_critical(struct dh_waits *w, const struct critical *c, const struct dh_lock_request *r,
                            const struct signaller *s)
{
    struct dh_suspect suspects[] = {
        {.op = DH_OP_COND_WAIT,
         .flags = c->e.flags,
         .thread = c->e.thread,
         .site = c->e.site,
         .ctx = c->e.ctx,
         .addr = c->e.addr,
         .locks = c->held,
         .n_locks = c->n_held,
         .note = "waits with another lock held"},
        {.op = r->shared ? DH_OP_RDLOCK : DH_OP_LOCK,
         .thread = r->thread,
         .site = r->site,
         .ctx = r->ctx,
         .addr = r->lock,
         .locks = r->held,
         .n_locks = r->n_held,
         .note = "needs that lock before it signals"},
        {.op = s->last.kind == DH_EVENT_COND_BROADCAST ? DH_OP_COND_BROADCAST : DH_OP_COND_SIGNAL,
         .thread = s->last.thread,
         .site = s->last.site,
         .ctx = s->last.ctx,
         .addr = s->last.addr,
         .note = "would end the wait"},
    };
    report(w, DH_FINDING_CRITICAL_WAIT, DH_LEVEL_SUSPECTED, blocking_lock(c, r)->lock, suspects, 3,
           "every thread that signals the condition takes this lock before, and the waiting thread does not give it");
}

static void judge_critical(struct dh_waits *w, const struct condition *c, const struct critical *wait)
{
    const struct dh_lock_request *first = NULL;
    const struct signaller *by = NULL;
    for (size_t i = 0; i < c->signallers.n; i++) {
        const struct signaller *s = &c->signallers.at[i];
        if (s->last.thread == wait->e.thread || dh_hb_snapshot_before(s->when, wait->when))
            continue;
        const struct dh_lock_request *r = blocked_request(w, wait, s);
        if (!r)
            return; /* this one can signal */
        if (!first) {
            first = r;
            by = s;
        }
    }
    if (first && !c->many)
        report_critical(w, wait, first, by);
}

static void judge(struct dh_waits *w, const struct condition *c)
{
    for (size_t i = 0; i < c->critical.n; i++)
        judge_critical(w, c, &c->critical.at[i]);
}

/* The only condition that is signalled under that name. */
static const struct condition *condition_named(struct dh_waits *w, const char *name)
{
    const struct condition *found = NULL;
    for (uint32_t i = 0; *name && i < w->conditions.n; i++) {
        const struct condition *c = w->conditions.at[i].pointer;
        bool same = c->signallers.n && strcmp(dh_run_variable(w->run, c->signallers.at[0].last.site), name) == 0;
        if (same && found)
            return NULL;
        found = same ? c : found;
    }
    return found;
}

static void report_never_signalled(struct dh_waits *w, const struct critical *wait)
{
    struct dh_suspect suspect = {.op = DH_OP_COND_WAIT,
                                 .thread = wait->e.thread,
                                 .site = wait->e.site,
                                 .ctx = wait->e.ctx,
                                 .locks = wait->held,
                                 .n_locks = wait->n_held,
                                 .note = "did not come to it in this run"};
    report(w, DH_FINDING_INDEFINITE_WAIT, DH_LEVEL_SUSPECTED, 0, &suspect, 1,
           "no code of the program signals the condition: who comes to this wait does not come back");
}

static void judge_possible(struct dh_waits *w, const struct possible *p)
{
    const struct condition *c = condition_named(w, dh_run_variable(w->run, p->wait.e.site));
    if (p->nobody_signals && dh_run_thread_count(w->run) > 1)
        report_never_signalled(w, &p->wait);
    if (!c || !p->wait.n_held)
        return;
    struct critical wait = p->wait;
    wait.e.addr = c->addr;
    judge_critical(w, c, &wait);
}

/* The condition at that address is destroyed, or becomes another one. */
static void condition_ends(struct dh_waits *w, uint64_t addr)
{
    struct condition *c = find_condition(w, addr);
    if (!c)
        return;
    dh_u64_map_remove(&w->conditions, addr);
    judge(w, c);
    free_condition(c);
}

/* ---- what each thread waits for ---- */

static struct pending *pending_of(struct dh_waits *w, uint32_t thread)
{
    if (thread >= DH_RUN_THREADS_MAX)
        return NULL;
    while (w->pending.n <= thread)
        dh_vec_push(&w->pending, (struct pending){0});
    return &w->pending.at[thread];
}

static bool begins_wait(const struct dh_event *e)
{
    return e->kind == DH_EVENT_LOCK_WAIT || e->kind == DH_EVENT_COND_WAIT || e->kind == DH_EVENT_BLOCK;
}

/* A condition wait goes on until COND_WOKEN: in between the mutex is released and acquired. */
static bool goes_on(const struct pending *p, const struct dh_event *e)
{
    return p->e.kind == DH_EVENT_COND_WAIT && (e->kind == DH_EVENT_UNLOCK || e->kind == DH_EVENT_LOCK_WAIT) &&
           e->flags & DH_EVENT_WAIT;
}

static void ends(struct dh_waits *w, struct pending *p)
{
    struct condition *c = p->on && p->e.kind == DH_EVENT_COND_WAIT ? find_condition(w, p->e.addr) : NULL;
    if (c && c->waiting)
        c->waiting--;
    p->on = false;
}

static void record_pending(struct dh_waits *w, const struct dh_event *e)
{
    struct pending *p = pending_of(w, e->thread);
    if (!p || (p->on && goes_on(p, e)))
        return;
    ends(w, p);
    if (begins_wait(e))
        *p = (struct pending){true, *e};
}

void dh_waits_event(struct dh_waits *w, const struct dh_event *e, struct dh_must_hb *must_hb, uint64_t number)
{
    record_pending(w, e);
    switch (e->kind) {
    case DH_EVENT_LOCK:
        locks(w, e, must_hb);
        break;
    case DH_EVENT_COND_WAIT:
        waits(w, e, dh_must_hb_current(must_hb, e->thread));
        break;
    case DH_EVENT_COND_SIGNAL:
    case DH_EVENT_COND_BROADCAST:
        signals(w, e, dh_must_hb_current(must_hb, e->thread), number);
        break;
    case DH_EVENT_LOCK_INIT:
    case DH_EVENT_LOCK_DESTROY:
    case DH_EVENT_FORGET:
        condition_ends(w, e->addr);
        break;
    }
}

/* ---- the end of the stream ---- */

static const struct pending *waiting(const struct dh_waits *w, uint32_t thread)
{
    const struct pending *p = thread < w->pending.n ? &w->pending.at[thread] : NULL;
    return p && p->on && !(p->e.flags & DH_EVENT_TIMED) ? p : NULL;
}

static bool lives(const struct dh_waits *w, uint32_t thread)
{
    const struct dh_run_thread *t = dh_run_thread(w->run, thread);
    return thread == 0 ? !t->ended : t->index == thread && !t->ended; /* the main thread has no THREAD_BEGIN */
}

static bool is_internal(const struct dh_event *e)
{
    static const bool internal[DH_SYNC_CLASS_COUNT] = {
        [DH_SYNC_BARRIER] = true, [DH_SYNC_SEMAPHORE] = true, [DH_SYNC_ONCE] = true, [DH_SYNC_THREAD] = true};
    return e->kind != DH_EVENT_BLOCK || (e->arg < DH_SYNC_CLASS_COUNT && internal[e->arg]);
}

/* Every thread waits for something that only another thread of the program can end. */
static bool is_stuck(const struct dh_waits *w)
{
    uint32_t n = dh_run_thread_count(w->run), live = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!lives(w, i))
            continue;
        const struct pending *p = waiting(w, i);
        if (!p || !is_internal(&p->e))
            return false;
        live++;
    }
    return live > 0;
}

/* The thread that holds the lock; of several readers the first that waits itself. */
static uint32_t owner_of(const struct dh_waits *w, const struct dh_event *e)
{
    uint32_t n = dh_run_thread_count(w->run), owner = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const struct dh_lock_hold *h = dh_run_find_held(w->run, i, e->addr);
        if (!h || (h->shared && e->flags & DH_EVENT_SHARED))
            continue;
        if (waiting(w, i))
            return i;
        owner = i;
    }
    return owner;
}

static uint8_t op_of(const struct dh_event *e)
{
    static const uint8_t classes[DH_SYNC_CLASS_COUNT] = {
        [DH_SYNC_OTHER] = DH_OP_SYNC_OTHER,   [DH_SYNC_BARRIER] = DH_OP_BARRIER_WAIT,
        [DH_SYNC_SEMAPHORE] = DH_OP_SEM_WAIT, [DH_SYNC_ONCE] = DH_OP_ONCE,
        [DH_SYNC_CHANNEL] = DH_OP_SYNC_OTHER, [DH_SYNC_ANNOTATION] = DH_OP_SYNC_OTHER,
        [DH_SYNC_THREAD] = DH_OP_THREAD_JOIN, [DH_SYNC_SIGNAL] = DH_OP_SYNC_OTHER,
    };
    if (e->kind == DH_EVENT_LOCK_WAIT)
        return e->flags & DH_EVENT_SHARED ? DH_OP_RDLOCK : DH_OP_LOCK;
    if (e->kind == DH_EVENT_COND_WAIT)
        return DH_OP_COND_WAIT;
    return classes[e->arg < DH_SYNC_CLASS_COUNT ? e->arg : 0];
}

static struct dh_suspect suspect_of(const struct dh_waits *w, const struct dh_event *e, const char *note)
{
    const struct dh_run_thread *t = dh_run_thread(w->run, e->thread);
    return (struct dh_suspect){.op = op_of(e),
                               .flags = e->flags,
                               .thread = e->thread,
                               .site = e->site,
                               .ctx = e->ctx,
                               .addr = e->addr,
                               .locks = t->held.at,
                               .n_locks = t->held.n,
                               .note = note};
}

/* From thread to owner and on, until a thread repeats: what lies between is the cycle. */
static size_t find_cycle(const struct dh_waits *w, uint32_t thread, uint32_t *cycle, size_t most)
{
    size_t n = 0;
    while (n < most) {
        const struct pending *p = thread == UINT32_MAX ? NULL : waiting(w, thread);
        if (!p || p->e.kind != DH_EVENT_LOCK_WAIT)
            return 0;
        for (size_t i = 0; i < n; i++)
            if (cycle[i] == thread) {
                memmove(cycle, cycle + i, (n - i) * sizeof *cycle);
                return n - i;
            }
        cycle[n++] = thread;
        thread = owner_of(w, &p->e);
    }
    return 0;
}

/* Reported for the least thread of the cycle only. */
static void report_cycle(struct dh_waits *w, uint32_t thread)
{
    uint32_t cycle[DH_LOCK_ORDER_CYCLE_MAX];
    struct dh_suspect suspects[DH_LOCK_ORDER_CYCLE_MAX];
    size_t n = find_cycle(w, thread, cycle, DH_LOCK_ORDER_CYCLE_MAX);
    if (!n || cycle[0] != thread)
        return;
    for (size_t i = 0; i < n; i++) {
        if (cycle[i] < thread)
            return;
        suspects[i] = suspect_of(w, &w->pending.at[cycle[i]].e, n == 1 ? "waits for itself" : "waits for the next");
    }
    report(w, DH_FINDING_DEADLOCK, DH_LEVEL_OBSERVED, suspects[0].addr, suspects, n,
           n == 1 ? "the thread waits for a lock that it holds itself"
                  : "each thread waits for a lock that the next one holds; the run ended there");
}

/* A thread waits for a lock that this thread holds while it waits for the condition. */
static bool report_stuck_critical(struct dh_waits *w, const struct dh_event *wait)
{
    for (uint32_t i = 0; i < w->pending.n; i++) {
        const struct pending *p = lives(w, i) ? waiting(w, i) : NULL;
        if (!p || p->e.kind != DH_EVENT_LOCK_WAIT || owner_of(w, &p->e) != wait->thread)
            continue;
        struct dh_suspect suspects[] = {suspect_of(w, wait, "waits with another lock held"),
                                        suspect_of(w, &p->e, "needs that lock")};
        report(w, DH_FINDING_CRITICAL_WAIT, DH_LEVEL_SUSPECTED, p->e.addr, suspects, 2,
               "when the run ended, every thread was waiting");
        return true;
    }
    return false;
}

static void report_stuck_wait(struct dh_waits *w, const struct dh_event *wait)
{
    const struct condition *c = find_condition(w, wait->addr);
    struct dh_suspect suspects[2] = {suspect_of(w, wait, "never ended")};
    if (c && c->lone && c->lone_signal.thread != wait->thread) {
        suspects[1] = (struct dh_suspect){.op = c->lone_signal.kind == DH_EVENT_COND_SIGNAL ? DH_OP_COND_SIGNAL
                                                                                            : DH_OP_COND_BROADCAST,
                                          .thread = c->lone_signal.thread,
                                          .site = c->lone_signal.site,
                                          .ctx = c->lone_signal.ctx,
                                          .addr = c->addr,
                                          .note = "came when nobody waited"};
        report(w, DH_FINDING_LOST_WAKEUP, DH_LEVEL_SUSPECTED, wait->addr, suspects, 2,
               "the signal came before the wait, and when the run ended every thread was waiting");
        return;
    }
    report(w, DH_FINDING_INDEFINITE_WAIT, DH_LEVEL_SUSPECTED, wait->addr, suspects, 1,
           c && c->signallers.n
               ? "when the run ended, every thread that could signal the condition was waiting itself"
               : "nobody ever signalled the condition, and when the run ended every thread was waiting");
}

static bool was_never_signalled(struct dh_waits *w, uint64_t addr)
{
    const struct condition *c = find_condition(w, addr);
    return !c || !c->signallers.n;
}

/* A condition that is never signalled is the cause; other waits are its consequence. */
static void report_stuck(struct dh_waits *w)
{
    bool never = false, reported = false;
    for (uint32_t i = 0; i < w->pending.n; i++)
        if (w->pending.at[i].on && w->pending.at[i].e.kind == DH_EVENT_COND_WAIT && lives(w, i)) {
            reported = report_stuck_critical(w, &w->pending.at[i].e) || reported;
            never = never || was_never_signalled(w, w->pending.at[i].e.addr);
        }
    for (uint32_t i = 0; i < w->pending.n && !reported; i++) {
        const struct dh_event *e = &w->pending.at[i].e;
        if (w->pending.at[i].on && e->kind == DH_EVENT_COND_WAIT && lives(w, i) &&
            (!never || was_never_signalled(w, e->addr)))
            report_stuck_wait(w, e);
    }
}

void dh_waits_end(struct dh_waits *w)
{
    for (size_t i = 0; i < w->possible.n; i++)
        judge_possible(w, &w->possible.at[i]);
    for (uint32_t i = 0; i < w->conditions.n; i++)
        judge(w, w->conditions.at[i].pointer);
    for (uint32_t i = 0; i < w->pending.n; i++)
        if (lives(w, i))
            report_cycle(w, i);
    if (is_stuck(w))
        report_stuck(w);
}

void dh_waits_free(struct dh_waits *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->conditions.n; i++)
        free_condition(w->conditions.at[i].pointer);
    for (size_t i = 0; i < w->possible.n; i++) {
        dh_hb_snapshot_unref(w->possible.at[i].wait.when);
        free(w->possible.at[i].wait.held);
    }
    dh_u64_map_release(&w->conditions);
    dh_vec_release(&w->possible);
    dh_bitset_release(&w->wait_free);
    dh_vec_release(&w->pending);
    free(w);
}
