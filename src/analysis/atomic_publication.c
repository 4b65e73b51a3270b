#include "analysis/atomic_publication.h"

#include "analysis/atomic_sync.h"
#include "base/alloc.h"

enum { DEEPEST = 16, CANDIDATES = 12 };

/* An operation of a thread on an atomic: a release write of a value that a test may have read, or an acquire load. */
struct dh_publication_op {
    struct dh_heap_cell at;
    struct dh_value_test test;
    uint16_t thread;
    bool tests;
    bool any;
    uint8_t *inst, *does; /* by instruction; by function: it or a callee does it */
};

void dh_publication_init(struct dh_publication *p, struct dh_symex *w)
{
    *p = (struct dh_publication){.symex = w};
}

void dh_publication_release(struct dh_publication *p)
{
    free(p->first);
    free(p->calls);
    for (unsigned n = 0; n < DH_ABSTRACT_THREADS_MAX; n++)
        free(p->reached[n]);
    for (size_t n = 0; n < p->ops.n; n++) {
        free(p->ops.at[n].inst);
        free(p->ops.at[n].does);
    }
    dh_vec_release(&p->ops);
}

/* ---- callers ---- */

static void find_calls(struct dh_publication *p)
{
    const struct dh_program *m = p->symex->program;
    const struct dh_call_graph *c = &p->symex->points_to->calls;
    p->first = dh_xcalloc(m->functions.n + 2, sizeof *p->first);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < m->insts.n; i++)
            for (uint32_t it = dh_call_graph_first(c, i), f;
                 m->insts.at[i].op == DH_I_CALL && dh_call_graph_next(c, i, &it, &f);) {
                if (round)
                    p->calls[p->first[f + 1]] = i;
                p->first[f + (round ? 1 : 2)]++;
            }
        if (round)
            break;
        for (uint32_t f = 2; f < m->functions.n + 2; f++)
            p->first[f] += p->first[f - 1];
        p->calls = dh_xcalloc(p->first[m->functions.n + 1], sizeof *p->calls);
    }
}

static uint32_t function_of(const struct dh_publication *p, uint32_t inst)
{
    return p->symex->program->blocks.at[dh_program_block_of(p->symex->program, inst)].function;
}

static const uint8_t *reached_by(struct dh_publication *p, unsigned thread)
{
    const struct dh_program *m = p->symex->program;
    const struct dh_call_graph *c = &p->symex->points_to->calls;
    DH_VEC(uint32_t) todo = {0};
    if (p->reached[thread])
        return p->reached[thread];
    uint8_t *seen = p->reached[thread] = dh_xcalloc(m->functions.n, 1);
    dh_vec_push(&todo, p->symex->threads.at[thread].function);
    while (todo.n) {
        uint32_t at = todo.at[--todo.n];
        const struct dh_function *f = &m->functions.at[at];
        if (seen[at])
            continue;
        seen[at] = 1;
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
            for (uint32_t i = m->blocks.at[b].inst; i < m->blocks.at[b].inst + m->blocks.at[b].n_insts; i++)
                for (uint32_t it = dh_call_graph_first(c, i), to;
                     m->insts.at[i].op == DH_I_CALL && dh_call_graph_next(c, i, &it, &to);)
                    dh_vec_push(&todo, to);
    }
    dh_vec_release(&todo);
    return seen;
}

/* ---- operations of threads on atomics ---- */

static bool is_such(const struct dh_atomic_sync *m, const struct dh_publication_op *d, const struct dh_atomic_use *u)
{
    uint8_t op = m->symex->program->insts.at[u->inst].op;
    if (u->thread != d->thread)
        return false;
    if (d->tests)
        return m->roles[u->inst] & DH_ATOMIC_TESTED_ACQUIRE;
    return op != DH_I_LOAD && u->releases && !u->initial && (!u->valued || dh_value_test_holds(&d->test, u->value));
}

static void find_functions(struct dh_publication *p, struct dh_publication_op *d, uint32_t function)
{
    const uint8_t *reached = reached_by(p, d->thread);
    DH_VEC(uint32_t) todo = {0};
    dh_vec_push(&todo, function);
    while (todo.n) {
        uint32_t f = todo.at[--todo.n];
        if (d->does[f] || !reached[f])
            continue;
        d->does[f] = 1;
        for (uint32_t n = p->first[f]; n < p->first[f + 1]; n++)
            dh_vec_push(&todo, function_of(p, p->calls[n]));
    }
    dh_vec_release(&todo);
}

