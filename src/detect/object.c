/* Object race detection (003 §7.1): one state, one lock set and a few accesses for each object or field, not for each
 * byte. The states of the ownership model, Fig. 7.1:
 *   init, owned        only the owner accesses it; nothing is tracked. The two differ for an instrumenter only.
 *   handoff            one other thread, the second owner, accesses it. The lock set is refined, nothing is reported.
 *   shared             a third thread does, or the first owner again: once it was written since the hand-off, some lock
 *                      must have been held at all accesses since.
 *   conflict           it was reported.
 * After Fig. 7.4 with its errata: a write in handoff or shared is remembered (or-ed), the first one of the hand-off,
 * too.
 *
 * Deviations. A write counts locks held exclusively only. A report needs two accesses to common bytes without a common
 * lock that, in the way called hybrid, only locks order (learned_order.h); so a second hand-off, a barrier, two fields
 * with a lock each and the halves of an array are silent; --lockset=eraser reports every violation. An object in
 * conflict is checked further: only the reported pair of places is not reported again, so that one field does not mask
 * another. Accesses are attributed to where they happen, never to a caller. An array counts as one field. Atomics are
 * left to the race detector and to lockset. */
#include "detect/object.h"

#include "base/alloc.h"
#include "base/str.h"
#include "base/vec.h"
#include "detect/detector.h"
#include "detect/granule_map.h"
#include "detect/learned_order.h"
#include "detect/ownership.h"
#include "detect/pool.h"
#include "detect/reported_pairs.h"
#include "detect/segments.h"
#include "event/site.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 16, MOST_FIELDS = 256 /* bytes: a larger access is not to a field */ };

enum phase { OWNED, HANDOFF, SHARED, CONFLICT };

struct state {
    uint8_t phase;
    bool wrote;
    uint8_t mask;    /* of fields: the bytes that have always been accessed together */
    uint32_t second; /* owner, in handoff */
    uint32_t locks;  /* set */
};

/* An access that may be one side of a report. */
struct record {
    uint32_t segment, site, ctx;
    uint32_t thread, any, exclusive; /* copies from the segment, for locality */
    uint64_t low, high;              /* bytes, high excluded */
    uint8_t op, flags;
    bool write, is_global;
};

/* The latest accesses, oldest first. */
enum { FEW = 2 };
struct records {
    uint32_t n, cap;
    struct record *more; /* NULL: they are in `few` */
    struct record few[FEW];
};

/* What has one state: an object, or an array in it. */
struct unit {
    struct unit *next; /* of the object */
    uint64_t name;     /* of the array; 0: the object */
    struct state state;
    struct records records;
};

/* Eight bytes by field: fields do not overlap, so each byte has the state of its field. Bytes of no part are owned. */
struct fields {
    struct records records;
    uint8_t n_parts;
    struct state parts[DH_GRANULE_BYTES];
};

struct objects {
    struct dh_run_state *run;
    struct dh_segments *segments;
    struct dh_learned_order *learned;
    struct dh_ownership *owners;
    bool whole, eraser;
    struct dh_granule_map granules; /* numbers of fields */
    struct dh_pool fields;
    struct dh_reported_pairs reported;
    struct dh_object_counts counts;
    struct record now; /* the access being checked */
    struct dh_owned_object *object;
    uint32_t thread;
};

extern const struct dh_detector dh_detector_object;

const struct dh_object_counts *dh_object_counts(const void *detector)
{
    return &((const struct objects *)detector)->counts;
}

/* ---- states ---- */

/* True when it is shared, written and without a lock. */
static bool advance(struct objects *s, struct state *x)
{
    struct dh_locksets *sets = dh_segments_locksets(s->segments);
    if (x->phase == OWNED)
        *x = (struct state){.phase = HANDOFF, .mask = x->mask, .second = s->thread, .locks = DH_LOCKSET_ALL};
    x->wrote = x->wrote || s->now.write;
    if (x->phase == HANDOFF && x->second != s->thread)
        x->phase = SHARED;
    uint32_t held = s->now.write ? s->now.exclusive : s->now.any;
    if (x->locks != held && x->locks != DH_LOCKSET_NONE) {
        uint32_t locks = dh_locksets_intersect(sets, x->locks, held);
        dh_locksets_unref(sets, x->locks);
        x->locks = locks;
    }
    return x->phase >= SHARED && x->wrote && x->locks == DH_LOCKSET_NONE;
}

static bool is_tracked(const struct objects *s, const struct state *x)
{
    return x->phase != OWNED || s->object->owner != s->thread;
}

