#include "detect/handover.h"

#include "base/vec.h"
#include "detect/granules.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HELD_BACK = 1 << 14, MOST_BYTES = 1 << 12, MOST_NAMES = 64 };

/* What is known of a place in the program. */
struct place {
    uint32_t site;
    bool known, pointer, element, global;
    uint32_t line;    /* of file and line */
    uint64_t subject; /* of the variable's name; 0: none */
    uint64_t array;   /* dh_handover_array */
};

/* Who wrote four bytes last under a lock, and who read them. */
struct half {
    uint64_t written, read; /* numbers of stretches; 0: none */
    uint32_t writer;        /* moment, 0: none */
    uint32_t site, read_line;
    bool made_anew; /* not of the old value */
};
struct cell {
    struct half half[2];
};

struct learnt {
    uint64_t lock, gives; /* number of locks given by then; UINT64_MAX: does not matter */
    enum dh_strength strength;
};

struct section {
    DH_VEC(struct dh_event) held_back;
    DH_VEC(uint64_t) read, written; /* names, since the thread took its last lock */
    DH_VEC(struct learnt) learnt;   /* since its locks changed */
    bool signalled;
};

struct dh_handover {
    struct dh_world *world;
    struct dh_moments *moments;
    dh_deliver *deliver;
    void *arg;
    struct dh_granules granules; /* numbers of cells */
    DH_VEC(struct cell) cells;
    DH_VEC(uint32_t) unused;
    DH_VEC(struct section) sections; /* by thread */
    struct place *places;            /* by site, open addressing */
    size_t n_places, cap_places;
    uint64_t *subjects; /* names on which waits depend, open addressing */
    size_t n_subjects, cap_subjects;
    uint64_t gives;                /* locks given so far */
    const struct dh_event *access; /* that is looked at */
    uint32_t moment;
    uint64_t stretch; /* number of accesses held back together */
};

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

struct dh_handover *dh_handover_new(struct dh_world *w, struct dh_moments *m, dh_deliver *deliver, void *arg)
{
    struct dh_handover *h = zeroed(1, sizeof *h);
    h->world = w;
    h->moments = m;
    h->deliver = deliver;
    h->arg = arg;
    dh_granules_init(&h->granules);
    dh_vec_push(&h->cells, (struct cell){0});
    return h;
}

void dh_handover_free(struct dh_handover *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->sections.n; i++) {
        dh_vec_release(&h->sections.at[i].held_back);
        dh_vec_release(&h->sections.at[i].read);
        dh_vec_release(&h->sections.at[i].written);
        dh_vec_release(&h->sections.at[i].learnt);
    }
    dh_granules_release(&h->granules, NULL, NULL);
    dh_vec_release(&h->sections);
    dh_vec_release(&h->cells);
    dh_vec_release(&h->unused);
    free(h->places);
    free(h->subjects);
    free(h);
}

/* ---- places ---- */

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 32) * 0xff51afd7ed558ccdu;
    return h ^ h >> 29;
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
    uint64_t h = 0xcbf29ce484222325u ^ seed;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return mix(h) | 1;
}

static size_t place_slot(const struct dh_handover *h, uint32_t site)
{
    size_t i = mix(site) & (h->cap_places - 1);
    while (h->places[i].known && h->places[i].site != site)
        i = (i + 1) & (h->cap_places - 1);
    return i;
}

static void grow_places(struct dh_handover *h)
{
    struct place *old = h->places;
    size_t cap = h->cap_places;
    h->cap_places = cap ? 2 * cap : 256;
    h->places = zeroed(h->cap_places, sizeof *h->places);
    for (size_t i = 0; i < cap; i++)
        if (old[i].known)
            h->places[place_slot(h, old[i].site)] = old[i];
    free(old);
}

