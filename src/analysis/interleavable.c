#include "analysis/interleavable.h"

#include "analysis/races.h"
#include "base/alloc.h"

#include <stdlib.h>

struct finder {
    struct dh_symex *symex;
    const struct dh_program *p;
    uint8_t *hot;    /* by event: begins one */
    uint8_t *syncs;  /* by function: it or a callee may acquire a lock or wait */
    uint8_t *blind;  /* by instruction: 0 unknown, BLIND: a write without a read since the last acquire, or SEEN */
    uint32_t *defs;  /* by register of the program: the instruction, DH_NONE */
    uint32_t *order; /* events by node */
    DH_VEC(uint32_t) work;
    DH_VEC(uint32_t) seen; /* blocks */
};
enum { BLIND = 1, SEEN };

/* ---- calls ---- */

static uint8_t of_callees(const struct dh_call_graph *calls, uint32_t function, const uint8_t *of_function)
{
    const struct dh_program *p = calls->program;
    const struct dh_function *f = &p->functions.at[function];
    uint8_t all = 0;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++) {
            if (dh_inst_class(&p->insts.at[i]) != DH_CLASS_CALL)
                continue;
            for (uint32_t it = dh_call_graph_first(calls, i), to; dh_call_graph_next(calls, i, &it, &to);)
                all |= of_function[to];
        }
    return all;
}

/* Bottom-up over SCCs. */
void dh_spread_to_callers(const struct dh_call_graph *calls, uint8_t *of_function)
{
    for (uint32_t g = 0; g < calls->n_sccs; g++) {
        uint32_t first = calls->scc_first[g], end = calls->scc_first[g + 1];
        uint8_t all = 0;
        for (uint32_t n = first; n < end; n++)
            all |= (uint8_t)(of_function[calls->order[n]] | of_callees(calls, calls->order[n], of_function));
        for (uint32_t n = first; n < end; n++)
            of_function[calls->order[n]] = all;
    }
}

static void find_syncs(struct finder *f)
{
    for (uint32_t b = 0; b < f->p->blocks.n; b++)
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++) {
            enum dh_inst_class class = dh_inst_class(&f->p->insts.at[f->p->blocks.at[b].inst + n]);
            if (class == DH_CLASS_SYNC || class == DH_CLASS_THREAD)
                f->syncs[f->p->blocks.at[b].function] = 1;
        }
    dh_spread_to_callers(&f->symex->points_to->calls, f->syncs);
}

/* May order another thread's events before what follows: an acquire. */
static bool may_acquire(const struct finder *f, uint32_t inst)
{
    const struct dh_call_graph *calls = &f->symex->points_to->calls;
    enum dh_inst_class class = dh_inst_class(&f->p->insts.at[inst]);
    if (class != DH_CLASS_CALL)
        return class == DH_CLASS_SYNC || class == DH_CLASS_THREAD;
    for (uint32_t it = dh_call_graph_first(calls, inst), to; dh_call_graph_next(calls, inst, &it, &to);)
        if (f->syncs[to])
            return true;
    return false;
}

/* ---- blind writes: of bytes not accessed since the last acquire ---- */

static void find_defs(struct finder *f)
{
    for (size_t n = 0; n < f->p->registers.n; n++)
        f->defs[n] = DH_NONE;
    for (uint32_t b = 0; b < f->p->blocks.n; b++) {
        uint32_t first = f->p->functions.at[f->p->blocks.at[b].function].registers;
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++) {
            uint32_t inst = f->p->blocks.at[b].inst + n;
            if (f->p->insts.at[inst].result != DH_NONE)
                f->defs[first + f->p->insts.at[inst].result] = inst;
        }
    }
}

/* An address as base and constant offset. */
struct address {
    dh_value base;
    uint32_t def; /* of the base, DH_NONE: constant in the function */
    int64_t offset;
};