/* Counts each state that the object reaches once. */
static void reach(struct objects *s, uint8_t step)
{
    uint64_t *const counts[] = {&s->counts.init, &s->counts.handoff, &s->counts.shared_read, &s->counts.shared_modified,
                                &s->counts.conflict};
    for (uint8_t *reached = &s->object->reached; *reached < step; ++*reached)
        ++*counts[*reached];
}

static void reach_state(struct objects *s, const struct state *x, bool violated)
{
    reach(s, violated ? 5 : x->phase < SHARED ? 2 : x->wrote ? 4 : 3);
}

/* ---- accesses ---- */

static struct record *record_at(struct records *r, size_t i)
{
    return &(r->more ? r->more : r->few)[i];
}

static const struct record *get_record(const struct records *r, size_t i)
{
    return &(r->more ? r->more : r->few)[i];
}

static void drop_records(struct objects *s, struct records *r)
{
    for (size_t i = 0; i < r->n; i++)
        dh_segments_unref(s->segments, record_at(r, i)->segment);
    free(r->more);
    r->more = NULL;
    r->n = r->cap = 0;
}

static void drop_record(struct objects *s, struct records *r, size_t i)
{
    dh_segments_unref(s->segments, record_at(r, i)->segment);
    memmove(record_at(r, i), record_at(r, i + 1), (--r->n - i) * sizeof(struct record));
}

static void add_record(struct records *r, const struct record *now)
{
    if (r->n == (r->more ? r->cap : FEW)) {
        r->cap = 2 * r->n;
        struct record *more = realloc(r->more, r->cap * sizeof *more);
        if (!more)
            abort();
        if (!r->more)
            memcpy(more, r->few, sizeof r->few);
        r->more = more;
    }
    *record_at(r, r->n++) = *now;
}

/* In a loop over an array the next access goes on where the last one ended. */
static bool extend(struct record *old, const struct record *now)
{
    if (old->segment != now->segment || old->site != now->site || old->op != now->op || old->ctx != now->ctx ||
        old->high < now->low || now->high < old->low)
        return false;
    old->low = old->low < now->low ? old->low : now->low;
    old->high = old->high > now->high ? old->high : now->high;
    return true;
}

static bool same_thread(const struct objects *s, const struct record *r)
{
    return r->thread == s->thread;
}

/* The thread's older access is implied by this one. */
static bool replaces(struct objects *s, const struct record *old, const struct record *now)
{
    return old->site == now->site && old->op == now->op && old->low >= now->low && old->high <= now->high &&
           same_thread(s, old) &&
           dh_segments_lock_sets_within(s->segments, now->any, now->exclusive, old->any, old->exclusive);
}

/* The oldest one, of the thread itself when most are its own: it can only race with others'. */
static size_t dispensable(struct objects *s, const struct records *r)
{
    size_t own = 0, first = 0;
    for (size_t i = r->n; i-- > 0;)
        if (same_thread(s, get_record(r, i))) {
            own++;
            first = i;
        }
    return 2 * own > r->n ? first : 0;
}

static void keep(struct objects *s, struct records *r)
{
    const struct record *now = &s->now;
    for (size_t i = r->n; i-- > 0;) {
        if (extend(record_at(r, i), now))
            return;
        if (replaces(s, record_at(r, i), now)) {
            drop_record(s, r, i);
            break;
        }
    }
    if (r->n == RECORDS)
        drop_record(s, r, dispensable(s, r));
    dh_segments_ref(s->segments, now->segment);
    add_record(r, now);
}

/* ---- reporting ---- */

static struct dh_suspect suspect(const struct objects *s, const struct record *r)
{
    const struct dh_segment *m = dh_segments_get(s->segments, r->segment);
    return (struct dh_suspect){.op = r->op,
                               .flags = r->flags,
                               .thread = m->thread,
                               .site = r->site,
                               .ctx = r->ctx,
                               .addr = r->low,
                               .size = r->high - r->low,
                               .locks = dh_segment_held(m),
                               .n_locks = m->n_held};
}

static void report(struct objects *s, const struct record *then, const char *text)
{
    const struct record *now = &s->now;
    struct dh_reported_access sides[] = {{then->site, then->op}, {now->site, now->op}};
    if (!dh_reported_pairs_add(&s->reported, sides[0], sides[1], now->low))
        return;
    uint64_t low = then->low > now->low ? then->low : now->low, high = then->high < now->high ? then->high : now->high;
    struct dh_suspect two[] = {suspect(s, then), suspect(s, now)};
    struct dh_suspicion x = {.kind = DH_FINDING_RACE,
                             .level = DH_LEVEL_SUSPECTED,
                             .addr = low < high ? low : now->low,
                             .size = low < high ? high - low : now->high - now->low,
                             .suspects = two,
                             .n_suspects = 2,
                             .text = text};
    dh_run_report(s->run, &dh_detector_object, &x);
}

