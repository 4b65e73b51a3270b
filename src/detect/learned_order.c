#include "detect/learned_order.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/set.h"
#include "base/vec.h"
#include "detect/granule_map.h"
#include "detect/pool.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DELAYED = 1 << 14, MOST_BYTES = 1 << 12, MOST_NAMES = 64, RECENT = 8, SIBLINGS = 64, LOW_PLACES = 1 << 18 };

/* What the site table says of a place. */
struct place {
    bool known, pointer, element, global;
    bool updates, reads_too; /* a write: its line reads the variable, too; the code before it does */
    uint32_t line;           /* hash of file and line */
    uint64_t subject;        /* hash of the variable's name; 0: none */
    uint64_t array;          /* dh_learned_order_array_of */
};

/* The last write of four bytes under a lock, and the last read. */
struct half {
    uint32_t written, read; /* numbers of stretches; 0: none */
    uint32_t writer;        /* segment, 0: none */
    uint32_t writer_thread;
    uint32_t site;
    uint32_t reader, read_site; /* of the last read */
    bool made_anew : 1;         /* not computed from the old value */
    bool tested : 1;            /* the writer read it before */
    bool polled : 1;            /* some thread has read it twice at one place */
    bool often : 1;             /* written in several stretches */
};
struct cell {
    struct half half[2];
};

struct learnt {
    uint32_t segment;
    enum dh_hb_strength strength;
};

/* What a thread did since it acquired its last lock. */
struct section {
    DH_VEC(struct dh_event) delayed;
    DH_VEC(uint64_t) read, written; /* names */
    bool signalled;
};

struct dh_learned_order {
    struct dh_run_state *run;
    struct dh_segments *segments;
    dh_ordered_access_fn *deliver;
    void *arg;
    struct dh_granule_map granules; /* numbers of cells */
    struct dh_pool cells;
    DH_VEC(struct section) sections; /* by thread */
    uint32_t waiting;                /* of them, with delayed accesses */
    struct place *low_places;        /* by site, below LOW_PLACES: nearly all are */
    size_t n_low_places;
    DH_VEC(struct place) high_places;
    struct dh_u64_map high_numbers; /* by site */
    struct dh_u64_set subjects;     /* hashes of names of variables on which waits depend */
    const struct dh_event *access;  /* being handled */
    uint32_t segment;
    uint32_t stretch; /* number of the delayed accesses that are handled together */
    void (*prefetch)(void *, const struct dh_event *);
    struct learnt learnt[RECENT];
    size_t n_learnt;
};

struct dh_learned_order *dh_learned_order_new(struct dh_run_state *w, struct dh_segments *m,
                                              dh_ordered_access_fn *deliver, void *arg)
{
    struct dh_learned_order *h = DH_NEW(struct dh_learned_order);
    h->run = w;
    h->segments = m;
    h->deliver = deliver;
    h->arg = arg;
    dh_granule_map_init(&h->granules);
    dh_pool_init(&h->cells, sizeof(struct cell));
    return h;
}

void dh_learned_order_set_prefetch(struct dh_learned_order *h, void (*prefetch)(void *arg, const struct dh_event *e))
{
    h->prefetch = prefetch;
}

void dh_learned_order_free(struct dh_learned_order *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->sections.n; i++) {
        dh_vec_release(&h->sections.at[i].delayed);
        dh_vec_release(&h->sections.at[i].read);
        dh_vec_release(&h->sections.at[i].written);
    }
    dh_granule_map_release(&h->granules, NULL, NULL);
    dh_vec_release(&h->sections);
    dh_pool_release(&h->cells);
    free(h->low_places);
    dh_vec_release(&h->high_places);
    dh_u64_map_release(&h->high_numbers);
    dh_u64_set_release(&h->subjects);
    free(h);
}

/* ---- places ---- */

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return dh_hash_combine(dh_hash_string(text), seed) | 1;
}

/* Sites are numbered in the order of the code. A read is not recorded when a write of the same variable follows with
 * nothing but accesses between: the instrumentation lets the write stand for both. */
static void find_earlier_reads(struct place *p, const struct dh_site_table *t, const struct dh_site *s)
{
    size_t i = ((uintptr_t)s - (uintptr_t)t->sites) / sizeof *s;
    if (i >= t->n_sites || &t->sites[i] != s || s->op != DH_OP_WRITE || !s->variable)
        return;
    for (size_t n = 0; n < SIBLINGS && i-- > 0; n++) {
        const struct dh_site *o = &t->sites[i];
        enum dh_group group = dh_op_info(o->op)->group;
        if (o->function != s->function || o->file != s->file || (group != DH_GROUP_ACCESS && group != DH_GROUP_MEMORY))
            return;
        if (o->op != DH_OP_READ || o->variable != s->variable)
            continue;
        bool same = !(s->flags & DH_SITE_ELEMENT) || (s->expr && o->expr == s->expr);
        p->reads_too = p->reads_too || same;
        p->updates = p->updates || (same && o->line == s->line);
    }
}