static void describe(struct dh_handover *h, struct place *p)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = dh_world_site(h->world, p->site, &t);
    p->known = true;
    if (!s)
        return;
    const char *name = dh_site_string(t, s->variable);
    p->pointer = s->flags & DH_SITE_POINTER;
    p->element = s->flags & DH_SITE_ELEMENT;
    p->global = (s->flags & DH_SITE_GLOBAL) && !p->element;
    p->line = (uint32_t)hash_text(dh_site_string(t, s->file), s->line);
    p->subject = *name ? hash_text(name, 0) : 0;
    if (*name && name[strlen(name) - 1] == ']')
        p->array = strchr(name, '.') ? p->subject : 1;
}

static const struct place *place_of(struct dh_handover *h, uint32_t site)
{
    if (2 * h->n_places >= h->cap_places)
        grow_places(h);
    struct place *p = &h->places[place_slot(h, site)];
    if (!p->known) {
        p->site = site;
        describe(h, p);
        h->n_places++;
    }
    return p;
}

bool dh_handover_by_name(struct dh_handover *h, uint32_t site)
{
    return place_of(h, site)->global;
}

uint64_t dh_handover_array(struct dh_handover *h, uint32_t site)
{
    return place_of(h, site)->array;
}

/* ---- what waits depend on ---- */

static size_t subject_slot(const struct dh_handover *h, uint64_t subject)
{
    size_t i = subject >> 8 & (h->cap_subjects - 1);
    while (h->subjects[i] && h->subjects[i] != subject)
        i = (i + 1) & (h->cap_subjects - 1);
    return i;
}

static bool is_subject(const struct dh_handover *h, uint64_t subject)
{
    return subject && h->n_subjects && h->subjects[subject_slot(h, subject)];
}

static void grow_subjects(struct dh_handover *h)
{
    uint64_t *old = h->subjects;
    size_t cap = h->cap_subjects;
    h->cap_subjects = cap ? 2 * cap : 64;
    h->subjects = zeroed(h->cap_subjects, sizeof *h->subjects);
    for (size_t i = 0; i < cap; i++)
        if (old[i])
            h->subjects[subject_slot(h, old[i])] = old[i];
    free(old);
}

static void add_subject(struct dh_handover *h, uint64_t subject)
{
    if (2 * h->n_subjects >= h->cap_subjects)
        grow_subjects(h);
    uint64_t *at = &h->subjects[subject_slot(h, subject)];
    h->n_subjects += !*at;
    *at = subject;
}

/* ---- cells ---- */

static void clear_half(struct dh_handover *h, struct half *half)
{
    if (half->writer)
        dh_moments_put(h->moments, half->writer);
    *half = (struct half){0};
}

static uint32_t new_cell(struct dh_handover *h)
{
    if (h->unused.n)
        return h->unused.at[--h->unused.n];
    dh_vec_push(&h->cells, (struct cell){0});
    return (uint32_t)h->cells.n - 1;
}

static uint32_t forget_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct dh_handover *h = arg;
    struct cell *c = &h->cells.at[value];
    (void)granule;
    for (int i = 0; i < 2; i++)
        if (mask >> 4 * i & 0xF)
            clear_half(h, &c->half[i]);
    if (c->half[0].writer || c->half[0].read || c->half[1].writer || c->half[1].read)
        return value;
    *c = (struct cell){0};
    dh_vec_push(&h->unused, value);
    return 0;
}

static void set_moment(struct dh_handover *h, uint32_t *at, uint32_t moment)
{
    dh_moments_take(h->moments, moment);
    if (*at)
        dh_moments_put(h->moments, *at);
    *at = moment;
}

static uint32_t write_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct dh_handover *h = arg;
    const struct place *p = place_of(h, h->access->site);
    uint32_t id = value ? value : new_cell(h);
    (void)granule;
    for (int i = 0; i < 2; i++) {
        struct half *half = &h->cells.at[id].half[i];
        if (!(mask >> 4 * i & 0xF))
            continue;
        bool made_anew = half->read != h->stretch || half->read_line != p->line;
        half->made_anew = made_anew && (half->written != h->stretch || half->made_anew);
        half->written = h->stretch;
        set_moment(h, &half->writer, h->moment);
        half->site = h->access->site;
    }
    return id;
}

