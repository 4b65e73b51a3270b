#include "analysis/atomic_publication.h"

#include "analysis/atomic_sync.h"
#include "base/alloc.h"

enum { DEEPEST = 16, CANDIDATES = 12 };

/* What a thread does to an atomic: writes it in order with a value that a test may have seen, or looks at it. */
struct dh_deed {
    struct dh_heap_cell at;
    struct dh_value_test test;
    uint16_t thread;
    bool looks;
    bool any;
    uint8_t *inst, *does; /* by instruction; by function: it, or what it calls */
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
    for (size_t n = 0; n < p->deeds.n; n++) {
        free(p->deeds.at[n].inst);
        free(p->deeds.at[n].does);
    }
    dh_vec_release(&p->deeds);
}

/* ---- who calls whom ---- */

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

/* ---- what threads do to atomics ---- */

static bool is_such(const struct dh_atomic_sync *m, const struct dh_deed *d, const struct dh_atomic_use *u)
{
    uint8_t op = m->symex->program->insts.at[u->inst].op;
    if (u->thread != d->thread)
        return false;
    if (d->looks)
        return m->looked[u->inst] & DH_ATOMIC_TESTED_ACQUIRE;
    return op != DH_I_LOAD && u->releases && !u->initial && (!u->valued || dh_value_test_holds(&d->test, u->value));
}

static void find_doers(struct dh_publication *p, struct dh_deed *d, uint32_t function)
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

static uint32_t deed(struct dh_publication *p, struct dh_heap_cell at, struct dh_value_test test, unsigned thread,
                     bool looks)
{
    const struct dh_atomic_sync *m = &p->symex->state->made;
    for (uint32_t n = 0; n < p->deeds.n; n++) {
        const struct dh_deed *d = &p->deeds.at[n];
        if (d->at.node == at.node && d->at.offset == at.offset && d->thread == thread && d->looks == looks &&
            same_test(&d->test, &test))
            return n;
    }
    struct dh_deed d = {.at = at, .test = test, .thread = (uint16_t)thread, .looks = looks};
    for (uint32_t n = dh_atomic_sync_first_use(m, at); dh_atomic_sync_is_use_of(m, n, at); n++)
        if (is_such(m, &d, &m->uses.at[n])) {
            if (!d.any) {
                d.inst = dh_xcalloc(p->symex->program->insts.n, 1);
                d.does = dh_xcalloc(p->symex->program->functions.n, 1);
                d.any = true;
            }
            d.inst[m->uses.at[n].inst] = 1;
            find_doers(p, &d, m->uses.at[n].function);
        }
    for (size_t n = 0; d.any && looks && n < m->looks.kept.n; n++)
        if (d.inst[m->looks.kept.at[n].test]) {
            d.inst[m->looks.kept.at[n].load] = 1;
            find_doers(p, &d, function_of(p, m->looks.kept.at[n].load));
        }
    dh_vec_push(&p->deeds, d);
    return (uint32_t)p->deeds.n - 1;
}

/* ---- before and after ---- */

struct question {
    struct dh_publication *p;
    uint32_t deed, unless; /* `unless`: what stops looking back, DH_NONE: nothing */
    unsigned thread, depth;
};

