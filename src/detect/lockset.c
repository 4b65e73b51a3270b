/* Lock sets (Eraser; 002 Fig. 2; 003 §2.2.2): is some lock held at all accesses to a variable? Two ways:
 *   eraser  for each byte a state (virgin, exclusive, shared, shared-modified) and the set of locks held at all
 * accesses since it is shared; a violation is an empty set once it is written. A write counts locks held exclusively, a
 *           read any. Nothing but locks orders anything.
 *   hybrid  for each pair of accesses: different threads, one writes, no common lock, and unordered by happens-before
 *           without lock edges (learned_order.h says which of these count after all). It is neither misled by the order
 *           of the first accesses, nor by three accesses of which any two have a common lock (002 Fig. 6).
 * In hybrid, what is dropped from a granule's history is implied by what is kept, up to MOST_RECORDS records. */
#include "base/alloc.h"
#include "base/vec.h"
#include "detect/access_history.h"
#include "detect/detector.h"
#include "detect/granule_map.h"
#include "detect/learned_order.h"
#include "detect/reported_pairs.h"
#include "detect/segments.h"
#include "event/scope_table.h"
#include "event/site.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_RECORDS = 32, FEW_RECORDS = 6, MOST_BYTES = 1 << 28 };

enum phase { VIRGIN, EXCLUSIVE, SHARED, SHARED_MODIFIED };

/* Eraser's state of a byte. */
struct byte {
    uint8_t phase;
    uint32_t owner; /* while exclusive */
    uint32_t locks; /* set, once shared */
};
struct bytes {
    struct byte at[DH_GRANULE_BYTES];
};

/* The access being checked. */
struct check {
    struct dh_access_record record;
    uint32_t thread;
    bool repeatable; /* its effect on a history depends on the record only */
    bool many;       /* granules: worth caching */
    /* The last step, referenced, and how often it was repeated. */
    uint32_t from, next, again;
    uint8_t mask;
};

struct lockset {
    struct dh_run_state *run;
    struct dh_segments *segments;
    struct dh_learned_order *learned;
    struct dh_access_histories *histories;
    struct dh_granule_map granules; /* histories */
    bool eraser;
    struct dh_granule_map states; /* eraser: numbers of `bytes` */
    DH_VEC(struct bytes) bytes;
    DH_VEC(uint32_t) unused;
    struct dh_reported_pairs reported, steps_reported;
    struct check check;
};

extern const struct dh_detector dh_detector_lockset;

/* ---- reporting ---- */

/* The bytes of `mask` that lie around `first` without a gap. */
static unsigned around(unsigned mask, unsigned first, unsigned *size)
{
    unsigned low = first, high = first;
    while (low && mask >> (low - 1) & 1)
        low--;
    while (mask >> (high + 1) & 1)
        high++;
    *size = high - low + 1;
    return low;
}

static struct dh_suspect suspect(const struct lockset *l, const struct dh_access_record *r, uint64_t granule,
                                 unsigned first)
{
    const struct dh_segment *m = dh_segments_get(l->segments, r->segment);
    unsigned size, low = around(r->mask, first, &size);
    return (struct dh_suspect){.op = r->op,
                               .flags = r->flags,
                               .thread = m->thread,
                               .site = r->site,
                               .ctx = r->ctx,
                               .addr = granule + low,
                               .size = size,
                               .locks = dh_segment_held(m),
                               .n_locks = m->n_held};
}

/* A race on a variable that is read and then updated, or tested and then used, is an atomicity violation, too: a write
 * between the steps is lost, or invalidates the test. */
static const char *step_text(const struct lockset *l, const struct dh_access_record *step,
                             const struct dh_access_record *other)
{
    int how = other->bits & DH_RECORD_WROTE ? dh_run_flow(l->run, step->site, DH_NO_PLACE) : 0;
    if (how <= 0 || step->bits & DH_RECORD_ATOMIC || !(step->op == DH_OP_READ || step->op == DH_OP_WRITE))
        return NULL;
    if (how & DH_FLOW_UPDATES)
        return "it is read, and written with what was computed from that: nothing keeps the other write from coming "
               "between, and one of them is lost";
    return how & DH_FLOW_CHECKS
               ? "it is read, and what comes next relies on it: nothing keeps the other write from coming between"
               : NULL;
}