static void describe(struct dh_learned_order *h, uint32_t site, struct place *p)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = dh_run_site(h->run, site, &t);
    p->known = true;
    if (!s)
        return;
    const char *name = dh_site_string(t, s->variable);
    p->pointer = s->flags & DH_SITE_POINTER;
    p->element = s->flags & DH_SITE_ELEMENT;
    p->global = (s->flags & DH_SITE_GLOBAL) && !p->element;
    p->line = (uint32_t)hash_text(dh_site_string(t, s->file), s->line);
    p->subject = *name ? hash_text(name, 0) : 0;
    find_earlier_reads(p, t, s);
    if (*name && name[strlen(name) - 1] == ']')
        p->array = strchr(name, '.') ? p->subject : 1;
}

static struct place *low_place(struct dh_learned_order *h, uint32_t site)
{
    if (site >= h->n_low_places) {
        size_t n = 2 * (size_t)site + 256;
        DH_GROW_ARRAY(h->low_places, n);
        memset(h->low_places + h->n_low_places, 0, (n - h->n_low_places) * sizeof *h->low_places);
        h->n_low_places = n;
    }
    return &h->low_places[site];
}

static struct place *high_place(struct dh_learned_order *h, uint32_t site)
{
    uint32_t i = dh_u64_map_number(&h->high_numbers, site);
    if (i == h->high_places.n)
        dh_vec_push(&h->high_places, (struct place){0});
    return &h->high_places.at[i];
}

/* Valid until another place is asked for. */
static const struct place *place_of(struct dh_learned_order *h, uint32_t site)
{
    struct place *p = site < LOW_PLACES ? low_place(h, site) : high_place(h, site);
    if (!p->known)
        describe(h, site, p);
    return p;
}

bool dh_learned_order_is_global(struct dh_learned_order *h, uint32_t site)
{
    return place_of(h, site)->global;
}

uint64_t dh_learned_order_array_of(struct dh_learned_order *h, uint32_t site)
{
    return place_of(h, site)->array;
}

/* ---- what waits depend on ---- */

static bool is_subject(const struct dh_learned_order *h, uint64_t subject)
{
    return subject && dh_u64_set_has(&h->subjects, subject);
}

static void add_subject(struct dh_learned_order *h, uint64_t subject)
{
    dh_u64_set_add(&h->subjects, subject);
}

/* ---- cells ---- */

static void clear_half(struct dh_learned_order *h, struct half *half)
{
    if (half->writer)
        dh_segments_unref(h->segments, half->writer);
    *half = (struct half){0};
}

static struct cell *cell_at(const struct dh_learned_order *h, uint32_t id)
{
    return dh_pool_at(&h->cells, id);
}

static uint32_t forget_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct dh_learned_order *h = arg;
    struct cell *c = cell_at(h, value);
    (void)granule;
    for (int i = 0; i < 2; i++)
        if (mask >> 4 * i & 0xF)
            clear_half(h, &c->half[i]);
    if (c->half[0].writer || c->half[0].read || c->half[1].writer || c->half[1].read)
        return value;
    dh_pool_free(&h->cells, value);
    return 0;
}

static void set_moment(struct dh_learned_order *h, uint32_t *at, uint32_t segment)
{
    dh_segments_ref(h->segments, segment);
    if (*at)
        dh_segments_unref(h->segments, *at);
    *at = segment;
}

static uint32_t write_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct dh_learned_order *h = arg;
    const struct place p = *place_of(h, h->access->site); /* a copy: asking for others may move it */
    uint32_t id = value ? value : dh_pool_alloc(&h->cells);
    (void)granule;
    for (int i = 0; i < 2; i++) {
        struct half *half = &cell_at(h, id)->half[i];
        if (!(mask >> 4 * i & 0xF))
            continue;
        bool read = half->read == h->stretch,
             anew = !p.updates && (!read || place_of(h, half->read_site)->line != p.line);
        bool more = half->written == h->stretch; /* earlier writes in this stretch count as well */
        half->made_anew = anew && (!more || half->made_anew);
        half->often = half->often || (half->written && !more);
        half->tested = read || p.reads_too || (more && half->tested);
        half->written = h->stretch;
        half->writer_thread = h->access->thread;
        set_moment(h, &half->writer, h->segment);
        half->site = h->access->site;
    }
    return id;
}