static bool does(const struct question *q, uint32_t which, uint32_t inst)
{
    const struct dh_symex *w = q->p->symex;
    const struct dh_deed *d = which == DH_NONE ? NULL : &q->p->deeds.at[which];
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
            found = does(q, q->deed, i);
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

/* The deed comes later: in the function, or behind each of its calls. */
static bool is_ahead(struct question *q, uint32_t function, uint32_t inst)
{
    struct dh_publication *p = q->p;
    const uint8_t *reached = reached_by(p, q->thread);
    bool any = false;
    if (!p->deeds.at[q->deed].any)
        return false;
    if (is_after(q, function, inst))
        return true;
    if (++q->depth > DEEPEST)
        return false;
    for (uint32_t n = p->first[function]; n < p->first[function + 1]; n++) {
        uint32_t caller = function_of(p, p->calls[n]);
        if (!reached[caller])
            continue;
        if (caller == function || !is_ahead(q, caller, p->calls[n]))
            return false;
        any = true;
    }
    q->depth--;
    return any;
}

enum { TOLD = 1, THROUGH = 2 }; /* found going back; came to the beginning of the function */

static unsigned look_back(struct question *q, uint32_t function, uint32_t inst);

static unsigned look_into(struct question *q, uint32_t call)
{
    const struct dh_symex *w = q->p->symex;
    const struct dh_program *m = w->program;
    unsigned all = 0;
    if (++q->depth > DEEPEST)
        return TOLD | THROUGH;
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, call), f;
         dh_call_graph_next(&w->points_to->calls, call, &it, &f);)
        for (uint32_t b = m->functions.at[f].block; b < m->functions.at[f].block + m->functions.at[f].n_blocks; b++) {
            uint32_t end = m->blocks.at[b].inst + m->blocks.at[b].n_insts - 1;
            if (m->insts.at[end].op == DH_I_RETURN)
                all |= look_back(q, f, end);
        }
    q->depth--;
    return all;
}

/* Instructions of a block, from `end` back. */
static unsigned scan_back(struct question *q, uint32_t block, uint32_t end)
{
    const struct dh_program *m = q->p->symex->program;
    for (uint32_t i = end; i-- > m->blocks.at[block].inst;) {
        bool one = does(q, q->deed, i), stop = does(q, q->unless, i);
        if (!one && !stop)
            continue;
        unsigned in = m->insts.at[i].op == DH_I_CALL ? look_into(q, i) : one && !stop ? TOLD : 0;
        if (in & TOLD || !(in & THROUGH))
            return in & TOLD;
    }
    return THROUGH;
}

static unsigned look_back(struct question *q, uint32_t function, uint32_t inst)
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
        all |= now & TOLD;
        all |= now & THROUGH && block == flow->first ? THROUGH : 0;
        for (uint32_t n = 0; now & THROUGH && n < b->n_preds; n++)
            dh_vec_push(&todo, dh_predecessors(m, b)[n]);
        while (todo.n && seen[todo.at[todo.n - 1] - flow->first])
            todo.n--;
        if (all & TOLD || !todo.n)
            break;
        block = todo.at[--todo.n];
        seen[block - flow->first] = 1;
        end = m->blocks.at[block].inst + m->blocks.at[block].n_insts;
    }
    dh_vec_release(&todo);
    free(seen);
    return all;
}

/* The deed may have been done before, and nothing of what stops it since. */
static bool is_told(struct question *q, uint32_t function, uint32_t inst)
{
    struct dh_publication *p = q->p;
    const uint8_t *reached = reached_by(p, q->thread);
    unsigned found = look_back(q, function, inst);
    if (found & TOLD || ++q->depth > DEEPEST)
        return true;
    bool told = false;
    for (uint32_t n = p->first[function]; found & THROUGH && !told && n < p->first[function + 1]; n++) {
        uint32_t caller = function_of(p, p->calls[n]);
        told = reached[caller] && (caller == function || is_told(q, caller, p->calls[n]));
    }
    q->depth--;
    return told;
}

/* ---- pairs ---- */

static bool comes_before(struct dh_publication *p, const struct dh_symex_event *e, uint32_t which)
{
    struct question q = {.p = p, .deed = which, .unless = DH_NONE, .thread = e->thread};
    return is_ahead(&q, p->symex->contexts.at[e->context].function, e->inst);
}

static bool comes_after(struct dh_publication *p, const struct dh_symex_event *e, uint32_t which, uint32_t unless)
{
    struct question q = {.p = p, .deed = which, .unless = unless, .thread = e->thread};
    return is_told(&q, p->symex->contexts.at[e->context].function, e->inst);
}

static struct dh_value_test test_of(const struct dh_symex_lock *h)
{
    return (struct dh_value_test){h->made == DH_SYNC_ATOMIC_FLAG ? h->test : DH_CMP_OTHER,
                                  h->made == DH_SYNC_ATOMIC_FLAG && h->test_known, h->number};
}