/* Once for each step, whichever access comes between. */
static void report_steps(struct lockset *l, const struct dh_suspicion *race, const char *text, unsigned step)
{
    struct dh_suspect two[] = {race->suspects[step], race->suspects[!step]};
    struct dh_reported_access side = {two[0].site, two[0].op};
    struct dh_suspicion s = *race;
    if (!text || !dh_reported_pairs_add(&l->steps_reported, side, side, race->addr))
        return;
    two[0].note = "one of the steps";
    two[1].note = "can come between";
    s.kind = DH_FINDING_ATOMICITY;
    s.suspects = two;
    s.text = text;
    dh_run_report(l->run, &dh_detector_lockset, &s);
}

static void report(struct lockset *l, const struct dh_access_record *then, const struct dh_access_record *now,
                   uint64_t granule, const char *text)
{
    struct dh_reported_access sides[] = {{then->site, then->op}, {now->site, now->op}};
    if (!dh_reported_pairs_add(&l->reported, sides[0], sides[1], granule))
        return;
    unsigned both = then->mask & now->mask, first = (unsigned)__builtin_ctz(both), size;
    around(both, first, &size);
    struct dh_suspect two[] = {suspect(l, then, granule, first), suspect(l, now, granule, first)};
    struct dh_suspicion s = {.kind = DH_FINDING_RACE,
                             .level = DH_LEVEL_SUSPECTED,
                             .addr = granule + first,
                             .size = size,
                             .suspects = two,
                             .n_suspects = 2,
                             .text = text};
    dh_run_report(l->run, &dh_detector_lockset, &s);
    report_steps(l, &s, step_text(l, then, now), 0);
    report_steps(l, &s, step_text(l, now, then), 1);
}

/* ---- pairs ---- */

static bool conflict(const struct lockset *l, const struct dh_access_record *then, const struct dh_access_record *now)
{
    return (then->mask & now->mask) && ((then->bits | now->bits) & DH_RECORD_WROTE) &&
           !(then->bits & now->bits & DH_RECORD_ATOMIC) &&
           dh_segments_get(l->segments, then->segment)->thread != l->check.thread;
}

static bool unordered(const struct lockset *l, const struct dh_access_record *then, const struct dh_access_record *now)
{
    unsigned both = then->bits & now->bits;
    enum dh_hb_strength strength = dh_hb_strength_between(both & DH_RECORD_GLOBAL, both & DH_RECORD_LOCKED);
    return !dh_segments_happens_before(l->segments, then->segment, l->check.thread, strength);
}

/* Every later access that races with `then` races with `now`: it is at least as strong an access, holds no lock that
 * `then` did not, and comes after it. */
static bool implied(const struct lockset *l, const struct dh_access_record *then, const struct dh_access_record *now)
{
    bool weaker = (then->bits & ~now->bits & (DH_RECORD_WROTE | DH_RECORD_GLOBAL | DH_RECORD_LOCKED)) ||
                  (now->bits & ~then->bits & DH_RECORD_ATOMIC);
    if (weaker || !(then->mask & now->mask) || !dh_segments_locks_within(l->segments, now->segment, then->segment))
        return false;
    bool own = dh_segments_get(l->segments, then->segment)->thread == l->check.thread;
    return own || (!l->eraser && dh_segments_happens_before(l->segments, then->segment, l->check.thread, DH_HB_PLAIN));
}

static bool same_but_mask(const struct dh_access_record *a, const struct dh_access_record *b)
{
    return a->segment == b->segment && a->site == b->site && a->ctx == b->ctx && a->bits == b->bits && a->op == b->op &&
           a->flags == b->flags;
}

/* ---- hybrid ---- */

static const char hybrid_text[] = "the accesses have no lock in common, and nothing but locks orders them";

static uint32_t new_history(struct lockset *l, uint32_t old, const struct dh_access_record *now, uint64_t granule)
{
    const struct dh_access_history *h = dh_access_histories_at(l->histories, old);
    struct dh_access_record kept[MOST_RECORDS + 1], add = *now;
    size_t n = 0;
    for (size_t i = 0; h && i < h->n; i++) {
        struct dh_access_record then = h->at[i];
        if (!l->eraser && conflict(l, &then, now) && !dh_segments_share_lock(l->segments, then.segment, now->segment) &&
            unordered(l, &then, now))
            report(l, &then, now, granule, hybrid_text);
        bool many = h->n > FEW_RECORDS; /* few records are kept as they are */
        if (same_but_mask(&then, now) && (many || !(now->mask & ~then.mask))) {
            add.mask |= then.mask;
            continue;
        }
        if ((many || then.site == now->site) && implied(l, &then, now))
            then.mask &= (uint8_t)~now->mask;
        if (then.mask)
            kept[n++] = then;
    }
    if (n == MOST_RECORDS)
        memmove(kept, kept + 1, --n * sizeof *kept);
    kept[n++] = add;
    return dh_access_histories_get(l->histories, kept, n);
}