static bool conflicts(const struct objects *s, const struct record *then)
{
    return (then->write || s->now.write) && !same_thread(s, then);
}

/* The bytes to check: all of an object, or those of a granule whose lock set became empty. */
struct bytes {
    bool all, again; /* again: the object is in conflict already, so only overlapping accesses count */
    uint64_t granule;
    unsigned mask;
};

static bool overlaps(const struct record *a, const struct record *b, const struct bytes *in)
{
    uint64_t low = a->low > b->low ? a->low : b->low, high = a->high < b->high ? a->high : b->high;
    if (in->all)
        return low < high;
    for (; low < high; low++)
        if (in->mask >> (low - in->granule) & 1)
            return true;
    return false;
}

static bool is_locked(const struct record *r)
{
    return r->any != DH_LOCKSET_NONE;
}

/* Every pair that may be a race, and nothing else. */
static bool report_pairs(struct objects *s, const struct records *r, const struct bytes *in)
{
    bool any = false;
    for (size_t i = r->n; i-- > 0;) {
        const struct record *then = get_record(r, i);
        enum dh_hb_strength strength =
            dh_hb_strength_between(then->is_global && s->now.is_global, is_locked(then) && is_locked(&s->now));
        if (!overlaps(then, &s->now, in) || !conflicts(s, then) ||
            dh_segments_share_lock(s->segments, then->segment, s->now.segment) ||
            dh_segments_happens_before(s->segments, then->segment, s->thread, strength))
            continue;
        report(s, then, "the object has no lock that all threads hold, and nothing but locks orders the accesses");
        any = true;
    }
    return any;
}

/* The violation as the paper has it, with the access that explains it best. */
static bool report_violation(struct objects *s, const struct records *r, const struct bytes *in)
{
    const struct record *best = NULL;
    int merit = in->all && !in->again ? -1 : 1;
    for (size_t i = r->n; i-- > 0;) {
        const struct record *then = get_record(r, i);
        int its = 2 * overlaps(then, &s->now, in) + !dh_segments_share_lock(s->segments, then->segment, s->now.segment);
        if (conflicts(s, then) && its > merit) {
            best = then;
            merit = its;
        }
    }
    if (best)
        report(s, best, "no lock is held at all accesses to the object since threads share it");
    return best != NULL;
}

static bool judge(struct objects *s, const struct records *r, struct bytes in)
{
    return s->eraser ? report_violation(s, r, &in) : report_pairs(s, r, &in);
}

/* ---- objects and arrays ---- */

static struct unit *unit_of(struct dh_owned_object *o, uint64_t name, bool make)
{
    for (struct unit *u = o->state; u; u = u->next)
        if (u->name == name)
            return u;
    struct unit *u = make ? DH_NEW(struct unit) : NULL;
    if (u) {
        u->name = name;
        u->next = o->state;
        o->state = u;
    }
    return u;
}

static void visit_unit(struct objects *s, uint64_t name)
{
    struct unit *u = unit_of(s->object, name, s->object->owner != s->thread);
    if (!u || !is_tracked(s, &u->state))
        return;
    bool violated = advance(s, &u->state);
    reach_state(s, &u->state, violated);
    struct bytes all = {.all = true, .again = u->state.phase == CONFLICT};
    if (violated && judge(s, &u->records, all))
        u->state.phase = CONFLICT;
    keep(s, &u->records);
}

static void drop_object(void *arg, struct dh_owned_object *o)
{
    struct objects *s = arg;
    for (struct unit *u = o->state, *next; u; u = next) {
        next = u->next;
        drop_records(s, &u->records);
        dh_locksets_unref(dh_segments_locksets(s->segments), u->state.locks);
        free(u);
    }
}

/* ---- fields ---- */

/* The bytes of the mask are a part, or several, of their own from here on. */
static void split(struct objects *s, struct fields *f, unsigned mask)
{
    for (size_t i = 0, n = f->n_parts; i < n; i++) {
        struct state *p = &f->parts[i];
        unsigned inside = p->mask & mask;
        if (!inside || inside == p->mask)
            continue;
        f->parts[f->n_parts] = *p;
        f->parts[f->n_parts++].mask = (uint8_t)inside;
        p->mask &= (uint8_t)~mask;
        dh_locksets_ref(dh_segments_locksets(s->segments), p->locks);
    }
}

