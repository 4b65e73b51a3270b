/* View consistency (000 §3): fields that one thread accesses in one critical section and another thread in several.
 *
 * A view is the set of fields accessed in one critical section. A maximal view S of one thread and the views of
 * another thread under the same lock are compatible when what they have in common with S forms a chain. Where they do
 * not, there are sections A and B with x in A and S but not in B, and y in B and S but not in A; S may come between A
 * and B. Fields are those of an instance: bytes of an object, named as the source names them.
 *
 * Deviations from the paper, for fewer false reports:
 *  - Reads and writes differ (the paper's tables do not distinguish them; with all accesses writes, this is its
 *    definition). x counts only if A or S writes it, y only if B or S does: only then is the order A, S, B not the same
 *    as both S, A, B and A, B, S. What is only read is no conflict.
 *  - Views are compared lock by lock. Where an outer lock of all three sections excludes S (nested locks: §5, §7), the
 *    outer lock's own views are compared instead.
 *  - x and y are different variables of one object, or two globals: elements of an array or nodes of a list are
 *    accessed one by one and all together everywhere (003, §5.2.2 divides views by class for the same reason).
 *  - A section that walks over three or more instances of a variable is in conflict only with sections that write:
 *    fields of a table's records are read one by one everywhere.
 *  - What the code of a section may access on another path counts as accessed (the elevator of §5: a branch that is
 *    not taken): from the link step's scopes, and from what the same code did at other times.
 *  - A condition wait divides a section where S is concerned. A and B are sections as written, waits included.
 *  - What cannot come between is excluded: order by anything but locks (creation, join, conditions, semaphores,
 * atomics) between the first A, some S and the last B. One finding per set of fields: equal conflicts of other
 * instances, threads or smaller sets are the same. */
#include "detect/detector.h"
#include "detect/view_store.h"

#include "base/alloc.h"
#include "base/str.h"

#include <string.h>

const struct dh_detector dh_detector_views;

enum {
    MOST_STEPS = 40000000,
    SWEEP = 3 /* instances in one section that make it an iteration */
};

/* Where elements of an array were seen. */
struct extent {
    uint64_t at, end;
};

struct views {
    struct dh_view_store store;
    struct dh_u64_map arrays; /* by object and name: index of extents */
    DH_VEC(struct extent) extents;
    const struct dh_guarded_views *compared;
    DH_VEC(uint32_t *) reported; /* sets of names: sorted, 0 at the end */
    uint64_t steps;
};

/* ---- comparing ---- */

static bool is_element(const struct views *v, uint32_t name)
{
    return dh_ends_with(dh_field_name(&v->store.names, name), "[]");
}

static uint64_t array_key(uint32_t object, uint32_t name)
{
    return dh_hash_combine(dh_hash_combine(5, object), name);
}

static void add_extent(struct views *v, const struct dh_field *f)
{
    uint64_t *index = dh_u64_map_at(&v->arrays, array_key(f->object, f->name));
    if (!*index) {
        dh_vec_push(&v->extents, (struct extent){f->at, f->end});
        *index = v->extents.n;
    }
    struct extent *e = &v->extents.at[*index - 1];
    e->at = f->at < e->at ? f->at : e->at;
    e->end = f->end > e->end ? f->end : e->end;
}

static void find_arrays(struct views *v, const struct dh_guarded_views *g)
{
    for (size_t i = 0; i < g->views.n; i++) {
        const struct dh_field_set *s = &g->views.at[i]->in.part;
        for (size_t k = 0; k < s->at.n; k++)
            if (is_element(v, s->at.at[k].name))
                add_extent(v, &s->at.at[k]);
    }
}

/* A conflict with S: bytes that S and the other section access and one of them writes. */
struct clash {
    uint64_t at, end;
    uint32_t object, name;
    const struct dh_field *ours, *theirs; /* of S, of the other */
};

