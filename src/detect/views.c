/* View consistency: fields that one thread accesses together under a lock and another one apart (000, §3).
 *
 * A view is the set of fields accessed in one critical section. A maximal view S of one thread and the views of
 * another thread under the same lock are compatible when what they have in common with S forms a chain. Where they do
 * not, there are sections A and B with x in A and S but not in B, and y in B and S but not in A; S may come between A
 * and B. Fields are those of an instance: bytes of an object, named as the source names them.
 *
 * Where this deviates from the paper, to say less that is not so:
 *  - Reads and writes differ (the paper's tables do not tell them apart; with all accesses writes, this is its
 *    definition). x counts only if A or S writes it, y only if B or S does: only then is the order A, S, B not the same
 *    as both S, A, B and A, B, S. What is only read is shared in silence.
 *  - Views are compared lock by lock. Locks that are held around all three sections and keep S out (nested locks: §5,
 *    §7) leave the judgement to the outer lock's own views.
 *  - x and y are different variables of one object, or two globals: elements of an array or nodes of a list are
 *    accessed one by one and all together everywhere (003, §5.2.2 divides views by class for the same reason).
 *  - What the code of a section may access on another path counts as accessed (the elevator of §5: not to take a
 *    branch is to read and discard): from the link step's scopes, and from what the same code did at other times.
 *  - A condition wait divides a section where S is concerned. A and B are sections as written, waits included.
 *  - What cannot be between is left out: order by anything but locks (creation, join, conditions, semaphores, atomics)
 *    between the first A, some S and the last B.
 * One finding per set of fields: equal conflicts of other instances, threads or smaller sets are the same. */
#include "detect/critical.h"
#include "detect/detector.h"
#include "detect/instants.h"

#include "base/str.h"

#include <string.h>

const struct dh_detector dh_detector_views;

enum {
    MOST_VIEWS = 4096, /* of one lock */
    MOST_ALIKE = 64,   /* of one code and thread with the same names: instances of one kind behave alike */
    MOST_STEPS = 40000000,
    SAMPLES = 12 /* of a view's occurrences: the 1st, 2nd, 4th, 8th, ... */
};

/* A piece of program that begins a section, and the names it has been seen to access or may access. */
struct code {
    uint32_t site, ctx;
    DH_VEC(uint32_t) names;
};

struct view {
    struct dh_critical in; /* outer and fields are owned here; `part` holds the fields */
    size_t code;
    bool atomic;    /* accessed without giving up the lock: may be an S */
    bool complete;  /* the section as written: may be an A or B */
    uint64_t times; /* it occurred */
    struct dh_instant *samples[SAMPLES];
    size_t n_samples;
    uint32_t last; /* time of the last occurrence */
};

struct guard {
    uint64_t lock;
    uint32_t id;
    DH_VEC(struct view *) views;
};

struct row {
    uint64_t key; /* 0: free */
    uint64_t value;
};

struct table {
    struct row *rows;
    size_t n, cap;
};

struct views {
    struct dh_world *world;
    struct dh_field_names names;
    struct dh_criticals open;
    struct dh_instants instants;
    DH_VEC(struct guard *) guards;
    DH_VEC(struct code) codes;
    struct table by_lock, by_view, alike, by_code;
    DH_VEC(uint32_t *) told; /* sets of names: sorted, 0 at the end */
    uint64_t steps;
};

/* ---- tables: numbers by 64 bits of hash ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static struct row *table_row(struct table *t, uint64_t key);

static void table_grow(struct table *t)
{
    struct table old = *t;
    t->cap = old.cap ? old.cap * 2 : 256;
    t->n = 0;
    t->rows = calloc(t->cap, sizeof *t->rows);
    if (!t->rows)
        abort();
    for (size_t i = 0; i < old.cap; i++)
        if (old.rows[i].key)
            table_row(t, old.rows[i].key)->value = old.rows[i].value;
    free(old.rows);
}

/* The row of the key; a new one has value 0. */
static struct row *table_row(struct table *t, uint64_t key)
{
    if (t->n * 2 >= t->cap)
        table_grow(t);
    key = key ? key : 1;
    size_t i = mix(key, key >> 7) & (t->cap - 1);
    while (t->rows[i].key && t->rows[i].key != key)
        i = (i + 1) & (t->cap - 1);
    if (!t->rows[i].key) {
        t->rows[i].key = key;
        t->n++;
    }
    return &t->rows[i];
}