/* Returns the bytes that violate the discipline now. */
static unsigned advance_parts(struct objects *s, struct fields *f, unsigned mask, bool *tracked)
{
    unsigned violated = 0, left = mask;
    split(s, f, mask);
    for (size_t i = 0; i < f->n_parts; i++)
        left &= ~(unsigned)f->parts[i].mask;
    if (left && s->object->owner != s->thread)
        f->parts[f->n_parts++] = (struct state){.mask = (uint8_t)left};
    for (size_t i = 0; i < f->n_parts; i++) {
        struct state *p = &f->parts[i];
        if (!(p->mask & mask))
            continue;
        bool bad = advance(s, p);
        *tracked = true;
        reach_state(s, p, bad);
        violated |= bad ? p->mask : 0;
    }
    return violated;
}

static uint32_t field_step(void *arg, uint32_t id, uint64_t granule, unsigned mask)
{
    struct objects *s = arg;
    uint64_t low = s->now.low, high = s->now.high;
    if (!id && s->object->owner == s->thread)
        return 0;
    id = id ? id : dh_pool_alloc(&s->fields);
    struct fields *f = dh_pool_at(&s->fields, id);
    bool tracked = false;
    unsigned violated = advance_parts(s, f, mask, &tracked);
    s->now.low = low > granule ? low : granule;
    s->now.high = high < granule + DH_GRANULE_BYTES ? high : granule + DH_GRANULE_BYTES;
    bool reported = violated && judge(s, &f->records, (struct bytes){.granule = granule, .mask = violated});
    for (size_t i = 0; reported && i < f->n_parts; i++)
        if (violated & f->parts[i].mask)
            f->parts[i].phase = CONFLICT;
    if (tracked)
        keep(s, &f->records);
    s->now.low = low;
    s->now.high = high;
    return id;
}

/* A record that overlaps freed bytes is dropped. */
static bool forgets(const struct record *r, uint64_t granule, unsigned mask)
{
    for (uint64_t at = r->low; at < r->high; at++)
        if (mask >> (at - granule) & 1)
            return true;
    return false;
}

static uint32_t forget_step(void *arg, uint32_t id, uint64_t granule, unsigned mask)
{
    struct objects *s = arg;
    struct fields *f = dh_pool_at(&s->fields, id);
    split(s, f, mask);
    for (size_t i = f->n_parts; i-- > 0;)
        if (f->parts[i].mask & mask) {
            dh_locksets_unref(dh_segments_locksets(s->segments), f->parts[i].locks);
            f->parts[i] = f->parts[--f->n_parts];
        }
    for (size_t i = f->records.n; mask != 0xFF && i-- > 0;)
        if (forgets(get_record(&f->records, i), granule, mask))
            drop_record(s, &f->records, i);
    if (mask != 0xFF)
        return id;
    drop_records(s, &f->records);
    dh_pool_free(&s->fields, id);
    return 0;
}

/* ---- events ---- */

/* As long as only its owner accesses an object there is nothing to track. */
static bool is_owners_own(struct objects *s, const struct dh_event *e)
{
    s->object = dh_ownership_access(s->owners, e->addr, e->thread);
    if (!s->object->reached)
        reach(s, 1);
    return !s->object->shared;
}

static void visit_units(struct objects *s)
{
    for (struct unit *u = s->object->state; u; u = u->next)
        visit_unit(s, u->name);
}

static void check_access(struct objects *s, const struct dh_event *e, uint64_t size)
{
    uint64_t array = s->whole ? 0 : dh_learned_order_array_of(s->learned, e->site);
    if (s->whole || array) {
        visit_unit(s, array);
        return;
    }
    if (size > MOST_FIELDS)
        unit_of(s->object, 1, s->object->owner != s->thread);
    else
        dh_granule_map_update(&s->granules, e->addr, size, field_step, s);
    if (size > 2 * DH_GRANULE_BYTES)
        visit_units(s);
}

static void access(void *arg, const struct dh_event *e, uint32_t segment)
{
    struct objects *s = arg;
    bool write = e->kind == DH_EVENT_WRITE;
    if (!e->arg || is_owners_own(s, e))
        return;
    uint64_t room = s->object->at + s->object->size - e->addr, size = e->arg < room ? e->arg : room;
    const struct dh_segment *m = dh_segments_get(s->segments, segment);
    s->thread = e->thread;
    s->now = (struct record){.segment = segment,
                             .thread = e->thread,
                             .any = m->any,
                             .exclusive = m->exclusive,
                             .site = e->site,
                             .ctx = e->ctx,
                             .op = write ? DH_OP_WRITE : DH_OP_READ,
                             .flags = e->flags,
                             .write = write,
                             .is_global = dh_learned_order_is_global(s->learned, e->site),
                             .low = e->addr,
                             .high = e->addr + size};
    check_access(s, e, size);
}