struct candidate {
    const struct dh_view *view;
    DH_VEC(struct clash) clashes;
};

static void find_clashes(const struct dh_view *s, struct candidate *c)
{
    struct dh_field_set_common k = {0};
    while (dh_field_set_next_common(&s->in.part, &c->view->in.part, &k)) {
        if (!((k.a->how | k.b->how) & DH_FIELD_WRITTEN))
            continue;
        bool ours_is_smaller = k.a->end - k.a->at < k.b->end - k.b->at;
        uint32_t name = (ours_is_smaller && k.a->name) || !k.b->name ? k.a->name : k.b->name;
        if (name)
            dh_vec_push(&c->clashes, (struct clash){k.at, k.end, k.a->object, name, k.a, k.b});
    }
}

/* Elements count as one variable, also where the other section accesses them through an anonymous pointer. */
static bool meets_array(struct views *v, const struct clash *x, const struct dh_view *other)
{
    if (!is_element(v, x->name))
        return false;
    uint64_t index = *dh_u64_map_at(&v->arrays, array_key(x->object, x->name));
    const struct extent *e = index ? &v->extents.at[index - 1] : NULL;
    return e && dh_field_set_overlaps(&other->in.part, x->object, e->at, e->end);
}

static bool is_apart(struct views *v, const struct clash *x, const struct dh_view *other)
{
    return !meets_array(v, x, other) && !dh_field_set_overlaps(&other->in.part, x->object, x->at, x->end) &&
           !dh_view_may_access(&v->store, other, x->name) && !dh_view_may_access(&v->store, other, x->ours->name) &&
           !dh_view_may_access(&v->store, other, x->theirs->name);
}

/* Some section accesses the same bytes by another name (`*link` for `item->next`) that the other code may use. */
static bool has_alias(const struct views *v, const struct clash *x, const struct dh_view *other)
{
    for (size_t i = 0; i < v->compared->views.n; i++) {
        const struct dh_field_set *s = &v->compared->views.at[i]->in.part;
        if (!dh_field_set_overlaps(s, x->object, x->at, x->end))
            continue;
        for (size_t k = 0; k < s->at.n; k++)
            if (s->at.at[k].object == x->object && s->at.at[k].at < x->end && x->at < s->at.at[k].end &&
                dh_view_may_access(&v->store, other, s->at.at[k].name))
                return true;
    }
    return false;
}

/* S accesses many instances of the variable one after the other: it iterates over a table. */
static bool is_sweep(const struct views *v, const struct dh_view *s, const struct clash *x)
{
    const struct dh_site_table *table = NULL;
    bool write;
    struct dh_field_place p = dh_field_place_of(x->ours, &write);
    const struct dh_site *site = dh_run_site(v->store.run, p.site, &table);
    if (site && site->size && x->ours->end - x->ours->at >= (uint64_t)SWEEP * site->size)
        return true;
    unsigned n = 0;
    for (size_t i = 0; i < s->in.part.at.n && n < SWEEP; i++)
        n += s->in.part.at.at[i].object == x->object && s->in.part.at.at[i].name == x->ours->name;
    return n >= SWEEP;
}

/* A section that reads records one field at a time does not depend on the table as a whole; one that writes them so may
 * be seen half-way by an iteration. */
static bool is_of_a_table(const struct views *v, const struct dh_view *s, const struct clash *x, const struct clash *y)
{
    bool both_write = x->theirs->how & y->theirs->how & DH_FIELD_WRITTEN;
    return !both_write && (is_sweep(v, s, x) || is_sweep(v, s, y));
}

/* Can some S come after some A and before some B? */
static bool may_come_between(const struct dh_view *a, const struct dh_view *s, const struct dh_view *b)
{
    return dh_view_comes_between(s, a->samples[0], b->last);
}

