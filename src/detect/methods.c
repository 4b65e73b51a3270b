/* Method consistency (003 ch. 5) in a run: functions that are not atomic though every access is locked.
 *
 * A function acquires a lock in one section P1, releases it, and acquires it again in P2. A section Q of another thread
 * under that lock that conflicts with both can come between: what the function knows from P1 is stale in P2. The
 * chapter reports every method whose lock views form no chain, reads and updates of one variable being different; as it
 * says itself (§5.3, §5.4.2), most of these are intended. Here P1 and P2 must be related:
 *  - stale value: what P1 reads of x (and Q writes) is used in P2, as the link step found (event/scope_table.h,
 *    DH_FLOW_DATA): Programs 5.1 and, beyond the chapter, 5.4. P2 and Q conflict over x, or over another variable y of
 *    the same object.
 *  - check, then act: P1 only reads, and what it reads of x decides whether P2 is entered (DH_FLOW_CONTROL): Program
 *    5.3. Silent when P1 changes what Q accesses (a reservation), or when P2 tests x again before it acts.
 *  - one update in two halves: P1 and P2 each update the same variable of two instances and change nothing else, and Q
 *    reads both (a transfer between accounts, and an auditor).
 * Where flow of values is not known (traces of other tools), a pattern must do: P1 reads x, P2 writes it without
 * reading; or P1 reads x and P2 accesses y alone, and Q both.
 * Two variables that are only written apart and read together are view inconsistencies (views.c), not reported here.
 *
 * The function is the innermost one whose activation has both sections (the lowest method of Fig. 5.5); callers of a
 * reported function are not reported for the same variable. Excluded: functions that release that lock in a condition
 * wait while they are active, in any activation (intended, §5.3); what creation, join, conditions, semaphores or
 * atomics order (initialisation, §5.2.1); sections inside an outer lock that Q holds as well; a section that follows
 * itself in a loop, unless its value is carried round. Without events of functions (no scope hooks), a thread is one
 * function. */
#include "detect/detector.h"
#include "detect/view_store.h"

#include "base/alloc.h"
#include "base/str.h"
#include "event/scope_table.h"

#include <string.h>

const struct dh_detector dh_detector_methods;

enum {
    MOST_PARTS = 48,   /* sections kept for one activation: of one code the last counts */
    MOST_PAIRS = 2048, /* of one lock */
    MOST_STEPS = 20000000
};

/* A function of the program. */
struct function {
    uint32_t name;            /* of the store's names */
    DH_VEC(uint32_t) callers; /* indices */
};

struct part {
    struct dh_view *view;
    uint32_t lock; /* id */
};

struct activation {
    uint32_t function;
    DH_VEC(struct part) parts; /* sections that ended in it and in what it called, oldest first */
};

struct thread {
    DH_VEC(struct activation) stack; /* [0] is the thread itself */
    bool has_scopes;
};

/* P1 and P2 of one thread in one activation. */
struct pair {
    uint32_t function;
    const struct dh_view *first, *second;
    struct dh_hb_snapshot *began; /* when it was first seen */
    struct dh_hb_epoch last;      /* when it was last seen */
};

/* A violation, kept until the end: its function may still wait for a condition. */
struct violation {
    uint32_t function, x, y; /* index; names */
    uint64_t at, size;
    uint32_t object;
    uint32_t lock, lock_site;
    struct dh_suspect suspects[4];
    struct dh_lock_hold locks[4];
    size_t n;
    const char *how;
};

struct methods {
    struct dh_view_store store;
    DH_VEC(struct thread *) threads;
    DH_VEC(struct function) functions;
    struct dh_u64_map by_name, by_pair, by_flow, waits;
    DH_VEC(struct guard_pairs *) guards; /* by index of by_guard */
    struct dh_u64_map by_guard;
    DH_VEC(struct violation) found;
    struct dh_u64_map reported;
    uint64_t steps;
};