static struct address address_of(const struct finder *f, uint32_t function, dh_value v)
{
    struct address a = {.base = v, .def = DH_NONE};
    uint32_t first = f->p->functions.at[function].registers;
    while (dh_is_register(a.base) && f->defs[first + a.base] != DH_NONE) {
        const struct dh_inst *i = &f->p->insts.at[f->defs[first + a.base]];
        if (i->op != DH_I_OFFSET && (i->op != DH_I_COPY || i->flags & DH_INST_CAST)) {
            a.def = f->defs[first + a.base];
            break;
        }
        a.offset += i->op == DH_I_OFFSET ? i->offset : 0;
        a.base = dh_operand(f->p, i, 0);
    }
    return a;
}

static bool is_access(const struct dh_inst *i)
{
    return (i->op == DH_I_LOAD || i->op == DH_I_STORE) && !i->order && i->size &&
           !(i->flags & (DH_INST_VOLATILE | DH_INST_LIBRARY | DH_INST_SYNTHETIC));
}

static bool looks_at(const struct finder *f, uint32_t function, uint32_t inst, const struct address *a, uint32_t size)
{
    const struct dh_inst *i = &f->p->insts.at[inst];
    if (!is_access(i) || i->size < size)
        return false;
    struct address at = address_of(f, function, dh_operand(f->p, i, 0));
    return at.base == a->base && at.offset == a->offset;
}

/* Backwards from instruction `n` of the block; true: an acquire comes first, or unknown. */
static bool is_blind_in(struct finder *f, uint32_t block, uint32_t n, const struct address *a, uint32_t size)
{
    const struct dh_basic_block *b = &f->p->blocks.at[block];
    while (n-- > 0) {
        if (looks_at(f, b->function, b->inst + n, a, size))
            return false;
        /* Before its base is computed, the address is another expression. */
        if (b->inst + n == a->def || may_acquire(f, b->inst + n))
            return true;
    }
    for (uint32_t k = 0; k < b->n_preds; k++)
        dh_vec_push(&f->work, dh_predecessors(f->p, b)[k]);
    return block == f->p->functions.at[b->function].block || !b->n_preds;
}

static bool was_seen(struct finder *f, uint32_t block)
{
    for (size_t n = 0; n < f->seen.n; n++)
        if (f->seen.at[n] == block)
            return true;
    dh_vec_push(&f->seen, block);
    return false;
}

/* An access of the same address between the last acquire and the write replaces the thread's earlier access in the
 * detector's state. */
static bool find_blind(struct finder *f, uint32_t inst)
{
    enum { FAR = 64 }; /* blocks */
    const struct dh_inst *i = &f->p->insts.at[inst];
    if (i->op != DH_I_STORE || !is_access(i))
        return true;
    uint32_t block = dh_program_block_of(f->p, inst);
    struct address a = address_of(f, f->p->blocks.at[block].function, dh_operand(f->p, i, 0));
    f->work.n = f->seen.n = 0;
    if (is_blind_in(f, block, inst - f->p->blocks.at[block].inst, &a, i->size))
        return true;
    while (f->work.n) {
        block = f->work.at[--f->work.n];
        if (was_seen(f, block))
            continue;
        if (f->seen.n > FAR || is_blind_in(f, block, f->p->blocks.at[block].n_insts, &a, i->size))
            return true;
    }
    return false;
}

static bool is_blind(struct finder *f, uint32_t inst)
{
    if (!f->blind[inst])
        f->blind[inst] = find_blind(f, inst) ? BLIND : SEEN;
    return f->blind[inst] == BLIND;
}

/* ---- events ---- */

static bool is_access_event(const struct dh_symex_event *e)
{
    return e->kind == DH_SYMEX_READ || e->kind == DH_SYMEX_WRITE;
}

/* Another thread's write before it, after an access of this one, is ordered by a lock that it holds or by a join. */
static bool may_be_late(struct finder *f, const struct dh_symex_event *e)
{
    if (e->kind != DH_SYMEX_WRITE || e->flags & DH_SYMEX_ATOMIC)
        return false;
    const struct dh_order_state *o = &f->symex->orders.at[e->order];
    return (f->symex->locksets.at[e->lockset].n || o->started & o->joined) && is_blind(f, e->inst);
}

/* May one thread execute both in one call? Constructors and exit handlers run in main's thread, other handlers in
 * any. */