/* There is one such atomic, or it belongs to what is accessed. */
static bool is_the_one(const struct dh_symex *w, const struct dh_symex_lock *h)
{
    bool plain = dh_atomic_sync_has_plain_store(&w->state->made, (struct dh_heap_cell){h->node, h->offset});
    return !plain && (h->relation != DH_RELATION_NONE || (dh_symex_is_unique(w, h->node) && !h->element));
}

/* No value passes both. */
static bool exclude(const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    struct dh_value_test s = test_of(a), t = test_of(b);
    if (s.known && s.relation == DH_CMP_EQ)
        return t.known && !dh_value_test_holds(&t, s.number);
    return t.known && t.relation == DH_CMP_EQ && s.known && !dh_value_test_holds(&s, t.number);
}

/* In between, `a` waits for `g` of whoever did `b`, who waits for `h` again before it goes on. */
static bool takes_turns(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b,
                        uint32_t told, struct dh_heap_cell g, struct dh_value_test g_test, struct dh_heap_cell h)
{
    static const struct dh_value_test any = {DH_CMP_OTHER, false, 0};
    uint32_t back = deed(p, g, g_test, b->thread, false);
    if (!p->deeds.at[back].any)
        return false;
    uint32_t look = deed(p, g, any, a->thread, true), again = deed(p, h, any, b->thread, true);
    return comes_before(p, b, back) && !comes_after(p, a, told, look) && !comes_after(p, b, back, again);
}

static bool is_waited_for(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b,
                          uint32_t told, const struct dh_symex_lock *h)
{
    static const struct dh_value_test any = {DH_CMP_OTHER, false, 0};
    const struct dh_symex *w = p->symex;
    const struct dh_atomic_sync *m = &w->state->made;
    const struct dh_lockset *seen = &w->locksets.at[a->seen];
    struct dh_heap_cell at = {h->node, h->offset};
    unsigned tried = 0;
    for (uint32_t n = 0; n < seen->n; n++) {
        const struct dh_symex_lock *g = &w->held.at[seen->first + n];
        if (g->node == h->node && g->offset == h->offset && exclude(g, h) &&
            takes_turns(p, a, b, told, at, test_of(g), at))
            return true;
    }
    struct dh_heap_cell last = DH_NO_CELL;
    for (size_t n = 0; n < m->uses.n && tried < CANDIDATES; n++) {
        const struct dh_atomic_use *u = &m->uses.at[n];
        struct dh_heap_cell g = {u->node, u->offset};
        if (u->thread != a->thread || !(m->looked[u->inst] & DH_ATOMIC_TESTED_ACQUIRE) ||
            (g.node == at.node && g.offset == at.offset) || (g.node == last.node && g.offset == last.offset))
            continue;
        last = g;
        tried++;
        if (takes_turns(p, a, b, told, g, any, at))
            return true;
    }
    return false;
}

static bool hands_over(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b,
                       const struct dh_symex_lock *h)
{
    if (h->made != DH_SYNC_ATOMIC_FLAG && h->made != DH_SYNC_ATOMIC_LAST)
        return false;
    uint32_t told = deed(p, (struct dh_heap_cell){h->node, h->offset}, test_of(h), a->thread, false);
    if (!p->deeds.at[told].any || !is_the_one(p->symex, h) || !comes_before(p, a, told))
        return false;
    return !comes_after(p, a, told, DH_NONE) || (h->made == DH_SYNC_ATOMIC_FLAG && is_waited_for(p, a, b, told, h));
}

/* `a` is done before what `b` waited for. */
static bool is_before(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    const struct dh_symex *w = p->symex;
    const struct dh_lockset *seen = &w->locksets.at[b->seen], *held = &w->locksets.at[b->lockset];
    for (uint32_t n = 0; n < seen->n; n++)
        if (hands_over(p, a, b, &w->held.at[seen->first + n]))
            return true;
    for (uint32_t n = 0; n < held->n; n++)
        if (hands_over(p, a, b, &w->held.at[held->first + n]))
            return true;
    return false;
}

bool dh_publication_orders(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    if (p->symex->strict || !p->symex->state->made.uses.n)
        return false;
    if (!p->first)
        find_calls(p);
    return is_before(p, a, b) || is_before(p, b, a);
}