struct guard_pairs {
    DH_VEC(struct pair) all;
};

/* ---- functions and activations ---- */

/* Without a name it is the thread's own. */
static uint32_t function_number(struct methods *m, uint32_t name, uint32_t thread)
{
    uint64_t *number = dh_u64_map_at(&m->by_name, name ? name : (uint64_t)thread + 1 + UINT32_MAX);
    if (!*number) {
        dh_vec_push(&m->functions, (struct function){.name = name});
        *number = m->functions.n;
    }
    return (uint32_t)(*number - 1);
}

static struct thread *thread_of(struct methods *m, uint32_t index)
{
    if (index >= DH_RUN_THREADS_MAX)
        return NULL;
    while (m->threads.n <= index)
        dh_vec_push(&m->threads, NULL);
    struct thread **t = &m->threads.at[index];
    if (!*t) {
        *t = dh_xcalloc(1, sizeof **t);
        dh_vec_push(&(*t)->stack, (struct activation){.function = function_number(m, 0, index)});
    }
    return *t;
}

static void add_caller(struct function *f, uint32_t caller)
{
    for (size_t i = 0; i < f->callers.n; i++)
        if (f->callers.at[i] == caller)
            return;
    dh_vec_push(&f->callers, caller);
}

static void enter(struct methods *m, const struct dh_event *e)
{
    struct thread *t = thread_of(m, e->thread);
    if (!t)
        return;
    uint32_t name = dh_field_names_number(&m->store.names, dh_run_function(m->store.run, e->site));
    uint32_t f = function_number(m, name, e->thread);
    add_caller(&m->functions.at[f], t->stack.at[t->stack.n - 1].function);
    dh_vec_push(&t->stack, (struct activation){.function = f});
    t->has_scopes = true;
}

static void drop_code(struct activation *a, size_t code)
{
    size_t n = 0;
    for (size_t i = 0; i < a->parts.n; i++)
        if (a->parts.at[i].view->code != code)
            a->parts.at[n++] = a->parts.at[i];
    a->parts.n = n;
}

/* Of too many, the oldest is dropped. */
static void add_part(struct activation *a, struct part p)
{
    if (a->parts.n >= MOST_PARTS) {
        memmove(&a->parts.at[0], &a->parts.at[1], (a->parts.n - 1) * sizeof *a->parts.at);
        a->parts.n--;
    }
    dh_vec_push(&a->parts, p);
}

static void leave(struct methods *m, const struct dh_event *e)
{
    struct thread *t = thread_of(m, e->thread);
    if (!t || t->stack.n < 2)
        return;
    struct activation *a = &t->stack.at[--t->stack.n], *caller = a - 1;
    for (size_t i = 0; i < a->parts.n; i++)
        add_part(caller, a->parts.at[i]);
    dh_vec_release(&a->parts);
}

static uint64_t *waits_at(struct methods *m, uint32_t function, uint32_t lock)
{
    return dh_u64_map_at(&m->waits, dh_hash_combine(dh_hash_combine(11, function), lock));
}

static void wait_begins(struct methods *m, const struct dh_event *e)
{
    struct thread *t = thread_of(m, e->thread);
    uint32_t lock = dh_run_lock_id(m->store.run, e->arg);
    for (size_t i = 0; t && i < t->stack.n; i++)
        *waits_at(m, t->stack.at[i].function, lock) = 1;
}

/* ---- pairs ---- */

static struct guard_pairs *pairs_of(struct methods *m, uint32_t lock)
{
    uint64_t *number = dh_u64_map_at(&m->by_guard, (uint64_t)lock + 1);
    if (!*number) {
        struct guard_pairs *new = DH_NEW(struct guard_pairs);
        dh_vec_push(&m->guards, new);
        *number = m->guards.n;
    }
    return m->guards.at[*number - 1];
}