static void end_steps(struct lockset *l)
{
    struct check *check = &l->check;
    dh_access_histories_move_refs(l->histories, check->from, check->next, check->again);
    dh_access_histories_unref(l->histories, check->from);
    dh_access_histories_unref(l->histories, check->next);
    check->from = check->next = check->again = 0;
}

static uint32_t new_step(struct lockset *l, uint32_t old, uint64_t granule, unsigned mask)
{
    struct check *check = &l->check;
    end_steps(l);
    check->record.mask = check->mask = (uint8_t)mask;
    bool remember = check->repeatable && check->many;
    uint32_t next = remember ? dh_access_histories_cached_step(l->histories, old, &check->record) : 0;
    if (!next) {
        next = new_history(l, old, &check->record, granule);
        if (remember)
            dh_access_histories_cache_step(l->histories, old, &check->record, next);
    }
    if (remember) {
        check->from = dh_access_histories_ref(l->histories, old);
        check->next = dh_access_histories_ref(l->histories, next);
    }
    dh_access_histories_unref(l->histories, old);
    return next;
}

/* In a range each granule is often like the one before. */
static uint32_t history_step(void *arg, uint32_t old, uint64_t granule, unsigned mask)
{
    struct lockset *l = arg;
    struct check *check = &l->check;
    if (!check->next || old != check->from || mask != check->mask)
        return new_step(l, old, granule, mask);
    check->again++;
    return check->next;
}

static uint32_t forget_step(void *arg, uint32_t old, uint64_t granule, unsigned mask)
{
    struct lockset *l = arg;
    const struct dh_access_history *h = dh_access_histories_at(l->histories, old);
    struct dh_access_record kept[MOST_RECORDS];
    size_t n = 0;
    (void)granule;
    for (size_t i = 0; mask != 0xFF && i < h->n; i++) {
        kept[n] = h->at[i];
        kept[n].mask &= (uint8_t)~mask;
        n += kept[n].mask != 0;
    }
    uint32_t next = dh_access_histories_get(l->histories, kept, n);
    dh_access_histories_unref(l->histories, old);
    return next;
}

/* ---- eraser ---- */

static const char eraser_text[] = "no lock is held at all accesses to it since threads share it";

/* True when the byte is written, shared and has no lock left. */
static bool refine(struct lockset *l, struct byte *b)
{
    const struct dh_segment *now = dh_segments_get(l->segments, l->check.record.segment);
    struct dh_locksets *sets = dh_segments_locksets(l->segments);
    bool write = l->check.record.bits & DH_RECORD_WROTE;
    if (b->phase == VIRGIN)
        *b = (struct byte){EXCLUSIVE, l->check.thread, DH_LOCKSET_ALL};
    if (b->phase == EXCLUSIVE && b->owner == l->check.thread)
        return false;
    b->phase = write || b->phase == SHARED_MODIFIED ? SHARED_MODIFIED : SHARED;
    uint32_t locks = dh_locksets_intersect(sets, b->locks, write ? now->exclusive : now->any);
    dh_locksets_unref(sets, b->locks);
    b->locks = locks;
    return b->phase == SHARED_MODIFIED && locks == DH_LOCKSET_NONE;
}

/* The latest conflicting access without a common lock; else the latest conflicting one. */
static const struct dh_access_record *find_conflicting(struct lockset *l, const struct dh_access_history *h,
                                                       const struct dh_access_record *now)
{
    const struct dh_access_record *best = NULL;
    for (size_t i = h->n; i-- > 0;) {
        const struct dh_access_record *then = &h->at[i];
        if (!conflict(l, then, now))
            continue;
        if (!dh_segments_share_lock(l->segments, then->segment, now->segment))
            return then;
        best = best ? best : then;
    }
    return best;
}