static uint32_t mark_read_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct dh_handover *h = arg;
    uint32_t id = value ? value : new_cell(h), line = place_of(h, h->access->site)->line;
    (void)granule;
    for (int i = 0; i < 2; i++)
        if (mask >> 4 * i & 0xF) {
            h->cells.at[id].half[i].read = h->stretch;
            h->cells.at[id].half[i].read_line = line;
        }
    return id;
}

static struct section *section_of(struct dh_handover *h, uint32_t thread)
{
    if (thread >= DH_WORLD_THREADS)
        return NULL;
    while (h->sections.n <= thread)
        dh_vec_push(&h->sections, (struct section){0});
    return &h->sections.at[thread];
}

/* ---- learning ---- */

/* While a lock is held nothing is added to what it tells, unless others hold it, too. */
static bool has_learnt(const struct dh_handover *h, const struct section *s, uint64_t lock, enum dh_strength strength)
{
    for (size_t i = 0; i < s->learnt.n; i++) {
        const struct learnt *l = &s->learnt.at[i];
        if (l->lock == lock && l->strength <= strength && (l->gives == UINT64_MAX || l->gives == h->gives))
            return true;
    }
    return false;
}

static void learn_common(struct dh_handover *h, const struct dh_moment *writer, enum dh_strength strength)
{
    uint32_t thread = h->access->thread;
    struct section *s = section_of(h, thread);
    const struct dh_moment *reader = dh_moments_get(h->moments, dh_moments_latest(h->moments, thread));
    size_t n = s->learnt.n;
    for (size_t i = 0; i < writer->n_held; i++)
        for (size_t j = 0; j < reader->n_held; j++) {
            const struct dh_held *lock = &reader->held[j];
            if (lock->id == writer->held[i].id && !writer->held[i].shared && !has_learnt(h, s, lock->lock, strength))
                dh_vec_push(&s->learnt, (struct learnt){lock->lock, lock->shared ? h->gives : UINT64_MAX, strength});
        }
    for (; n < s->learnt.n; n++)
        dh_moments_learn(h->moments, thread, s->learnt.at[n].lock, strength);
}

static void learn_from(struct dh_handover *h, const struct half *half, const struct place *p)
{
    const struct dh_moment *writer = half->writer ? dh_moments_get(h->moments, half->writer) : NULL;
    if (!writer || writer->thread == h->access->thread)
        return;
    bool subject = is_subject(h, p->subject) || is_subject(h, place_of(h, half->site)->subject);
    if (subject || (half->made_anew && !p->pointer && !p->element))
        learn_common(h, writer, DH_SURE);
    else if (half->made_anew || p->pointer)
        learn_common(h, writer, DH_HANDED);
}

static uint32_t learn_step(void *arg, uint32_t value, uint64_t granule, unsigned mask)
{
    struct dh_handover *h = arg;
    struct place p = *place_of(h, h->access->site); /* asking for others may move it */
    (void)granule;
    for (int i = 0; i < 2; i++)
        if (mask >> 4 * i & 0xF)
            learn_from(h, &h->cells.at[value].half[i], &p);
    return value;
}

/* ---- accesses under locks ---- */

static void note_name(struct dh_handover *h, struct section *s, const struct dh_event *e)
{
    uint64_t name = place_of(h, e->site)->subject;
    bool write = e->kind == DH_EVENT_WRITE;
    if (!name || is_subject(h, name))
        return;
    if (write && s->signalled)
        add_subject(h, name);
    else if (write && s->written.n < MOST_NAMES)
        dh_vec_push(&s->written, name);
    else if (!write && s->read.n < MOST_NAMES)
        dh_vec_push(&s->read, name);
}