/* -1: not known. */
static int flow(struct methods *m, uint32_t read, uint32_t lock)
{
    uint64_t *known = dh_u64_map_at(&m->by_flow, dh_hash_combine(dh_hash_combine(3, read), lock));
    if (!*known)
        *known = (uint64_t)(dh_run_flow(m->store.run, read, lock) + 2);
    return (int)*known - 2;
}

/* Whether P1 and P2 can be related at all, whatever comes between. */
static bool may_be_related(struct methods *m, const struct dh_view *first, const struct dh_view *second)
{
    bool update = false;
    for (size_t i = 0; i < first->in.part.at.n; i++) {
        const struct dh_field *f = &first->in.part.at.at[i];
        int how = f->how & DH_FIELD_READ ? flow(m, f->read.site, second->in.site) : 0;
        if (how < 0 || how & (DH_FLOW_DATA | DH_FLOW_CONTROL))
            return true;
        update = update || (f->how & DH_FIELD_WRITTEN);
    }
    return update;
}

/* A section with a condition wait releases its lock on purpose, also in a run in which it need not wait. */
static bool may_wait(struct methods *m, const struct dh_view *v)
{
    bool nobody_signals;
    return dh_run_may_wait(m->store.run, v->in.site, 0, &nobody_signals) != DH_NO_PLACE;
}

static void add_pair(struct methods *m, struct dh_guarded_views *g, const struct activation *a, struct dh_view *first,
                     struct dh_view *second)
{
    uint64_t key = dh_hash_combine(dh_hash_combine((uintptr_t)first, (uintptr_t)second), a->function);
    key = dh_hash_combine(key, g->id);
    uint64_t *known = dh_u64_map_at(&m->by_pair, key);
    struct guard_pairs *pairs = pairs_of(m, g->id);
    if (*known == UINT64_MAX)
        return;
    if (!*known) {
        *known = UINT64_MAX;
        if (pairs->all.n >= MOST_PAIRS || !may_be_related(m, first, second) || may_wait(m, first) ||
            may_wait(m, second))
            return;
        struct pair new = {.function = a->function, .first = first, .second = second};
        new.began = dh_hb_snapshot_ref(dh_hb_snapshots_current(&m->store.snapshots, second->in.thread));
        dh_vec_push(&pairs->all, new);
        *dh_u64_map_at(&m->by_pair, key) = pairs->all.n;
        known = dh_u64_map_at(&m->by_pair, key);
    }
    pairs->all.at[*known - 1].last = dh_hb_snapshots_epoch(&m->store.snapshots, second->in.thread);
}

static void section(void *arg, struct dh_guarded_views *g, struct dh_view *v, const struct dh_critical_section *c)
{
    struct methods *m = arg;
    struct thread *t = v ? thread_of(m, c->thread) : NULL;
    if (!t)
        return;
    /* Functions that a thread runs one after the other are not meant to be atomic together. */
    for (size_t d = t->stack.n; d-- > (t->has_scopes ? 1u : 0u);) {
        struct activation *a = &t->stack.at[d];
        for (size_t i = 0; i < a->parts.n; i++)
            if (a->parts.at[i].lock == g->id && a->parts.at[i].view->code != v->code)
                add_pair(m, g, a, a->parts.at[i].view, v);
    }
    /* The newest section of one code replaces older ones, under any lock: later values come from it. */
    for (size_t d = 0; d < t->stack.n; d++)
        drop_code(&t->stack.at[d], v->code);
    add_part(&t->stack.at[t->stack.n - 1], (struct part){v, g->id});
}

/* ---- comparing ---- */

struct clash {
    const struct dh_field *mine, *other; /* of P1 or P2, of Q */
    uint64_t at, end;
};

typedef DH_VEC(struct clash) clash_list;

static void find_clashes(const struct dh_view *p, const struct dh_view *q, clash_list *out)
{
    struct dh_field_set_common k = {0};
    out->n = 0;
    while (dh_field_set_next_common(&p->in.part, &q->in.part, &k))
        if (((k.a->how | k.b->how) & DH_FIELD_WRITTEN) && k.a->name)
            dh_vec_push(out, (struct clash){k.a, k.b, k.at, k.end});
}