/* ---- code ---- */

static void add_name(struct code *c, uint32_t name)
{
    for (size_t i = 0; i < c->names.n; i++)
        if (c->names.at[i] == name)
            return;
    dh_vec_push(&c->names, name);
}

static void add_what_paths_may(struct views *v, struct code *c)
{
    for (int write = 0; write < 2; write++) {
        size_t n;
        const char *const *names = dh_world_may_access(v->world, c->site, write, &n);
        for (size_t i = 0; names && i < n; i++)
            add_name(c, dh_field_names_number(&v->names, names[i]));
    }
}

static size_t code_of(struct views *v, uint32_t site, uint32_t ctx)
{
    struct row *r = table_row(&v->by_code, mix(mix(1, site), ctx));
    if (!r->value) {
        struct code new = {.site = site, .ctx = ctx};
        add_what_paths_may(v, &new);
        dh_vec_push(&v->codes, new);
        r->value = v->codes.n;
    }
    return r->value - 1;
}

static bool may_access(const struct views *v, const struct view *view, uint32_t name)
{
    const struct code *c = &v->codes.at[view->code];
    for (size_t i = 0; i < c->names.n; i++)
        if (c->names.at[i] == name)
            return true;
    return false;
}

/* ---- collecting views ---- */

static void free_view(struct view *view)
{
    for (size_t i = 0; i < view->n_samples; i++)
        dh_instant_drop(view->samples[i]);
    dh_vec_release(&view->in.outer);
    dh_fields_release(&view->in.part);
    free(view);
}

static uint64_t hash_names(const struct dh_fields *s)
{
    uint64_t h = 7;
    uint32_t last = 0;
    for (size_t i = 0; i < s->at.n; i++)
        if (s->at.at[i].name != last) {
            last = s->at.at[i].name;
            h = mix(h, (uint64_t)last << 2 | s->at.at[i].how);
        }
    return h;
}

static void occurred(struct views *v, struct view *view)
{
    uint32_t thread = view->in.thread;
    if (view->n_samples < SAMPLES && view->times + 1 == 1ull << view->n_samples)
        view->samples[view->n_samples++] = dh_instants_now(&v->instants, thread, dh_world_thread_count(v->world));
    view->times++;
    view->last = dh_instants_time(&v->instants, thread);
}

static struct view *new_view(const struct dh_critical *c, const struct dh_fields *fields, size_t code)
{
    struct view *view = calloc(1, sizeof *view);
    if (!view)
        abort();
    view->in = *c;
    view->code = code;
    memset(&view->in.outer, 0, sizeof view->in.outer);
    for (size_t i = 0; i < c->outer.n; i++)
        dh_vec_push(&view->in.outer, c->outer.at[i]);
    view->in.whole = (struct dh_fields){0};
    dh_fields_copy(&view->in.part, fields);
    return view;
}

static void add_view(struct views *v, struct guard *g, const struct dh_critical *c, const struct dh_fields *fields,
                     bool atomic, bool complete)
{
    size_t code = code_of(v, c->site, c->ctx);
    uint64_t key = mix(mix(mix(dh_fields_hash(fields), c->thread), code), g->id);
    for (size_t i = 0; i < c->outer.n; i++)
        key = mix(key, (uint64_t)c->outer.at[i].id << 1 | c->outer.at[i].shared);
    key = mix(key, (unsigned)atomic << 1 | (unsigned)complete);
    struct row *r = table_row(&v->by_view, key);
    struct view *view = (struct view *)(uintptr_t)r->value;
    if (!view) {
        struct row *alike = table_row(&v->alike, mix(mix(mix(hash_names(fields), c->thread), code), g->id));
        if (++alike->value > MOST_ALIKE || g->views.n >= MOST_VIEWS)
            return;
        view = new_view(c, fields, code);
        view->atomic = atomic;
        view->complete = complete;
        for (size_t i = 0; i < fields->at.n; i++)
            add_name(&v->codes.at[code], fields->at.at[i].name);
        dh_vec_push(&g->views, view);
        table_row(&v->by_view, key)->value = (uintptr_t)view;
    }
    occurred(v, view);
}

static void judge(struct views *v, struct guard *g);