static void each(struct dh_handover *h, const struct section *s, unsigned kind, bool known, dh_granule_step *step)
{
    for (size_t i = 0; i < s->held_back.n; i++) {
        const struct dh_event *e = &s->held_back.at[i];
        uint64_t size = e->arg < MOST_BYTES ? e->arg : MOST_BYTES;
        if (e->kind != kind)
            continue;
        h->access = e;
        (known ? dh_granules_visit : dh_granules_update)(&h->granules, e->addr, size, step, h);
    }
}

/* What others handed over first, then what this thread leaves behind, then the accesses themselves. */
static void flush(struct dh_handover *h, uint32_t thread)
{
    struct section *s = section_of(h, thread);
    if (!s || !s->held_back.n)
        return;
    each(h, s, DH_EVENT_READ, true, learn_step);
    h->moment = dh_moments_latest(h->moments, thread);
    h->stretch++;
    each(h, s, DH_EVENT_READ, false, mark_read_step);
    each(h, s, DH_EVENT_WRITE, false, write_step);
    for (size_t i = 0; i < s->held_back.n; i++) {
        note_name(h, s, &s->held_back.at[i]);
        h->deliver(h->arg, &s->held_back.at[i], h->moment);
    }
    s->held_back.n = 0;
}

void dh_handover_access(struct dh_handover *h, const struct dh_event *e)
{
    struct section *s = dh_world_thread(h->world, e->thread)->held.n ? section_of(h, e->thread) : NULL;
    uint32_t now = dh_moments_now(h->moments, e->thread);
    if (!s) {
        h->deliver(h->arg, e, now);
        return;
    }
    dh_vec_push(&s->held_back, *e);
    if (s->held_back.n >= MOST_HELD_BACK)
        flush(h, e->thread);
}

void dh_handover_flush(struct dh_handover *h)
{
    for (uint32_t i = 0; i < h->sections.n; i++)
        flush(h, i);
}

/* ---- other events ---- */

static void took_lock(struct dh_handover *h, struct section *s, const struct dh_event *e)
{
    s->read.n = s->written.n = s->learnt.n = 0;
    s->signalled = false;
    if (e->flags & DH_EVENT_WAIT)
        dh_moments_learn(h->moments, e->thread, e->addr, DH_SURE);
}

static void gives_lock(struct dh_handover *h, struct section *s, const struct dh_event *e)
{
    (void)e;
    s->learnt.n = 0;
    h->gives++;
}

static void waits(struct dh_handover *h, struct section *s, const struct dh_event *e)
{
    (void)e;
    for (size_t i = 0; i < s->read.n; i++)
        add_subject(h, s->read.at[i]);
}

static void signals(struct dh_handover *h, struct section *s, const struct dh_event *e)
{
    (void)e;
    for (size_t i = 0; i < s->written.n; i++)
        add_subject(h, s->written.at[i]);
    s->signalled = true;
}

static void forget(struct dh_handover *h, struct section *s, const struct dh_event *e)
{
    (void)s;
    dh_granules_visit(&h->granules, e->addr, e->arg, forget_step, h);
}

static void (*const rules[DH_EVENT_COUNT])(struct dh_handover *, struct section *, const struct dh_event *) = {
    [DH_EVENT_LOCK] = took_lock,      [DH_EVENT_UNLOCK] = gives_lock, [DH_EVENT_COND_WAIT] = waits,
    [DH_EVENT_ALLOC] = forget,        [DH_EVENT_FREE] = forget,       [DH_EVENT_COND_BROADCAST] = signals,
    [DH_EVENT_COND_SIGNAL] = signals,
};

void dh_handover_event(struct dh_handover *h, const struct dh_event *e)
{
    struct section *s = section_of(h, e->thread);
    if (!s)
        return;
    flush(h, e->thread);
    if (e->kind < DH_EVENT_COUNT && rules[e->kind])
        rules[e->kind](h, section_of(h, e->thread), e);
}