static bool is_same(const struct clash *x, const struct clash *y)
{
    return x->mine->object == y->mine->object && x->at < y->end && y->at < x->end;
}

static bool only_reads(const clash_list *first)
{
    for (size_t i = 0; i < first->n; i++)
        if (first->at[i].mine->how & DH_FIELD_WRITTEN)
            return false;
    return true;
}

static bool is_tested(struct methods *m, const struct dh_field *f)
{
    int read = f->how & DH_FIELD_READ ? flow(m, f->read.site, DH_NO_PLACE) : 0;
    int write = f->how & DH_FIELD_WRITTEN ? flow(m, f->write.site, DH_NO_PLACE) : 0;
    return (read > 0 && read & DH_FLOW_DECIDES) || (write > 0 && write & DH_FLOW_DECIDES);
}

/* P2 reads x again and branches on it. A read is not recorded where a write of the same variable follows, so the place
 * of the write stands for it. */
static bool tests_again(struct methods *m, const struct clash *x, const struct dh_view *second)
{
    for (size_t i = 0; i < second->in.part.at.n; i++) {
        const struct dh_field *f = &second->in.part.at.at[i];
        if (f->object == x->mine->object && f->at < x->end && x->at < f->end && is_tested(m, f))
            return true;
    }
    return false;
}

static bool touches(const struct dh_view *v, const struct clash *x)
{
    return dh_field_set_overlaps(&v->in.part, x->mine->object, x->at, x->end);
}

/* Nothing but that variable: an insertion into a table changes more than one. */
static bool writes_only(const struct dh_view *v, uint32_t name)
{
    for (size_t i = 0; i < v->in.part.at.n; i++)
        if (v->in.part.at.at[i].how & DH_FIELD_WRITTEN && v->in.part.at.at[i].name != name)
            return false;
    return true;
}

/* Writes a value computed from the old one. Of a read that a write follows, only the write may be recorded: then the
 * code must show it. */
static bool is_update(struct methods *m, const struct dh_view *v, const struct dh_field *f)
{
    size_t n;
    if (!(f->how & DH_FIELD_WRITTEN) || f->how & DH_FIELD_READ)
        return f->how & DH_FIELD_WRITTEN;
    const char *const *reads = dh_run_may_access(m->store.run, v->in.site, false, &n);
    for (size_t i = 0; reads && i < n; i++)
        if (strcmp(reads[i], dh_field_name(&m->store.names, f->name)) == 0)
            return true;
    return false;
}

/* P1 updates x, and P2 updates it by the value that P1 left (inc(c, inc(c, 0)), Program 5.4). Any other use of the
 * value in P2 is what P1 was for: a reservation. */
static bool uses_own_update(struct methods *m, const struct pair *p, const struct clash *x, const struct clash *y,
                            bool same)
{
    bool update = same && !(x->mine->how & DH_FIELD_READ) && y->mine->how & DH_FIELD_WRITTEN &&
                  x->other->how & DH_FIELD_WRITTEN && x->mine->object == y->mine->object &&
                  is_update(m, p->first, x->mine);
    int how = update ? flow(m, x->mine->write.site, p->second->in.site) : 0;
    return how > 0 && how & DH_FLOW_DATA;
}