static void prefetch(void *arg, const struct dh_event *e)
{
    const struct objects *s = arg;
    const uint32_t *cell = dh_granule_map_prefetch(&s->granules, e->addr);
    if (cell && *cell) {
        const char *fields = dh_pool_at(&s->fields, *cell);
        __builtin_prefetch(fields);
        __builtin_prefetch(fields + DH_POOL_ALIGN);
    }
}

/* An access under a lock may be part of an ownership transfer, unless it is to the thread's own stack. */
static bool is_irrelevant(struct objects *s, const struct dh_event *e)
{
    bool local, own = dh_ownership_is_own(s->owners, e->addr, e->thread, &local);
    if (!own) {
        own = is_owners_own(s, e);
        local = s->object->local;
    }
    return own && (local || !dh_run_thread(s->run, e->thread)->held.n);
}

static void event(void *self, const struct dh_event *e)
{
    struct objects *s = self;
    if (dh_event_is_access(e)) {
        if (!is_irrelevant(s, e)) {
            dh_granule_map_prefetch(&s->granules, e->addr);
            dh_learned_order_access(s->learned, e);
        }
        return;
    }
    dh_learned_order_event(s->learned, e);
    if (e->kind == DH_EVENT_ALLOC || e->kind == DH_EVENT_FREE) {
        dh_granule_map_visit(&s->granules, e->addr, e->arg, forget_step, s);
        dh_ownership_forget(s->owners, e->addr, e->arg);
    }
    dh_segments_event(s->segments, e);
}

static void end_stream(void *self)
{
    struct objects *s = self;
    dh_learned_order_flush(s->learned);
}

/* ---- the detector ---- */

static bool choose(const struct dh_detector_options *o, const char *key, const char *yes, const char *no, bool *is)
{
    const char *word = o && o->get ? o->get(o->arg, key) : NULL;
    *is = word && strcmp(word, yes) == 0;
    return !word || *is || strcmp(word, no) == 0;
}

static bool may_defer(const struct dh_detector_options *o)
{
    bool eraser;
    return choose(o, "lockset", "eraser", "hybrid", &eraser) && !eraser;
}

static void *begin_detector(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    bool whole, eraser;
    if (!choose(o, "granularity", "object", "field", &whole)) {
        *why = "--granularity takes object or field";
        return NULL;
    }
    if (!choose(o, "lockset", "eraser", "hybrid", &eraser)) {
        *why = "--lockset takes eraser or hybrid";
        return NULL;
    }
    struct objects *s = DH_NEW(struct objects);
    s->run = w;
    s->whole = whole;
    s->eraser = eraser;
    s->segments = dh_segments_new(w);
    s->learned = dh_learned_order_new(w, s->segments, access, s);
    dh_learned_order_set_prefetch(s->learned, prefetch);
    s->owners = dh_ownership_new(w, drop_object, s);
    dh_granule_map_init(&s->granules);
    dh_pool_init(&s->fields, sizeof(struct fields));
    return s;
}

static void release(void *self)
{
    struct objects *s = self;
    if (!s)
        return;
    dh_ownership_free(s->owners);
    dh_granule_map_release(&s->granules, NULL, NULL);
    for (uint32_t i = 1; i < s->fields.n; i++)
        free(((struct fields *)dh_pool_at(&s->fields, i))->records.more);
    dh_learned_order_free(s->learned);
    dh_segments_free(s->segments);
    dh_pool_release(&s->fields);
    dh_reported_pairs_release(&s->reported);
    free(s);
}

static void count(const void *self, struct dh_str *out)
{
    const struct dh_object_counts *c = dh_object_counts(self);
    dh_str_addf(out, "object: %llu init, %llu handoff, %llu shared-read, %llu shared-modified, %llu conflict\n",
                (unsigned long long)c->init, (unsigned long long)c->handoff, (unsigned long long)c->shared_read,
                (unsigned long long)c->shared_modified, (unsigned long long)c->conflict);
}

const struct dh_detector dh_detector_object = {
    .name = "object",
    .summary = "objects that threads share without a lock in common (--granularity=object|field)",
    .events = DH_EVENTS_ACCESS | DH_EVENTS_ATOMIC | DH_EVENTS_MEMORY | DH_EVENTS_LOCK | DH_EVENTS_CONDITION |
              DH_EVENTS_ORDER | DH_EVENTS_THREAD,
    .begin = begin_detector,
    .event = event,
    .end = end_stream,
    .release = release,
    .may_defer = may_defer,
    .count = count,
};