static uint32_t violated_step(void *arg, uint32_t history, uint64_t granule, unsigned mask)
{
    struct lockset *l = arg;
    struct dh_access_record now = l->check.record; /* its mask: the bytes that are violated */
    (void)mask;
    for (unsigned left = now.mask; left; left &= left - 1) {
        now.mask = (uint8_t)(left & -left);
        const struct dh_access_record *then = find_conflicting(l, dh_access_histories_at(l->histories, history), &now);
        now.mask = l->check.record.mask;
        if (then)
            report(l, then, &now, granule, eraser_text);
    }
    return history;
}

static uint32_t refine_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct lockset *l = arg;
    unsigned violated = 0;
    uint32_t id = value;
    if (!id && l->unused.n) {
        id = l->unused.at[--l->unused.n];
    } else if (!id) {
        dh_vec_push(&l->bytes, (struct bytes){0});
        id = (uint32_t)l->bytes.n - 1;
    }
    for (unsigned i = 0; i < DH_GRANULE_BYTES; i++)
        if (mask >> i & 1 && refine(l, &l->bytes.at[id].at[i]))
            violated |= 1u << i;
    l->check.record.mask = (uint8_t)violated;
    if (violated)
        dh_granule_map_visit(&l->granules, granule, DH_GRANULE_BYTES, violated_step, l);
    return id;
}

static uint32_t virgin_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct lockset *l = arg;
    struct bytes *b = &l->bytes.at[value];
    bool any = false;
    (void)granule;
    for (unsigned i = 0; i < DH_GRANULE_BYTES; i++) {
        if (mask >> i & 1) {
            dh_locksets_unref(dh_segments_locksets(l->segments), b->at[i].locks);
            b->at[i] = (struct byte){0};
        }
        any = any || b->at[i].phase != VIRGIN;
    }
    if (!any)
        dh_vec_push(&l->unused, value);
    return any ? value : 0;
}

/* ---- events ---- */

static void check_access(struct lockset *l, const struct dh_event *e, uint64_t size, struct dh_access_record record,
                         bool repeatable)
{
    if (dh_learned_order_is_global(l->learned, e->site))
        record.bits |= DH_RECORD_GLOBAL;
    if (dh_segments_get(l->segments, record.segment)->n_held)
        record.bits |= DH_RECORD_LOCKED;
    size = size < MOST_BYTES ? size : MOST_BYTES;
    l->check = (struct check){.record = record, .thread = e->thread, .repeatable = repeatable};
    l->check.many = size > DH_GRANULE_BYTES;
    if (l->eraser && !(record.bits & DH_RECORD_ATOMIC))
        dh_granule_map_update(&l->states, e->addr, size, refine_step, l);
    dh_granule_map_update(&l->granules, e->addr, size, history_step, l);
    end_steps(l);
}

static void access(void *arg, const struct dh_event *e, uint32_t segment)
{
    bool write = e->kind == DH_EVENT_WRITE;
    struct dh_access_record r = {.segment = segment,
                                 .site = e->site,
                                 .ctx = e->ctx,
                                 .bits = write ? DH_RECORD_WROTE : 0,
                                 .op = write ? DH_OP_WRITE : DH_OP_READ,
                                 .flags = e->flags};
    check_access(arg, e, e->arg, r, true);
}

/* Its order is checked after it has acquired; but the access itself is before what it releases. */
static void atomic_access(struct lockset *l, const struct dh_event *e)
{
    uint32_t segment = dh_segments_ref(l->segments, dh_segments_current(l->segments, e->thread));
    struct dh_access_record r = {.segment = segment,
                                 .site = e->site,
                                 .ctx = e->ctx,
                                 .bits = DH_RECORD_ATOMIC | (dh_event_atomic_wrote(e) ? DH_RECORD_WROTE : 0),
                                 .op = (uint8_t)dh_event_atomic_op(e),
                                 .flags = e->flags};
    dh_segments_event(l->segments, e);
    check_access(l, e, dh_event_atomic_size(e), r, false);
    dh_segments_unref(l->segments, segment);
}

/* The use of a lock must be ordered after its initialisation; lock operations do not race with each other. Only where
 * accesses to its memory are known: most locks are never written. */
static uint32_t lock_step(void *arg, uint32_t history, uint64_t granule, unsigned mask)
{
    struct lockset *l = arg;
    const struct dh_access_history *h = dh_access_histories_at(l->histories, history);
    l->check.record.mask = (uint8_t)mask;
    for (size_t i = 0; i < h->n; i++)
        if (conflict(l, &h->at[i], &l->check.record) && unordered(l, &h->at[i], &l->check.record))
            report(l, &h->at[i], &l->check.record, granule, hybrid_text);
    return history;
}