/* What relates x of P1 and y of P2, or NULL. */
static const char *reason(struct methods *m, const struct pair *p, const struct clash *x, const struct clash *y,
                          bool reads_only)
{
    bool same = is_same(x, y);
    if (x->mine->how & DH_FIELD_READ && x->other->how & DH_FIELD_WRITTEN && x->mine->object == y->mine->object) {
        int how = flow(m, x->mine->read.site, p->second->in.site);
        if (how < 0) {
            bool blind = same && x->mine->how == DH_FIELD_READ && y->mine->how == DH_FIELD_WRITTEN;
            bool split = !same && reads_only && x->mine->name != y->mine->name && !touches(p->second, x) &&
                         !touches(p->first, y);
            return blind || split ? "the value may be stale" : NULL;
        }
        if (how & DH_FLOW_DATA)
            return "the value is used there and may be stale";
        bool acts = same ? (y->mine->how & DH_FIELD_WRITTEN) != 0 : true;
        if (how & DH_FLOW_CONTROL && reads_only && acts && !tests_again(m, x, p->second))
            return "it decides whether the second is entered, and may no longer be so";
    }
    if (uses_own_update(m, p, x, y, same))
        return "the value is used there and may be stale";
    bool halves = !same && x->mine->name == y->mine->name && is_update(m, p->first, x->mine) &&
                  is_update(m, p->second, y->mine) && x->other->how == DH_FIELD_READ &&
                  y->other->how == DH_FIELD_READ && m->functions.at[p->function].name &&
                  writes_only(p->first, x->mine->name) && writes_only(p->second, y->mine->name);
    return halves ? "half of the change can be seen" : NULL;
}

static struct dh_suspect suspect_of(const struct dh_view *v, const struct dh_field *f, const struct clash *c,
                                    bool write, const char *note)
{
    const struct dh_field_place *p = write ? &f->write : &f->read;
    return (struct dh_suspect){.op = write ? DH_OP_WRITE : DH_OP_READ,
                               .thread = v->in.thread,
                               .site = p->site,
                               .ctx = p->ctx,
                               .addr = c->at,
                               .size = c->end - c->at,
                               .n_locks = 1,
                               .note = note};
}

static void add_suspect(struct violation *v, struct dh_suspect s, const struct dh_view *of)
{
    v->locks[v->n] = dh_view_lock(of);
    v->suspects[v->n++] = s;
}

static void keep(struct methods *m, const struct pair *p, const struct dh_view *q, const struct clash *x,
                 const struct clash *y, const char *how)
{
    uint32_t function = m->functions.at[p->function].name;
    if (!function)
        function = dh_field_names_number(&m->store.names, dh_run_function(m->store.run, p->second->in.site));
    struct violation v = {.function = p->function,
                          .x = x->mine->name,
                          .y = y->mine->name,
                          .at = x->at,
                          .size = x->end - x->at,
                          .object = x->mine->object,
                          .lock = p->first->in.id,
                          .lock_site = p->first->in.site,
                          .how = how};
    uint64_t key = dh_hash_combine(dh_hash_combine(function, v.x), v.y);
    if (++*dh_u64_map_at(&m->reported, key) > 1)
        return;
    bool reads_x = x->mine->how & DH_FIELD_READ, q_writes = x->other->how & DH_FIELD_WRITTEN, write;
    add_suspect(&v, suspect_of(p->first, x->mine, x, !reads_x, "in the first section"), p->first);
    add_suspect(&v, suspect_of(q, x->other, x, q_writes, "in between"), q);
    dh_field_place_of(y->mine, &write);
    add_suspect(&v, suspect_of(p->second, y->mine, y, write, "in the second section"), p->second);
    if (!is_same(x, y)) {
        dh_field_place_of(y->other, &write);
        add_suspect(&v, suspect_of(q, y->other, y, write, "in between"), q);
    }
    dh_vec_push(&m->found, v);
}

/* The same variable first: it is the clearest. */
static bool compare_three(struct methods *m, const struct pair *p, const struct dh_view *q, const clash_list *first,
                          const clash_list *second)
{
    bool reads_only = only_reads(first);
    for (int same = 1; same >= 0; same--)
        for (size_t i = 0; i < first->n; i++)
            for (size_t j = 0; j < second->n; j++) {
                const struct clash *x = &first->at[i], *y = &second->at[j];
                m->steps++;
                if (is_same(x, y) != same)
                    continue;
                const char *how = reason(m, p, x, y, reads_only);
                if (!how)
                    continue;
                keep(m, p, q, x, y, how);
                return true;
            }
    return false;
}