static bool are_apart(struct views *v, const struct dh_view *s, const struct candidate *a, const struct candidate *b,
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
            if ((*x)->object == (*y)->object && (*x)->name != (*y)->name && is_apart(v, *y, a->view) &&
                !is_of_a_table(v, s, *x, *y))
                return !has_alias(v, *x, b->view) && !has_alias(v, *y, a->view) &&
                       !dh_critical_sections_share_outer(&s->in, &a->view->in, &b->view->in) &&
                       (may_come_between(a->view, s, b->view) || may_come_between(b->view, s, a->view));
        }
    }
    return false;
}

/* ---- reporting ---- */

struct conflict {
    const struct dh_view *s;
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

/* Takes ownership of the set; false when it, or a superset, was reported. */
static bool is_new(struct views *v, uint32_t *names)
{
    for (size_t i = 0; i < v->reported.n; i++)
        if (is_subset(names, v->reported.at[i])) {
            free(names);
            return false;
        }
    dh_vec_push(&v->reported, names);
    return true;
}

static struct dh_suspect suspect_of(const struct dh_view *view, const struct dh_field *f, const struct clash *c,
                                    const struct dh_lock_hold *lock, const char *note)
{
    bool write;
    struct dh_field_place p = dh_field_place_of(f, &write);
    return (struct dh_suspect){.op = write ? DH_OP_WRITE : DH_OP_READ,
                               .thread = view->in.thread,
                               .site = p.site,
                               .ctx = p.ctx,
                               .addr = c->at,
                               .size = c->end - c->at,
                               .locks = lock,
                               .n_locks = 1,
                               .note = note};
}

static const char *or_else(const char *text, const char *other)
{
    return *text ? text : other;
}

static void list_names(const struct views *v, struct dh_str *s, const uint32_t *names, const char *between)
{
    for (; *names; names++)
        dh_str_addf(s, "%s%s", dh_field_name(&v->store.names, *names), names[1] ? between : "");
}

/* For the report: the first ones; the two that conflict are named separately. */
static void list_some(const struct views *v, struct dh_str *s, const uint32_t *names)
{
    enum { MOST = 6 };
    uint32_t some[MOST + 1] = {0}, n = 0;
    while (names[n])
        n++;
    for (uint32_t i = 0; i < n && i < MOST; i++)
        some[i] = names[i];
    list_names(v, s, some, ", ");
    if (n > MOST)
        dh_str_addf(s, " and %u more", n - MOST);
}

static void report(struct views *v, const struct conflict *c, const uint32_t *names)
{
    struct dh_str text = {0}, key = {0};
    struct dh_lock_hold ls = dh_view_lock(c->s), la = dh_view_lock(c->a->view), lb = dh_view_lock(c->b->view);
    const char *x = dh_field_name(&v->store.names, c->x->name), *y = dh_field_name(&v->store.names, c->y->name);
    const char *lock = or_else(dh_run_variable(v->store.run, c->s->in.site), "one lock");
    dh_str_add(&text, "{");
    list_some(v, &text, names);
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
    struct dh_suspicion said = {.kind = DH_FINDING_VIEW,
                                .level = DH_LEVEL_SUSPECTED,
                                .addr = c->x->at,
                                .size = c->x->end - c->x->at,
                                .object = c->x->object,
                                .suspects = suspects,
                                .n_suspects = sizeof suspects / sizeof *suspects,
                                .text = text.at,
                                .key = key.at};
    dh_run_report(v->store.run, &dh_detector_views, &said);
    dh_str_release(&text);
    dh_str_release(&key);
}

typedef DH_VEC(uint32_t) number_list;

/* Each once. */
static void add_name(number_list *names, uint32_t name)
{
    size_t i = 0;
    while (i < names->n && names->at[i] != name)
        i++;
    if (i == names->n)
        dh_vec_push(names, name);
}

static void add_clash_names(number_list *names, const struct candidate *c)
{
    for (size_t i = 0; i < c->clashes.n; i++)
        add_name(names, c->clashes.at[i].name);
}

/* Length of the name of the struct that has the field: "struct status" of "struct status.x"; 0: none. */
static size_t struct_name_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

static bool of_one_struct(const struct views *v, uint32_t a, uint32_t b)
{
    const char *x = dh_field_name(&v->store.names, a), *y = dh_field_name(&v->store.names, b);
    size_t n = struct_name_of(x);
    return n && n == struct_name_of(y) && strncmp(x, y, n) == 0;
}

/* The other fields of the same structs that S and one of the two may access: optimisation removes accesses that a
 * caller does not need, and it is still one conflict. */
static void add_rest(const struct views *v, const struct conflict *c, number_list *names)
{
    const struct dh_view_code *code = &v->store.codes.at[c->s->code];
    size_t n = names->n;
    for (size_t i = 0; i < code->names.n; i++) {
        uint32_t name = code->names.at[i];
        if (!dh_view_may_access(&v->store, c->a->view, name) && !dh_view_may_access(&v->store, c->b->view, name))
            continue;
        for (size_t k = 0; k < n; k++)
            if (of_one_struct(v, name, names->at[k])) {
                add_name(names, name);
                break;
            }
    }
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

static void compare_against(struct views *v, const struct dh_view *s, const candidate_list *all)
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
            add_rest(v, &c, &names);
        }
    if (!first.a)
        return;
    uint32_t *set = as_set(&names);
    if (is_new(v, set))
        report(v, &first, set);
}