/* A guard of that lock; what was there before under its address is judged and gone. */
static struct guard *guard_of(struct views *v, const struct dh_critical *c)
{
    struct row *r = table_row(&v->by_lock, c->lock);
    if (!r->value) {
        struct guard *new = calloc(1, sizeof *new);
        if (!new)
            abort();
        *new = (struct guard){.lock = c->lock, .id = c->id};
        dh_vec_push(&v->guards, new);
        r->value = v->guards.n;
    }
    struct guard *g = v->guards.at[r->value - 1];
    if (g->id != c->id) {
        judge(v, g);
        g->id = c->id;
    }
    return g;
}

static void closed(void *arg, const struct dh_critical *c, bool ended)
{
    struct views *v = arg;
    struct guard *g = guard_of(v, c);
    if (c->part.at.n)
        add_view(v, g, c, &c->part, true, !c->waited);
    if (ended && c->waited && c->whole.at.n)
        add_view(v, g, c, &c->whole, false, true);
}

/* ---- judging ---- */

/* What is in the way of S: bytes that S and the other access and one of them writes. */
struct clash {
    uint64_t at, end;
    uint32_t object, name;
    const struct dh_field *ours, *theirs; /* of S, of the other */
};

struct candidate {
    const struct view *view;
    DH_VEC(struct clash) clashes;
};

static void find_clashes(const struct view *s, struct candidate *c)
{
    struct dh_fields_common k = {0};
    while (dh_fields_next_common(&s->in.part, &c->view->in.part, &k)) {
        if (!((k.a->how | k.b->how) & DH_FIELD_WRITTEN))
            continue;
        bool ours_is_smaller = k.a->end - k.a->at < k.b->end - k.b->at;
        uint32_t name = (ours_is_smaller && k.a->name) || !k.b->name ? k.a->name : k.b->name;
        if (name)
            dh_vec_push(&c->clashes, (struct clash){k.at, k.end, k.a->object, name, k.a, k.b});
    }
}

static bool is_apart(const struct views *v, const struct clash *x, const struct view *other)
{
    return !dh_fields_meet(&other->in.part, x->object, x->at, x->end) && !may_access(v, other, x->name) &&
           !may_access(v, other, x->ours->name) && !may_access(v, other, x->theirs->name);
}

/* Can some S come after some A and before some B? */
static bool may_come_between(const struct view *a, const struct view *s, const struct view *b)
{
    for (size_t i = 0; i < s->n_samples; i++) {
        const struct dh_instant *m = s->samples[i];
        if (!dh_instant_knows(a->samples[0], m->thread, m->time) && !dh_instant_knows(m, b->in.thread, b->last))
            return true;
    }
    return false;
}

static bool are_apart(struct views *v, const struct view *s, const struct candidate *a, const struct candidate *b,
                      const struct clash **x, const struct clash **y)
{
    for (size_t i = 0; i < a->clashes.n; i++) {
        *x = &a->clashes.at[i];
        v->steps++;
        if (!is_apart(v, *x, b->view))
            continue;
        for (size_t j = 0; j < b->clashes.n; j++) {
            *y = &b->clashes.at[j];
            v->steps++;
            if ((*x)->object == (*y)->object && (*x)->name != (*y)->name && is_apart(v, *y, a->view))
                return !dh_critical_share_outer(&s->in, &a->view->in, &b->view->in) &&
                       (may_come_between(a->view, s, b->view) || may_come_between(b->view, s, a->view));
        }
    }
    return false;
}

/* ---- telling ---- */