static bool same_test(const struct dh_value_test *a, const struct dh_value_test *b)
{
    return a->relation == b->relation && a->known == b->known && a->number == b->number;
}

static uint32_t op(struct dh_publication *p, struct dh_heap_cell at, struct dh_value_test test, unsigned thread,
                   bool tests)
{
    const struct dh_atomic_sync *m = &p->symex->state->atomics;
    for (uint32_t n = 0; n < p->ops.n; n++) {
        const struct dh_publication_op *d = &p->ops.at[n];
        if (d->at.node == at.node && d->at.offset == at.offset && d->thread == thread && d->tests == tests &&
            same_test(&d->test, &test))
            return n;
    }
    struct dh_publication_op d = {.at = at, .test = test, .thread = (uint16_t)thread, .tests = tests};
    for (uint32_t n = dh_atomic_sync_first_use(m, at); dh_atomic_sync_is_use_of(m, n, at); n++)
        if (is_such(m, &d, &m->uses.at[n])) {
            if (!d.any) {
                d.inst = dh_xcalloc(p->symex->program->insts.n, 1);
                d.does = dh_xcalloc(p->symex->program->functions.n, 1);
                d.any = true;
            }
            d.inst[m->uses.at[n].inst] = 1;
            find_functions(p, &d, m->uses.at[n].function);
        }
    for (size_t n = 0; d.any && tests && n < m->looks.kept.n; n++)
        if (d.inst[m->looks.kept.at[n].test]) {
            d.inst[m->looks.kept.at[n].load] = 1;
            find_functions(p, &d, function_of(p, m->looks.kept.at[n].load));
        }
    dh_vec_push(&p->ops, d);
    return (uint32_t)p->ops.n - 1;
}

/* ---- before and after ---- */

struct question {
    struct dh_publication *p;
    uint32_t op, unless; /* `unless`: an operation that ends the search, DH_NONE: none */
    unsigned thread, depth;
};

static bool does(const struct question *q, uint32_t which, uint32_t inst)
{
    const struct dh_symex *w = q->p->symex;
    const struct dh_publication_op *d = which == DH_NONE ? NULL : &q->p->ops.at[which];
    if (!d || !d->any)
        return false;
    if (d->inst[inst] || w->program->insts.at[inst].op != DH_I_CALL)
        return d->inst[inst];
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, inst), f;
         dh_call_graph_next(&w->points_to->calls, inst, &it, &f);)
        if (d->does[f])
            return true;
    return false;
}

static bool is_after(struct question *q, uint32_t function, uint32_t inst)
{
    const struct dh_program *m = q->p->symex->program;
    const struct dh_cfg *flow = dh_symex_cfg(q->p->symex, function);
    uint8_t *seen = dh_xcalloc(flow->n, 1);
    DH_VEC(uint32_t) todo = {0};
    bool found = false;
    uint32_t from = inst + 1, block = dh_program_block_of(m, inst);
    for (;;) {
        const struct dh_basic_block *b = &m->blocks.at[block];
        for (uint32_t i = from; i < b->inst + b->n_insts && !found; i++)
            found = does(q, q->op, i);
        for (uint32_t n = 0; n < b->n_succs; n++)
            dh_vec_push(&todo, dh_successors(m, b)[n]);
        while (todo.n && seen[todo.at[todo.n - 1] - flow->first])
            todo.n--;
        if (found || !todo.n)
            break;
        block = todo.at[--todo.n];
        seen[block - flow->first] = 1;
        from = m->blocks.at[block].inst;
    }
    dh_vec_release(&todo);
    free(seen);
    return found;
}

/* The operation comes later: in the function, or after each of its calls. */
static bool is_done_later(struct question *q, uint32_t function, uint32_t inst)
{
    struct dh_publication *p = q->p;
    const uint8_t *reached = reached_by(p, q->thread);
    bool any = false;
    if (!p->ops.at[q->op].any)
        return false;
    if (is_after(q, function, inst))
        return true;
    if (++q->depth > DEEPEST)
        return false;
    for (uint32_t n = p->first[function]; n < p->first[function + 1]; n++) {
        uint32_t caller = function_of(p, p->calls[n]);
        if (!reached[caller])
            continue;
        if (caller == function || !is_done_later(q, caller, p->calls[n]))
            return false;
        any = true;
    }
    q->depth--;
    return any;
}