static bool may_share_call(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    uint32_t p = w->threads.at[a->thread].kind, q = w->threads.at[b->thread].kind;
    bool anywhere = (p != DH_ROOT_MAIN && p != DH_ROOT_COUNT) || (q != DH_ROOT_MAIN && q != DH_ROOT_COUNT);
    return a->thread == b->thread || anywhere;
}

/* The other events of its node: `first` to `end` in the order. */
static bool has_partners(struct finder *f, uint32_t event, uint32_t first, uint32_t end)
{
    const struct dh_symex_event *e = &f->symex->events.at[event];
    bool reads = false, writes = false;
    for (uint32_t n = first; n < end && !(reads && writes); n++) {
        const struct dh_symex_event *o = &f->symex->events.at[f->order[n]];
        bool same = o->thread == e->thread, alone = f->symex->threads.at[e->thread].unique;
        if (o->flags & DH_SYMEX_ATOMIC || !dh_events_may_overlap(f->symex, e, o))
            continue;
        reads |= o->kind == DH_SYMEX_READ && may_share_call(f->symex, e, o);
        writes |= o->kind == DH_SYMEX_WRITE && !(same && alone);
    }
    return reads && writes;
}

static const struct dh_symex_event *events_to_sort;
static int by_node(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t p = events_to_sort[x].node, q = events_to_sort[y].node;
    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

/* All events of one node that overlap with an interleavable one: the thread's earlier access is to the same bytes. */
static void spread_object(struct finder *f, uint32_t first, uint32_t end, uint8_t *all)
{
    enum { MOST = 4000 }; /* beyond, all are */
    const struct dh_symex_event *events = f->symex->events.at;
    DH_VEC(uint32_t) hot = {0};
    for (uint32_t n = first; n < end; n++) {
        uint32_t e = f->order[n];
        if (f->hot[e] || (may_be_late(f, &events[e]) && (hot.n > MOST || has_partners(f, e, first, end))))
            dh_vec_push(&hot, e);
    }
    for (uint32_t n = first; n < end; n++) {
        uint32_t e = f->order[n];
        all[e] = f->hot[e] || hot.n > MOST;
        for (size_t k = 0; k < hot.n && !all[e]; k++)
            all[e] = dh_events_may_overlap(f->symex, &events[e], &events[hot.at[k]]);
    }
    dh_vec_release(&hot);
}

static void spread(struct finder *f, uint8_t *all)
{
    uint32_t n_events = 0;
    for (uint32_t n = 0; n < f->symex->events.n; n++)
        if (is_access_event(&f->symex->events.at[n]))
            f->order[n_events++] = n;
    events_to_sort = f->symex->events.at;
    qsort(f->order, n_events, sizeof *f->order, by_node);
    for (uint32_t first = 0, end; first < n_events; first = end) {
        uint32_t node = f->symex->events.at[f->order[first]].node;
        for (end = first + 1; end < n_events && f->symex->events.at[f->order[end]].node == node; end++)
            ;
        spread_object(f, first, end, all);
    }
}

uint8_t *dh_find_interleavable(struct dh_symex *w, const uint8_t *unsafe)
{
    const struct dh_program *p = w->program;
    struct finder f = {.symex = w, .p = p, .hot = dh_xcalloc(w->events.n, 1), .syncs = dh_xcalloc(p->functions.n, 1)};
    f.blind = dh_xcalloc(p->insts.n, 1);
    f.defs = dh_xcalloc(p->registers.n, sizeof *f.defs);
    f.order = dh_xcalloc(w->events.n, sizeof *f.order);
    for (uint32_t n = 0; n < w->events.n; n++)
        f.hot[n] = unsafe[n] || w->points_to->graph.nodes.at[w->events.at[n].node].flags & DH_NODE_EXPOSED;
    uint8_t *all = dh_xcalloc(w->events.n, 1);
    find_syncs(&f);
    find_defs(&f);
    spread(&f, all);
    free(f.hot);
    free(f.syncs);
    free(f.blind);
    free(f.defs);
    free(f.order);
    dh_vec_release(&f.work);
    dh_vec_release(&f.seen);
    return all;
}