static void compare_pair(struct methods *m, const struct dh_guarded_views *g, const struct pair *p)
{
    clash_list first = {0}, second = {0};
    bool found = false;
    for (size_t i = 0; !found && i < g->views.n && m->steps < MOST_STEPS; i++) {
        const struct dh_view *q = g->views.at[i];
        m->steps++;
        if (!q->atomic || q->in.thread == p->first->in.thread ||
            dh_critical_sections_share_outer(&q->in, &p->first->in, &p->second->in))
            continue;
        find_clashes(p->first, q, &first);
        if (first.n)
            find_clashes(p->second, q, &second);
        if (first.n && second.n && dh_view_comes_between(q, p->began, p->last))
            found = compare_three(m, p, q, &first, &second);
    }
    dh_vec_release(&first);
    dh_vec_release(&second);
}

/* No more sections of this lock will come. */
static void forget_parts(struct methods *m, uint32_t lock)
{
    for (size_t t = 0; t < m->threads.n; t++)
        for (size_t d = 0; m->threads.at[t] && d < m->threads.at[t]->stack.n; d++) {
            struct activation *a = &m->threads.at[t]->stack.at[d];
            size_t n = 0;
            for (size_t i = 0; i < a->parts.n; i++)
                if (a->parts.at[i].lock != lock)
                    a->parts.at[n++] = a->parts.at[i];
            a->parts.n = n;
        }
}

static void release_pairs(struct guard_pairs *pairs)
{
    for (size_t i = 0; i < pairs->all.n; i++)
        dh_hb_snapshot_unref(pairs->all.at[i].began);
    dh_vec_release(&pairs->all);
}

static void compare_views(void *arg, struct dh_guarded_views *g)
{
    struct methods *m = arg;
    struct guard_pairs *pairs = pairs_of(m, g->id);
    m->steps = 0;
    for (size_t i = 0; i < pairs->all.n; i++)
        compare_pair(m, g, &pairs->all.at[i]);
    release_pairs(pairs);
    forget_parts(m, g->id);
}

/* ---- reporting ---- */

static bool is_above(const struct methods *m, uint32_t caller, uint32_t f, uint8_t *seen)
{
    const struct function *fn = &m->functions.at[f];
    if (seen[f])
        return false;
    seen[f] = 1;
    for (size_t i = 0; i < fn->callers.n; i++)
        if (fn->callers.at[i] == caller || is_above(m, caller, fn->callers.at[i], seen))
            return true;
    return false;
}

/* The function releases the lock in a condition wait. */
static bool is_intended(struct methods *m, const struct violation *v)
{
    return *waits_at(m, v->function, v->lock) != 0;
}

/* A function that calls one that is reported for the same variable is not reported itself (Fig. 5.5, phase 3). */
static bool is_lowest(struct methods *m, const struct violation *v)
{
    for (size_t i = 0; i < m->found.n; i++) {
        const struct violation *other = &m->found.at[i];
        if (other->function == v->function || other->x != v->x || is_intended(m, other))
            continue;
        uint8_t *seen = dh_xcalloc(m->functions.n, 1);
        bool above = is_above(m, v->function, other->function, seen);
        memset(seen, 0, m->functions.n);
        bool mutual = above && is_above(m, other->function, v->function, seen);
        free(seen);
        if (above && !mutual)
            return false;
    }
    return true;
}

static const char *or_else(const char *text, const char *other)
{
    return *text ? text : other;
}