enum { FOUND = 1, ENTRY = 2 }; /* found backwards; a path comes from the entry of the function */

static unsigned search_back(struct question *q, uint32_t function, uint32_t inst);

static unsigned search_callees(struct question *q, uint32_t call)
{
    const struct dh_symex *w = q->p->symex;
    const struct dh_program *m = w->program;
    unsigned all = 0;
    if (++q->depth > DEEPEST)
        return FOUND | ENTRY;
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, call), f;
         dh_call_graph_next(&w->points_to->calls, call, &it, &f);)
        for (uint32_t b = m->functions.at[f].block; b < m->functions.at[f].block + m->functions.at[f].n_blocks; b++) {
            uint32_t end = m->blocks.at[b].inst + m->blocks.at[b].n_insts - 1;
            if (m->insts.at[end].op == DH_I_RETURN)
                all |= search_back(q, f, end);
        }
    q->depth--;
    return all;
}

/* Instructions of a block, from `end` back. */
static unsigned scan_back(struct question *q, uint32_t block, uint32_t end)
{
    const struct dh_program *m = q->p->symex->program;
    for (uint32_t i = end; i-- > m->blocks.at[block].inst;) {
        bool one = does(q, q->op, i), stop = does(q, q->unless, i);
        if (!one && !stop)
            continue;
        unsigned in = m->insts.at[i].op == DH_I_CALL ? search_callees(q, i) : one && !stop ? FOUND : 0;
        if (in & FOUND || !(in & ENTRY))
            return in & FOUND;
    }
    return ENTRY;
}

static unsigned search_back(struct question *q, uint32_t function, uint32_t inst)
{
    const struct dh_program *m = q->p->symex->program;
    const struct dh_cfg *flow = dh_symex_cfg(q->p->symex, function);
    uint8_t *seen = dh_xcalloc(flow->n, 1);
    DH_VEC(uint32_t) todo = {0};
    uint32_t block = dh_program_block_of(m, inst), end = inst;
    unsigned all = 0;
    for (;;) {
        const struct dh_basic_block *b = &m->blocks.at[block];
        unsigned now = scan_back(q, block, end);
        all |= now & FOUND;
        all |= now & ENTRY && block == flow->first ? ENTRY : 0;
        for (uint32_t n = 0; now & ENTRY && n < b->n_preds; n++)
            dh_vec_push(&todo, dh_predecessors(m, b)[n]);
        while (todo.n && seen[todo.at[todo.n - 1] - flow->first])
            todo.n--;
        if (all & FOUND || !todo.n)
            break;
        block = todo.at[--todo.n];
        seen[block - flow->first] = 1;
        end = m->blocks.at[block].inst + m->blocks.at[block].n_insts;
    }
    dh_vec_release(&todo);
    free(seen);
    return all;
}

/* The operation may have been done before, without one of `unless` since. */
static bool is_done_before(struct question *q, uint32_t function, uint32_t inst)
{
    struct dh_publication *p = q->p;
    const uint8_t *reached = reached_by(p, q->thread);
    unsigned found = search_back(q, function, inst);
    if (found & FOUND || ++q->depth > DEEPEST)
        return true;
    bool write = false;
    for (uint32_t n = p->first[function]; found & ENTRY && !write && n < p->first[function + 1]; n++) {
        uint32_t caller = function_of(p, p->calls[n]);
        write = reached[caller] && (caller == function || is_done_before(q, caller, p->calls[n]));
    }
    q->depth--;
    return write;
}

/* ---- pairs ---- */

static bool comes_before(struct dh_publication *p, const struct dh_symex_event *e, uint32_t which)
{
    struct question q = {.p = p, .op = which, .unless = DH_NONE, .thread = e->thread};
    return is_done_later(&q, p->symex->contexts.at[e->context].function, e->inst);
}

static bool comes_after(struct dh_publication *p, const struct dh_symex_event *e, uint32_t which, uint32_t unless)
{
    struct question q = {.p = p, .op = which, .unless = unless, .thread = e->thread};
    return is_done_before(&q, p->symex->contexts.at[e->context].function, e->inst);
}

static struct dh_value_test test_of(const struct dh_symex_lock *h)
{
    return (struct dh_value_test){h->sync_kind == DH_SYNC_ATOMIC_FLAG ? h->test : DH_CMP_OTHER,
                                  h->sync_kind == DH_SYNC_ATOMIC_FLAG && h->test_known, h->number};
}