static uint32_t mark_read_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct dh_learned_order *h = arg;
    uint32_t id = value ? value : dh_pool_alloc(&h->cells);
    (void)granule;
    for (int i = 0; i < 2; i++)
        if (mask >> 4 * i & 0xF) {
            struct half *half = &cell_at(h, id)->half[i];
            bool again = half->reader == h->access->thread && half->read_site == h->access->site;
            half->polled = half->polled || (half->read && half->read != h->stretch && again);
            half->read = h->stretch;
            half->reader = h->access->thread;
            half->read_site = h->access->site;
        }
    return id;
}

static struct section *section_of(struct dh_learned_order *h, uint32_t thread)
{
    if (thread >= DH_RUN_THREADS_MAX)
        return NULL;
    while (h->sections.n <= thread)
        dh_vec_push(&h->sections, (struct section){0});
    return &h->sections.at[thread];
}

/* ---- learning ---- */

/* Cached: learning the same again changes nothing. */
static bool has_learnt(struct dh_learned_order *h, uint32_t segment, enum dh_hb_strength strength)
{
    for (size_t i = 0; i < RECENT; i++)
        if (h->learnt[i].segment == segment && h->learnt[i].strength <= strength)
            return true;
    h->learnt[h->n_learnt++ % RECENT] = (struct learnt){segment, strength};
    return false;
}

static bool have_common_lock(const struct dh_segment *writer, const struct dh_segment *reader)
{
    const struct dh_lock_hold *theirs = dh_segment_held(writer), *ours = dh_segment_held(reader);
    for (size_t i = 0; i < writer->n_held; i++)
        for (size_t j = 0; !theirs[i].shared && j < reader->n_held; j++)
            if (ours[j].id == theirs[i].id)
                return true;
    return false;
}

/* How strong is the order that reading it proves; DH_HB_STRENGTHS: none. */
static enum dh_hb_strength order_of(struct dh_learned_order *h, const struct half *half, const struct place *p)
{
    bool again =
        half->polled || (half->read && half->reader == h->access->thread && half->read_site == h->access->site);
    bool flag = half->made_anew && !half->often && !p->pointer && !p->element && (half->tested || again);
    if (flag || is_subject(h, p->subject) || is_subject(h, place_of(h, half->site)->subject))
        return DH_HB_SIGNALLED;
    return half->made_anew || p->pointer ? DH_HB_TRANSFERRED : DH_HB_STRENGTHS;
}

static void learn_from(struct dh_learned_order *h, const struct half *half, const struct place *p)
{
    enum dh_hb_strength strength = order_of(h, half, p);
    if (strength == DH_HB_STRENGTHS || has_learnt(h, half->writer, strength))
        return;
    const struct dh_segment *reader = dh_segments_get(h->segments, h->segment);
    if (have_common_lock(dh_segments_get(h->segments, half->writer), reader))
        dh_segments_learn(h->segments, h->access->thread, half->writer, strength);
}

static uint32_t learn_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct dh_learned_order *h = arg;
    (void)granule;
    for (int i = 0; i < 2; i++) {
        const struct half *half = &cell_at(h, value)->half[i];
        if (!(mask >> 4 * i & 0xF) || !half->writer || half->writer_thread == h->access->thread)
            continue;
        struct place p = *place_of(h, h->access->site); /* a copy: asking for others may move it */
        learn_from(h, half, &p);
    }
    return value;
}

/* ---- accesses under locks ---- */

static void record_names(struct dh_learned_order *h, struct section *s, const struct dh_event *e)
{
    const struct place *p = place_of(h, e->site);
    uint64_t name = p->subject;
    bool write = e->kind == DH_EVENT_WRITE, read = !write || p->reads_too;
    if (!name || is_subject(h, name))
        return;
    if (write && s->signalled)
        add_subject(h, name);
    else if (write && s->written.n < MOST_NAMES)
        dh_vec_push(&s->written, name);
    if (read && s->read.n < MOST_NAMES)
        dh_vec_push(&s->read, name);
}

static bool is_read(struct dh_learned_order *h, const struct dh_event *e)
{
    return e->kind == DH_EVENT_READ || place_of(h, e->site)->reads_too;
}

static void step(struct dh_learned_order *h, const struct dh_event *e, bool known, dh_granule_update_fn *what)
{
    uint64_t size = e->arg < MOST_BYTES ? e->arg : MOST_BYTES;
    h->access = e;
    (known ? dh_granule_map_visit : dh_granule_map_update)(&h->granules, e->addr, size, what, h);
}

static void prefetch_delayed(struct dh_learned_order *h, const struct section *s)
{
    for (size_t i = 0; i < s->delayed.n; i++) {
        const uint32_t *cell = dh_granule_map_prefetch(&h->granules, s->delayed.at[i].addr);
        if (cell && *cell)
            __builtin_prefetch(cell_at(h, *cell));
        if (h->prefetch)
            h->prefetch(h->arg, &s->delayed.at[i]);
    }
}