static void lock_used(struct lockset *l, const struct dh_event *e)
{
    struct dh_access_record r = {.segment = dh_segments_latest(l->segments, e->thread),
                                 .site = e->site,
                                 .ctx = e->ctx,
                                 .bits = DH_RECORD_ATOMIC | DH_RECORD_WROTE,
                                 .op = e->flags & DH_EVENT_SHARED ? DH_OP_RDLOCK : DH_OP_LOCK,
                                 .flags = e->flags};
    l->check = (struct check){.record = r, .thread = e->thread};
    dh_granule_map_visit(&l->granules, e->addr, DH_GRANULE_BYTES, lock_step, l);
}

static void lock_initialised(struct lockset *l, const struct dh_event *e)
{
    struct dh_access_record r = {.segment = dh_segments_current(l->segments, e->thread),
                                 .site = e->site,
                                 .ctx = e->ctx,
                                 .bits = DH_RECORD_WROTE,
                                 .op = DH_OP_LOCK_INIT,
                                 .flags = e->flags};
    check_access(l, e, DH_GRANULE_BYTES, r, false);
}

static void forget(struct lockset *l, const struct dh_event *e)
{
    dh_granule_map_visit(&l->granules, e->addr, e->arg, forget_step, l);
    if (l->eraser)
        dh_granule_map_visit(&l->states, e->addr, e->arg, virgin_step, l);
}

static void event(void *self, const struct dh_event *e)
{
    struct lockset *l = self;
    if (dh_event_is_access(e)) {
        dh_learned_order_access(l->learned, e);
        return;
    }
    dh_learned_order_event(l->learned, e);
    if (e->kind == DH_EVENT_ATOMIC) {
        atomic_access(l, e);
        return;
    }
    if (e->kind == DH_EVENT_ALLOC || e->kind == DH_EVENT_FREE)
        forget(l, e);
    else if (e->kind == DH_EVENT_LOCK_INIT && !l->eraser)
        lock_initialised(l, e);
    else if (e->kind == DH_EVENT_LOCK && !l->eraser && !(e->flags & (DH_EVENT_AGAIN | DH_EVENT_WAIT)))
        lock_used(l, e);
    dh_segments_event(l->segments, e);
}

static void end_stream(void *self)
{
    struct lockset *l = self;
    dh_learned_order_flush(l->learned);
}

/* ---- the detector ---- */

static bool choose(const struct dh_detector_options *o, bool *eraser, const char **why)
{
    const char *way = o && o->get ? o->get(o->arg, "lockset") : NULL;
    *eraser = way && strcmp(way, "eraser") == 0;
    if (!way || *eraser || strcmp(way, "hybrid") == 0)
        return true;
    *why = "--lockset takes eraser or hybrid";
    return false;
}

static void *begin_detector(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    bool eraser;
    if (!choose(o, &eraser, why))
        return NULL;
    struct lockset *l = DH_NEW(struct lockset);
    l->run = w;
    l->eraser = eraser;
    l->segments = dh_segments_new(w);
    l->learned = dh_learned_order_new(w, l->segments, access, l);
    l->histories = dh_access_histories_new(l->segments);
    dh_granule_map_init(&l->granules);
    dh_granule_map_init(&l->states);
    dh_vec_push(&l->bytes, (struct bytes){0});
    return l;
}

static void release(void *self)
{
    struct lockset *l = self;
    if (!l)
        return;
    dh_granule_map_release(&l->granules, NULL, NULL);
    dh_granule_map_release(&l->states, NULL, NULL);
    dh_access_histories_free(l->histories);
    dh_learned_order_free(l->learned);
    dh_segments_free(l->segments);
    dh_vec_release(&l->bytes);
    dh_vec_release(&l->unused);
    dh_reported_pairs_release(&l->reported);
    dh_reported_pairs_release(&l->steps_reported);
    free(l);
}

const struct dh_detector dh_detector_lockset = {
    .name = "lockset",
    .summary = "accesses that no lock keeps apart and nothing else orders (--lockset=hybrid|eraser)",
    .events = DH_EVENTS_ACCESS | DH_EVENTS_ATOMIC | DH_EVENTS_MEMORY | DH_EVENTS_LOCK | DH_EVENTS_CONDITION |
              DH_EVENTS_ORDER | DH_EVENTS_THREAD,
    .begin = begin_detector,
    .event = event,
    .end = end_stream,
    .release = release,
};