/* The atomic is unique, or belongs to the object that is accessed. */
static bool is_certain(const struct dh_symex *w, const struct dh_symex_lock *h)
{
    bool plain = dh_atomic_sync_has_plain_store(&w->state->atomics, (struct dh_heap_cell){h->node, h->offset});
    return !plain && (h->relation != DH_RELATION_NONE || (dh_symex_is_unique(w, h->node) && !h->element));
}

/* No value satisfies both tests. */
static bool contradict(const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    struct dh_value_test s = test_of(a), t = test_of(b);
    if (s.known && s.relation == DH_CMP_EQ)
        return t.known && !dh_value_test_holds(&t, s.number);
    return t.known && t.relation == DH_CMP_EQ && s.known && !dh_value_test_holds(&s, t.number);
}

/* Alternation: a's thread waits for `g` from b's thread, which waits for `h` again before it goes on. */
static bool alternate(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b,
                      uint32_t write, struct dh_heap_cell g, struct dh_value_test g_test, struct dh_heap_cell h)
{
    static const struct dh_value_test any = {DH_CMP_OTHER, false, 0};
    uint32_t back = op(p, g, g_test, b->thread, false);
    if (!p->ops.at[back].any)
        return false;
    uint32_t test = op(p, g, any, a->thread, true), again = op(p, h, any, b->thread, true);
    return comes_before(p, b, back) && !comes_after(p, a, write, test) && !comes_after(p, b, back, again);
}

static bool is_awaited(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b,
                       uint32_t write, const struct dh_symex_lock *h)
{
    static const struct dh_value_test any = {DH_CMP_OTHER, false, 0};
    const struct dh_symex *w = p->symex;
    const struct dh_atomic_sync *m = &w->state->atomics;
    const struct dh_lockset *seen = &w->locksets.at[a->flags_seen];
    struct dh_heap_cell at = {h->node, h->offset};
    unsigned tried = 0;
    for (uint32_t n = 0; n < seen->n; n++) {
        const struct dh_symex_lock *g = &w->held.at[seen->first + n];
        if (g->node == h->node && g->offset == h->offset && contradict(g, h) &&
            alternate(p, a, b, write, at, test_of(g), at))
            return true;
    }
    struct dh_heap_cell last = DH_NO_CELL;
    for (size_t n = 0; n < m->uses.n && tried < CANDIDATES; n++) {
        const struct dh_atomic_use *u = &m->uses.at[n];
        struct dh_heap_cell g = {u->node, u->offset};
        if (u->thread != a->thread || !(m->roles[u->inst] & DH_ATOMIC_TESTED_ACQUIRE) ||
            (g.node == at.node && g.offset == at.offset) || (g.node == last.node && g.offset == last.offset))
            continue;
        last = g;
        tried++;
        if (alternate(p, a, b, write, g, any, at))
            return true;
    }
    return false;
}

static bool publishes(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b,
                      const struct dh_symex_lock *h)
{
    if (h->sync_kind != DH_SYNC_ATOMIC_FLAG && h->sync_kind != DH_SYNC_ATOMIC_LAST)
        return false;
    uint32_t write = op(p, (struct dh_heap_cell){h->node, h->offset}, test_of(h), a->thread, false);
    if (!p->ops.at[write].any || !is_certain(p->symex, h) || !comes_before(p, a, write))
        return false;
    return !comes_after(p, a, write, DH_NONE) || (h->sync_kind == DH_SYNC_ATOMIC_FLAG && is_awaited(p, a, b, write, h));
}

/* `a` precedes what `b` waited for. */
static bool is_before(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    const struct dh_symex *w = p->symex;
    const struct dh_lockset *seen = &w->locksets.at[b->flags_seen], *held = &w->locksets.at[b->lockset];
    for (uint32_t n = 0; n < seen->n; n++)
        if (publishes(p, a, b, &w->held.at[seen->first + n]))
            return true;
    for (uint32_t n = 0; n < held->n; n++)
        if (publishes(p, a, b, &w->held.at[held->first + n]))
            return true;
    return false;
}

bool dh_publication_orders(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    if (p->symex->strict || !p->symex->state->atomics.uses.n)
        return false;
    if (!p->first)
        find_calls(p);
    return is_before(p, a, b) || is_before(p, b, a);
}