/* First what this thread learns from others, then what others can learn from it. */
static bool exchange(struct dh_learned_order *h, const struct section *s, uint32_t thread)
{
    bool writes = false;
    h->segment = dh_segments_latest(h->segments, thread);
    h->stretch += h->stretch == UINT32_MAX ? 2 : 1;
    memset(h->learnt, 0, sizeof h->learnt);
    for (size_t i = 0; i < s->delayed.n; i++)
        if (is_read(h, &s->delayed.at[i]))
            step(h, &s->delayed.at[i], true, learn_step);
    h->segment = dh_segments_latest(h->segments, thread);
    for (size_t i = 0; i < s->delayed.n; i++)
        if (s->delayed.at[i].kind == DH_EVENT_READ)
            step(h, &s->delayed.at[i], false, mark_read_step);
    for (size_t i = 0; i < s->delayed.n; i++)
        if (s->delayed.at[i].kind == DH_EVENT_WRITE) {
            step(h, &s->delayed.at[i], false, write_step);
            writes = true;
        }
    return writes;
}

static void flush(struct dh_learned_order *h, uint32_t thread)
{
    struct section *s = section_of(h, thread);
    if (!s || !s->delayed.n)
        return;
    prefetch_delayed(h, s);
    bool writes = exchange(h, s, thread);
    for (size_t i = 0; i < s->delayed.n; i++) {
        record_names(h, s, &s->delayed.at[i]);
        h->deliver(h->arg, &s->delayed.at[i], h->segment);
    }
    s->delayed.n = 0;
    h->waiting--;
    if (writes)
        dh_segments_publish(h->segments, h->segment);
}

void dh_learned_order_access(struct dh_learned_order *h, const struct dh_event *e)
{
    struct section *s = dh_run_thread(h->run, e->thread)->held.n ? section_of(h, e->thread) : NULL;
    uint32_t now = dh_segments_current(h->segments, e->thread);
    if (!s) {
        h->deliver(h->arg, e, now);
        return;
    }
    dh_granule_map_prefetch(&h->granules, e->addr);
    h->waiting += s->delayed.n == 0;
    dh_vec_push(&s->delayed, *e);
    if (s->delayed.n >= MOST_DELAYED)
        flush(h, e->thread);
}

void dh_learned_order_flush(struct dh_learned_order *h)
{
    for (uint32_t i = 0; i < h->sections.n; i++)
        flush(h, i);
}

/* ---- other events ---- */

static void lock_acquired(struct dh_learned_order *h, struct section *s, const struct dh_event *e)
{
    s->read.n = s->written.n = 0;
    s->signalled = false;
    (void)h;
    (void)e;
}

static void waits(struct dh_learned_order *h, struct section *s, const struct dh_event *e)
{
    (void)e;
    for (size_t i = 0; i < s->read.n; i++)
        add_subject(h, s->read.at[i]);
}

static void signals(struct dh_learned_order *h, struct section *s, const struct dh_event *e)
{
    (void)e;
    for (size_t i = 0; i < s->written.n; i++)
        add_subject(h, s->written.at[i]);
    s->signalled = true;
}

static bool touches(const struct section *s, uint64_t at, uint64_t size)
{
    for (size_t i = 0; i < s->delayed.n; i++)
        if (s->delayed.at[i].addr - at < size || at - s->delayed.at[i].addr < s->delayed.at[i].arg)
            return true;
    return false;
}

/* The delayed accesses were to the object that ends, not to one that is allocated there later. */
static void forget(struct dh_learned_order *h, struct section *s, const struct dh_event *e)
{
    (void)s;
    for (uint32_t i = 0; i < h->sections.n && h->waiting; i++)
        if (touches(&h->sections.at[i], e->addr, e->arg))
            flush(h, i);
    dh_granule_map_visit(&h->granules, e->addr, e->arg, forget_step, h);
}

static void (*const rules[DH_EVENT_COUNT])(struct dh_learned_order *, struct section *, const struct dh_event *) = {
    [DH_EVENT_LOCK] = lock_acquired, [DH_EVENT_COND_WAIT] = waits,        [DH_EVENT_ALLOC] = forget,
    [DH_EVENT_FREE] = forget,        [DH_EVENT_COND_BROADCAST] = signals, [DH_EVENT_COND_SIGNAL] = signals,
};

void dh_learned_order_event(struct dh_learned_order *h, const struct dh_event *e)
{
    struct section *s = section_of(h, e->thread);
    if (!s)
        return;
    flush(h, e->thread);
    if (e->kind < DH_EVENT_COUNT && rules[e->kind])
        rules[e->kind](h, section_of(h, e->thread), e);
}