static void report(struct methods *m, struct violation *v)
{
    struct dh_str text = {0}, key = {0};
    const struct dh_field_names *names = &m->store.names;
    const char *function = dh_field_name(names, m->functions.at[v->function].name);
    function = or_else(function, or_else(dh_run_function(m->store.run, v->suspects[2].site), "a function"));
    const char *lock = or_else(dh_run_variable(m->store.run, v->lock_site), "a lock");
    const char *x = dh_field_name(names, v->x), *y = dh_field_name(names, v->y);
    dh_str_addf(&text, "%s accesses %s in one section of %s and %s in another; thread %u can come between: %s",
                function, x, lock, v->x == v->y ? "it again" : y, v->suspects[1].thread, v->how);
    dh_str_addf(&key, "methods:%s:%s|%s", function, x, y);
    for (size_t i = 0; i < v->n; i++)
        v->suspects[i].locks = &v->locks[i];
    struct dh_suspicion said = {.kind = DH_FINDING_ATOMICITY,
                                .level = DH_LEVEL_SUSPECTED,
                                .addr = v->at,
                                .size = v->size,
                                .object = v->object,
                                .suspects = v->suspects,
                                .n_suspects = v->n,
                                .text = text.at,
                                .key = key.at};
    dh_run_report(m->store.run, &dh_detector_methods, &said);
    dh_str_release(&text);
    dh_str_release(&key);
}

/* ---- the detector ---- */

static void *methods_begin(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    (void)o, (void)why;
    struct methods *m = DH_NEW(struct methods);
    dh_view_store_init(&m->store, w);
    m->store.retire = compare_views;
    m->store.section = section;
    m->store.arg = m;
    return m;
}

static void methods_event(void *self, const struct dh_event *e)
{
    struct methods *m = self;
    if (e->kind == DH_EVENT_ENTER)
        enter(m, e);
    else if (e->kind == DH_EVENT_LEAVE)
        leave(m, e);
    else if (e->kind == DH_EVENT_COND_WAIT)
        wait_begins(m, e);
    dh_view_store_event(&m->store, e);
}

static void methods_end(void *self)
{
    struct methods *m = self;
    dh_view_store_end(&m->store);
    for (size_t i = 0; i < m->found.n; i++) {
        struct violation *v = &m->found.at[i];
        if (!is_intended(m, v) && is_lowest(m, v))
            report(m, v);
    }
}

static void release_thread(struct thread *t)
{
    for (size_t d = 0; t && d < t->stack.n; d++)
        dh_vec_release(&t->stack.at[d].parts);
    if (t)
        dh_vec_release(&t->stack);
    free(t);
}

static void methods_release(void *self)
{
    struct methods *m = self;
    for (size_t t = 0; t < m->threads.n; t++)
        release_thread(m->threads.at[t]);
    for (size_t i = 0; i < m->functions.n; i++)
        dh_vec_release(&m->functions.at[i].callers);
    for (size_t i = 0; i < m->guards.n; i++) {
        release_pairs(m->guards.at[i]);
        free(m->guards.at[i]);
    }
    dh_vec_release(&m->threads);
    dh_vec_release(&m->functions);
    dh_vec_release(&m->guards);
    dh_vec_release(&m->found);
    dh_u64_map_release(&m->by_name);
    dh_u64_map_release(&m->by_pair);
    dh_u64_map_release(&m->by_flow);
    dh_u64_map_release(&m->waits);
    dh_u64_map_release(&m->by_guard);
    dh_u64_map_release(&m->reported);
    dh_view_store_release(&m->store);
    free(m);
}

const struct dh_detector dh_detector_methods = {
    .name = "methods",
    .summary = "functions that use under a lock what they read under it before and others may have changed",
    .events = DH_EVENTS_ACCESS | DH_EVENTS_ATOMIC | DH_EVENTS_MEMORY | DH_EVENTS_LOCK | DH_EVENTS_CONDITION |
              DH_EVENTS_ORDER | DH_EVENTS_THREAD | DH_EVENTS_SCOPE,
    .begin = methods_begin,
    .event = methods_event,
    .end = methods_end,
    .release = methods_release,
};