struct conflict {
    const struct view *s;
    const struct candidate *a, *b;
    const struct clash *x, *y;
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static bool is_subset(const uint32_t *small, const uint32_t *large)
{
    for (; *small; small++) {
        while (*large && *large < *small)
            large++;
        if (*large != *small)
            return false;
    }
    return true;
}

/* Takes the set over; false when it, or a larger one, was told. */
static bool is_new(struct views *v, uint32_t *names)
{
    for (size_t i = 0; i < v->told.n; i++)
        if (is_subset(names, v->told.at[i])) {
            free(names);
            return false;
        }
    dh_vec_push(&v->told, names);
    return true;
}

static struct dh_suspect suspect_of(const struct view *view, const struct dh_field *f, const struct clash *c,
                                    const struct dh_held *lock, const char *note)
{
    bool write = f->how & DH_FIELD_WRITTEN;
    const struct dh_field_place *p = write ? &f->write : &f->read;
    return (struct dh_suspect){.op = write ? DH_OP_WRITE : DH_OP_READ,
                               .thread = view->in.thread,
                               .site = p->site,
                               .ctx = p->ctx,
                               .addr = c->at,
                               .size = c->end - c->at,
                               .locks = lock,
                               .n_locks = 1,
                               .note = note};
}

static struct dh_held lock_of(const struct view *view)
{
    return (struct dh_held){.lock = view->in.lock,
                            .id = view->in.id,
                            .shared = view->in.shared,
                            .depth = 1,
                            .site = view->in.site,
                            .ctx = view->in.ctx,
                            .taken = view->in.began};
}

static const char *or_else(const char *text, const char *other)
{
    return *text ? text : other;
}

static void list_names(const struct views *v, struct dh_str *s, const uint32_t *names, const char *between)
{
    for (; *names; names++)
        dh_str_addf(s, "%s%s", dh_field_name(&v->names, *names), names[1] ? between : "");
}

static void tell(struct views *v, const struct conflict *c, const uint32_t *names)
{
    struct dh_str text = {0}, key = {0};
    struct dh_held ls = lock_of(c->s), la = lock_of(c->a->view), lb = lock_of(c->b->view);
    const char *x = dh_field_name(&v->names, c->x->name), *y = dh_field_name(&v->names, c->y->name);
    const char *lock = or_else(dh_world_variable(v->world, c->s->in.site), "one lock");
    dh_str_add(&text, "{");
    list_names(v, &text, names, ", ");
    dh_str_addf(&text,
                "} are accessed together in one section of %s, but thread %u accesses %s and %s in two: thread %u can "
                "come between and find one changed without the other, or change both under it",
                lock, c->a->view->in.thread, x, y, c->s->in.thread);
    dh_str_add(&key, "views:");
    list_names(v, &key, names, "|");
    struct dh_suspect suspects[] = {
        suspect_of(c->s, c->x->ours, c->x, &ls, "together with the other"),
        suspect_of(c->a->view, c->x->theirs, c->x, &la, "in a section of its own"),
        suspect_of(c->s, c->y->ours, c->y, &ls, "in the same section as the first"),
        suspect_of(c->b->view, c->y->theirs, c->y, &lb, "in another section"),
    };
    struct dh_suspicion said = {.kind = DH_SUSPECT_VIEW,
                                .level = DH_LEVEL_SUSPECTED,
                                .addr = c->x->at,
                                .size = c->x->end - c->x->at,
                                .suspects = suspects,
                                .n_suspects = sizeof suspects / sizeof *suspects,
                                .text = text.at,
                                .key = key.at};
    dh_world_found(v->world, &dh_detector_views, &said);
    dh_str_release(&text);
    dh_str_release(&key);
}

typedef DH_VEC(uint32_t) number_list;

static void add_clash_names(number_list *names, const struct candidate *c)
{
    for (size_t i = 0; i < c->clashes.n; i++)
        dh_vec_push(names, c->clashes.at[i].name);
}

static uint32_t *as_set(number_list *names)
{
    size_t n = 0;
    qsort(names->at, names->n, sizeof *names->at, by_number);
    for (size_t i = 0; i < names->n; i++)
        if (!n || names->at[n - 1] != names->at[i])
            names->at[n++] = names->at[i];
    names->n = n;
    dh_vec_push(names, 0);
    return names->at;
}

/* ---- one S against one thread ---- */

typedef DH_VEC(struct candidate) candidate_list;

static void judge_against(struct views *v, const struct view *s, const candidate_list *all)
{
    struct conflict first = {.s = s}, c = {.s = s};
    number_list names = {0};
    for (size_t i = 0; i < all->n && v->steps < MOST_STEPS; i++)
        for (size_t j = i + 1; j < all->n && v->steps < MOST_STEPS; j++) {
            c.a = &all->at[i];
            c.b = &all->at[j];
            if (!are_apart(v, s, c.a, c.b, &c.x, &c.y))
                continue;
            if (!first.a)
                first = c;
            add_clash_names(&names, c.a);
            add_clash_names(&names, c.b);
        }
    if (!first.a)
        return;
    uint32_t *set = as_set(&names);
    if (is_new(v, set))
        tell(v, &first, set);
}

static void gather(const struct guard *g, const struct view *s, uint32_t thread, candidate_list *out)
{
    for (size_t i = 0; i < g->views.n; i++) {
        struct candidate c = {.view = g->views.at[i]};
        if (c.view->in.thread != thread || !c.view->complete)
            continue;
        find_clashes(s, &c);
        if (c.clashes.n)
            dh_vec_push(out, c);
        else
            dh_vec_release(&c.clashes);
    }
}

static void release_candidates(candidate_list *all)
{
    for (size_t i = 0; i < all->n; i++)
        dh_vec_release(&all->at[i].clashes);
    all->n = 0;
}

static int larger_first(const void *a, const void *b)
{
    const struct view *v = *(struct view *const *)a, *w = *(struct view *const *)b;
    if (v->in.part.at.n != w->in.part.at.n)
        return v->in.part.at.n > w->in.part.at.n ? -1 : 1;
    return v->in.began < w->in.began ? -1 : v->in.began > w->in.began;
}

static void list_threads(const struct guard *g, number_list *threads)
{
    for (size_t i = 0; i < g->views.n; i++)
        dh_vec_push(threads, g->views.at[i]->in.thread);
    if (threads->n)
        qsort(threads->at, threads->n, sizeof *threads->at, by_number);
    size_t n = 0;
    for (size_t i = 0; i < threads->n; i++)
        if (!n || threads->at[n - 1] != threads->at[i])
            threads->at[n++] = threads->at[i];
    threads->n = n;
}

/* Larger views first: what is told of them stands for their parts (maximal views, §3.2). */
static void judge(struct views *v, struct guard *g)
{
    number_list threads = {0};
    candidate_list all = {0};
    v->steps = 0;
    list_threads(g, &threads);
    if (threads.n > 1)
        qsort(g->views.at, g->views.n, sizeof *g->views.at, larger_first);
    for (size_t i = 0; threads.n > 1 && i < g->views.n; i++) {
        const struct view *s = g->views.at[i];
        if (!s->atomic)
            continue;
        for (size_t t = 0; t < threads.n && v->steps < MOST_STEPS; t++) {
            if (threads.at[t] == s->in.thread)
                continue;
            gather(g, s, threads.at[t], &all);
            v->steps += g->views.n;
            judge_against(v, s, &all);
            release_candidates(&all);
        }
    }
    dh_vec_release(&threads);
    dh_vec_release(&all);
    for (size_t i = 0; i < g->views.n; i++)
        free_view(g->views.at[i]);
    dh_vec_release(&g->views);
}

/* ---- the detector ---- */

static void *views_begin(struct dh_world *w, const struct dh_detector_options *o, const char **why)
{
    (void)o, (void)why;
    struct views *v = calloc(1, sizeof *v);
    if (!v)
        abort();
    v->world = w;
    dh_field_names_init(&v->names);
    dh_criticals_init(&v->open, w, &v->names, closed, v);
    dh_instants_init(&v->instants, DH_EDGES_WITHOUT_LOCKS);
    return v;
}

static void views_event(void *self, const struct dh_event *e)
{
    struct views *v = self;
    dh_criticals_event(&v->open, e);
    dh_instants_event(&v->instants, e);
}

static void views_end(void *self)
{
    struct views *v = self;
    for (size_t i = 0; i < v->guards.n; i++)
        judge(v, v->guards.at[i]);
}

static void views_release(void *self)
{
    struct views *v = self;
    for (size_t i = 0; i < v->guards.n; i++) {
        for (size_t k = 0; k < v->guards.at[i]->views.n; k++)
            free_view(v->guards.at[i]->views.at[k]);
        dh_vec_release(&v->guards.at[i]->views);
        free(v->guards.at[i]);
    }
    for (size_t i = 0; i < v->codes.n; i++)
        dh_vec_release(&v->codes.at[i].names);
    for (size_t i = 0; i < v->told.n; i++)
        free(v->told.at[i]);
    dh_vec_release(&v->guards);
    dh_vec_release(&v->codes);
    dh_vec_release(&v->told);
    free(v->by_lock.rows);
    free(v->by_view.rows);
    free(v->alike.rows);
    free(v->by_code.rows);
    dh_criticals_release(&v->open);
    dh_instants_release(&v->instants);
    dh_field_names_release(&v->names);
    free(v);
}

const struct dh_detector dh_detector_views = {
    .name = "views",
    .summary = "fields that one thread accesses together under a lock and another one apart",
    .events = DH_EVENTS_ACCESS | DH_EVENTS_ATOMIC | DH_EVENTS_MEMORY | DH_EVENTS_LOCK | DH_EVENTS_CONDITION |
              DH_EVENTS_ORDER | DH_EVENTS_THREAD,
    .begin = views_begin,
    .event = views_event,
    .end = views_end,
    .release = views_release,
};