static void gather(const struct dh_guarded_views *g, const struct dh_view *s, uint32_t thread, candidate_list *out)
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
    const struct dh_view *v = *(struct dh_view *const *)a, *w = *(struct dh_view *const *)b;
    if (v->in.part.at.n != w->in.part.at.n)
        return v->in.part.at.n > w->in.part.at.n ? -1 : 1;
    return v->in.acquisition < w->in.acquisition ? -1 : v->in.acquisition > w->in.acquisition;
}

static void list_threads(const struct dh_guarded_views *g, number_list *threads)
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

/* Larger views first: reports about them cover their subsets (maximal views, §3.2). */
static void compare_views(void *arg, struct dh_guarded_views *g)
{
    struct views *v = arg;
    number_list threads = {0};
    candidate_list all = {0};
    v->steps = 0;
    list_threads(g, &threads);
    find_arrays(v, g);
    v->compared = g;
    if (threads.n > 1)
        qsort(g->views.at, g->views.n, sizeof *g->views.at, larger_first);
    for (size_t i = 0; threads.n > 1 && i < g->views.n; i++) {
        const struct dh_view *s = g->views.at[i];
        if (!s->atomic)
            continue;
        for (size_t t = 0; t < threads.n && v->steps < MOST_STEPS; t++) {
            if (threads.at[t] == s->in.thread)
                continue;
            gather(g, s, threads.at[t], &all);
            v->steps += g->views.n;
            compare_against(v, s, &all);
            release_candidates(&all);
        }
    }
    dh_vec_release(&threads);
    dh_vec_release(&all);
}

/* ---- the detector ---- */

static void *views_begin(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    (void)o, (void)why;
    struct views *v = DH_NEW(struct views);
    dh_view_store_init(&v->store, w);
    v->store.retire = compare_views;
    v->store.arg = v;
    return v;
}

static void views_event(void *self, const struct dh_event *e)
{
    struct views *v = self;
    dh_view_store_event(&v->store, e);
}

static void views_end(void *self)
{
    struct views *v = self;
    dh_view_store_end(&v->store);
}

static void views_release(void *self)
{
    struct views *v = self;
    for (size_t i = 0; i < v->reported.n; i++)
        free(v->reported.at[i]);
    dh_vec_release(&v->reported);
    dh_vec_release(&v->extents);
    dh_u64_map_release(&v->arrays);
    dh_view_store_release(&v->store);
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
