#include "analysis/ownership_transfer.h"

#include "analysis/guard_conditions.h"
#include "analysis/races.h"
#include "analysis/symex_internal.h"
#include "base/alloc.h"

enum { PLACES = 16, DEEPEST = 40, MOST_STEPS = 600 };

struct query {
    struct dh_ownership_transfer *h;
    uint32_t lock; /* symex.held + 2 of the first removal, 0 = none yet */
    unsigned depth, steps;
    struct {
        uint32_t function, reg;
    } under_way[DEEPEST]; /* queries under way: a value that depends on itself is decided by the others */
    struct dh_heap_cell places[PLACES];
    unsigned n_places; /* whose contents were or are being queried */
};

static bool is_removed(struct query *q, const struct dh_call_path *at, dh_value v);

/* A query under way is true unless something else contradicts it. Tags distinguish queries about one value. */
enum { TAG_VALUE = 0, TAG_CONTENT = 1 << 29, TAG_RUN = 1 << 30 };

static bool is_under_way(const struct query *q, uint32_t function, uint32_t reg)
{
    for (unsigned n = 0; n < q->depth; n++)
        if (q->under_way[n].function == function && q->under_way[n].reg == reg)
            return true;
    return false;
}

static bool begin_query(struct query *q, uint32_t function, uint32_t reg)
{
    if (++q->steps > MOST_STEPS || q->depth >= DEEPEST)
        return false;
    q->under_way[q->depth].function = function;
    q->under_way[q->depth++].reg = reg;
    return true;
}

/* ---- events ---- */

void dh_ownership_transfer_init(struct dh_ownership_transfer *h, struct dh_symex *w)
{
    *h = (struct dh_ownership_transfer){.symex = w};
    h->locked = dh_xcalloc(w->program->insts.n, sizeof *h->locked);
    h->reads = dh_xcalloc(w->program->insts.n, sizeof *h->reads);
    h->removed = dh_xcalloc(w->events.n, sizeof *h->removed);
    h->writes = dh_xcalloc(w->events.n, sizeof *h->writes);
    for (uint32_t n = 0; n < w->events.n; n++) {
        const struct dh_symex_event *e = &w->events.at[n];
        const struct dh_lockset *l = &w->locksets.at[e->lockset];
        if (e->kind == DH_SYMEX_READ && !h->reads[e->inst])
            h->reads[e->inst] = n + 1;
        if (e->kind == DH_SYMEX_READ && h->locked[e->inst] != UINT32_MAX)
            h->locked[e->inst] = l->n ? l->first + l->n : UINT32_MAX; /* the lock acquired last */
        if (e->kind == DH_SYMEX_WRITE && !(e->flags & (DH_SYMEX_FREE | DH_SYMEX_LOCK_USE)))
            h->writes[h->n_writes++] = n;
    }
    dh_symex_sort_by_place(w, h->writes, h->n_writes);
}

void dh_ownership_transfer_release(struct dh_ownership_transfer *h)
{
    free(h->locked);
    free(h->reads);
    free(h->removed);
    free(h->writes);
}

/* ---- removal from a container ---- */

static struct dh_term term_of(struct query *q, uint32_t function, dh_value v)
{
    return dh_value_term(&q->h->symex->state->values, function, v);
}

/* The function also stores to where this value was loaded from. */
static bool is_replaced(struct query *q, uint32_t function, struct dh_term from)
{
    struct dh_symex *w = q->h->symex;
    struct dh_value_numbering *x = &w->state->values;
    const struct dh_function *f = &w->program->functions.at[function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = w->program->blocks.at[b].inst;
             i < w->program->blocks.at[b].inst + w->program->blocks.at[b].n_insts; i++) {
            const struct dh_inst *inst = &w->program->insts.at[i];
            if (inst->op != DH_I_STORE && inst->op != DH_I_RMW && inst->op != DH_I_CAS)
                continue;
            struct dh_term to = term_of(q, function, dh_operand(w->program, inst, 0));
            if (to.expr && to.offset == from.offset && dh_expr_canonical(x, to.expr) == dh_expr_canonical(x, from.expr))
                return true;
        }
    return false;
}

/* Loads inside of an index: `unused[--n]` removes by changing n. */
static bool index_is_replaced(struct query *q, uint32_t function, uint32_t expr)
{
    const struct dh_value_numbering *x = &q->h->symex->state->values;
    for (int depth = 0; expr && depth < 8; depth++) {
        struct dh_expr e = x->exprs.at[expr];
        if (e.kind == DH_EXPR_LOAD && is_replaced(q, function, (struct dh_term){e.a, true, e.offset}))
            return true;
        if (e.kind == DH_EXPR_BINARY && index_is_replaced(q, function, e.b))
            return true;
        expr = e.kind == DH_EXPR_BINARY ? e.a : 0;
    }
    return false;
}

/* A load under a lock from a location that is overwritten: a removal. */
static bool is_removal(struct query *q, uint32_t function, uint32_t inst)
{
    struct dh_symex *w = q->h->symex;
    uint32_t lock = q->h->locked[inst];
    if (!lock || lock == UINT32_MAX)
        return false;
    struct dh_term from = term_of(q, function, dh_operand(w->program, &w->program->insts.at[inst], 0));
    if (!from.expr)
        return false;
    struct dh_expr e = w->state->values.exprs.at[from.expr];
    bool out = is_replaced(q, function, from) || (e.kind == DH_EXPR_INDEX && index_is_replaced(q, function, e.b));
    if (out && !q->lock)
        q->lock = lock + 1;
    return out;
}

/* ---- objects of the thread ---- */

/* An object that was passed to this very thread at its start, or allocated by it. */
static bool is_own(struct query *q, const struct dh_call_path *at, dh_value v, int depth)
{
    const struct dh_value_numbering *x = &q->h->symex->state->values;
    uint32_t expr = term_of(q, at->function, v).expr;
    while (expr && x->exprs.at[expr].kind == DH_EXPR_INDEX)
        expr = x->exprs.at[expr].a;
    if (!expr || depth > DEEPEST)
        return false;
    struct dh_expr e = x->exprs.at[expr];
    if (e.kind == DH_EXPR_OBJECT)
        return true;
    if (e.kind != DH_EXPR_PARAM)
        return false;
    struct dh_call_path caller;
    dh_value up;
    if (dh_call_path_argument(q->h->symex, at, e.a, &caller, &up))
        return is_own(q, &caller, up, depth + 1);
    if (at->up || q->h->symex->contexts.at[at->context].caller != DH_NONE)
        return false;
    return q->h->symex->threads.at[q->h->symex->contexts.at[at->context].thread].own_argument;
}

static bool stores_removed(struct query *q, uint32_t event)
{
    const struct dh_symex *w = q->h->symex;
    const struct dh_symex_event *e = &w->events.at[event];
    const struct dh_inst *i = &w->program->insts.at[e->inst];
    struct dh_call_path at = {w->contexts.at[e->context].function, DH_NONE, NULL, e->context};
    return i->op == DH_I_STORE && is_removed(q, &at, dh_operand(w->program, i, 1));
}

/* Initialisation: before any thread could remove it. */
static bool is_first(const struct query *q, const struct dh_symex_event *write, const struct dh_symex_event *load)
{
    enum dh_argument a = dh_conflicts_argue(q->h->symex, write, load, false);
    return write->flags & DH_SYMEX_NOT_PASSED || a == DH_ARGUMENT_FRESH || a == DH_ARGUMENT_START ||
           a == DH_ARGUMENT_ALONE;
}

/* Every value stored there was removed from a container: the owner keeps it there. */
static bool keeps_removed(struct query *q, const struct dh_symex_event *load)
{
    const struct dh_symex *w = q->h->symex;
    uint32_t low = 0, high = q->h->n_writes;
    bool any = false;
    for (unsigned n = 0; n < q->n_places; n++)
        if (q->places[n].node == load->node && q->places[n].offset == load->offset)
            return true;
    if (q->n_places == PLACES)
        return false;
    q->places[q->n_places++] = (struct dh_heap_cell){load->node, load->offset};
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        const struct dh_symex_event *e = &w->events.at[q->h->writes[mid]];
        if (e->node < load->node || (e->node == load->node && e->offset < load->offset))
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < q->h->n_writes; low++) {
        const struct dh_symex_event *e = &w->events.at[q->h->writes[low]];
        if (e->node != load->node || e->offset != load->offset)
            break;
        if (is_first(q, e, load))
            continue;
        if (!stores_removed(q, q->h->writes[low]))
            return false;
        any = true;
    }
    return any;
}

static const struct dh_symex_event *event_of(const struct query *q, uint32_t inst)
{
    const struct dh_symex *w = q->h->symex;
    return q->h->reads[inst] ? &w->events.at[q->h->reads[inst] - 1] : NULL;
}

/* What a callee stores through a pointer to a local variable of the function. */
static bool callee_stores_removed(struct query *q, const struct dh_call_path *at, uint32_t call, uint32_t param)
{
    const struct dh_symex *w = q->h->symex;
    const struct dh_program *p = w->program;
    bool any = false;
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, call), to;
         dh_call_graph_next(&w->points_to->calls, call, &it, &to);) {
        const struct dh_function *f = &p->functions.at[to];
        struct dh_call_path in = {to, call, at, DH_NONE};
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
            for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++) {
                const struct dh_inst *inst = &p->insts.at[i];
                if (inst->op != DH_I_STORE)
                    continue;
                struct dh_term to_where = term_of(q, to, dh_operand(p, inst, 0));
                struct dh_expr e = w->state->values.exprs.at[to_where.expr];
                if (e.kind != DH_EXPR_PARAM || e.a != param)
                    continue;
                if (!is_removed(q, &in, dh_operand(p, inst, 1)))
                    return false;
                any = true;
            }
    }
    return any;
}

/* A variable on the stack: all that is stored there, by the function or by callees that get its address. */
static bool slot_holds_removed(struct query *q, const struct dh_call_path *at, uint32_t slot)
{
    const struct dh_program *p = q->h->symex->program;
    const struct dh_function *f = &p->functions.at[at->function];
    bool any = false;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++) {
            const struct dh_inst *inst = &p->insts.at[i];
            if (inst->op == DH_I_STORE && term_of(q, at->function, dh_operand(p, inst, 0)).expr == slot)
                any |= is_removed(q, at, dh_operand(p, inst, 1)); /* the first value may be the thread's own index */
            for (uint32_t n = 1; inst->op == DH_I_CALL && n < inst->n_operands; n++)
                if (term_of(q, at->function, dh_operand(p, inst, n)).expr == slot) {
                    if (!callee_stores_removed(q, at, i, n - 1))
                        return false;
                    any = true;
                }
        }
    return any;
}

/* ---- values ---- */

/* Whether what is loaded from this address was removed from a container by this thread. */
static bool holds_removed(struct query *q, const struct dh_call_path *at, uint32_t load, dh_value address)
{
    const struct dh_program *p = q->h->symex->program;
    const struct dh_value_numbering *x = &q->h->symex->state->values;
    struct dh_term from = term_of(q, at->function, address);
    if (is_removed(q, at, address) || is_under_way(q, at->function, address | TAG_CONTENT))
        return true;
    if (from.expr && x->exprs.at[from.expr].kind == DH_EXPR_OBJECT)
        return slot_holds_removed(q, at, from.expr);
    const uint32_t *defined = dh_symex_definitions(q->h->symex, at->function);
    uint32_t inst = dh_is_register(address) ? defined[address] : DH_NONE;
    if (inst != DH_NONE && p->insts.at[inst].op == DH_I_PHI) {
        if (!begin_query(q, at->function, address | TAG_CONTENT))
            return false;
        bool all = true;
        for (uint32_t n = 0; all && n < p->insts.at[inst].n_operands; n += 2)
            all = holds_removed(q, at, load, dh_operand(p, &p->insts.at[inst], n));
        q->depth--;
        return all;
    }
    const struct dh_symex_event *e = event_of(q, load);
    return e && is_own(q, at, address, 0) && keeps_removed(q, e);
}

static bool call_returns_removed(struct query *q, const struct dh_call_path *at, uint32_t inst)
{
    const struct dh_symex *w = q->h->symex;
    const struct dh_program *p = w->program;
    bool any = false;
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, inst), to;
         dh_call_graph_next(&w->points_to->calls, inst, &it, &to);) {
        const struct dh_function *f = &p->functions.at[to];
        struct dh_call_path in = {to, inst, at, DH_NONE};
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
            const struct dh_inst *end = &p->insts.at[p->blocks.at[b].inst + p->blocks.at[b].n_insts - 1];
            if (end->op != DH_I_RETURN || !end->n_operands)
                continue;
            if (!is_removed(q, &in, dh_operand(p, end, 0)))
                return false;
            any = true;
        }
    }
    return any;
}

static bool inst_yields_removed(struct query *q, const struct dh_call_path *at, uint32_t inst)
{
    const struct dh_program *p = q->h->symex->program;
    const struct dh_inst *i = &p->insts.at[inst];
    uint32_t first = i->op == DH_I_SELECT ? 1 : 0, step = i->op == DH_I_PHI ? 2 : 1;
    switch (i->op) {
    case DH_I_PHI:
    case DH_I_SELECT:
        for (uint32_t n = first; n < i->n_operands; n += step)
            if (!is_removed(q, at, dh_operand(p, i, n)))
                return false;
        return true;
    case DH_I_COPY:
    case DH_I_OFFSET:
        return is_removed(q, at, dh_operand(p, i, 0));
    case DH_I_INDEX:
        return is_removed(q, at, dh_operand(p, i, 0)) || (i->n_operands > 1 && is_removed(q, at, dh_operand(p, i, 1)));
    case DH_I_LOAD:
        return is_removal(q, at->function, inst) || holds_removed(q, at, inst, dh_operand(p, i, 0));
    case DH_I_CALL:
        return call_returns_removed(q, at, inst);
    case DH_I_ALLOC: /* the container was empty */
        return true;
    default:
        return false;
    }
}

static bool is_removed(struct query *q, const struct dh_call_path *at, dh_value v)
{
    struct dh_symex *w = q->h->symex;
    int64_t number;
    if (++q->steps > MOST_STEPS)
        return false;
    if (!dh_is_register(v))
        return dh_value_int(w->program, v, &number) && number <= 0; /* none */
    if (v < w->program->functions.at[at->function].n_params) {
        struct dh_call_path caller;
        dh_value up;
        return dh_call_path_argument(q->h->symex, at, v, &caller, &up) && is_removed(q, &caller, up);
    }
    if (is_under_way(q, at->function, v))
        return true;
    uint32_t inst = dh_symex_definitions(w, at->function)[v];
    if (inst == DH_NONE || !begin_query(q, at->function, v))
        return false;
    bool yes = inst_yields_removed(q, at, inst);
    q->depth--;
    return yes;
}

/* ---- accesses ---- */

static uint32_t address_of(const struct dh_symex *w, const struct dh_symex_event *e)
{
    const struct dh_inst *i = &w->program->insts.at[e->inst];
    return i->op == DH_I_MEMCPY && e->kind == DH_SYMEX_READ ? 1 : 0;
}

/* An iteration pointer that starts at an object of the thread and goes over removed ones. */
static bool iterates_removed(struct query *q, const struct dh_call_path *at, dh_value v)
{
    const struct dh_program *p = q->h->symex->program;
    uint32_t inst = dh_is_register(v) ? dh_symex_definitions(q->h->symex, at->function)[v] : DH_NONE;
    if (is_removed(q, at, v))
        return true;
    if (inst == DH_NONE || p->insts.at[inst].op != DH_I_PHI)
        return false;
    if (is_under_way(q, at->function, v | TAG_RUN))
        return true;
    if (!begin_query(q, at->function, v | TAG_RUN))
        return false;
    bool all = true;
    for (uint32_t n = 0; all && n < p->insts.at[inst].n_operands; n += 2) {
        dh_value from = dh_operand(p, &p->insts.at[inst], n);
        all = is_own(q, at, from, 0) || iterates_removed(q, at, from);
    }
    q->depth--;
    return all;
}

static bool is_put_back(struct dh_symex *w, const struct dh_symex_event *e);

/* The lock (symex.held + 2) under which the object was removed, 1: it was not. */
static uint32_t removed_under(struct dh_ownership_transfer *h, const struct dh_symex_event *e)
{
    struct dh_symex *w = h->symex;
    uint32_t *known = &h->removed[e - w->events.at];
    const struct dh_inst *i = &w->program->insts.at[e->inst];
    if (*known || address_of(w, e) >= i->n_operands)
        return *known ? *known : 1;
    struct query q = {.h = h};
    struct dh_call_path at = {w->contexts.at[e->context].function, DH_NONE, NULL, e->context};
    bool mine = iterates_removed(&q, &at, dh_operand(w->program, i, address_of(w, e))) && q.lock;
    *known = mine && !is_put_back(w, e) ? q.lock : 1;
    return *known;
}

static bool holds_lock(const struct dh_symex *w, const struct dh_symex_event *e, uint32_t held)
{
    const struct dh_lockset *l = &w->locksets.at[e->lockset];
    for (uint32_t n = 0; n < l->n; n++)
        if (w->held.at[l->first + n].node == w->held.at[held].node &&
            w->held.at[l->first + n].offset == w->held.at[held].offset)
            return true;
    return false;
}

/* The instruction lets this value escape. */
static bool lets_escape(struct dh_symex *w, uint32_t inst, uint32_t function, uint32_t expr)
{
    const struct dh_inst *i = &w->program->insts.at[inst];
    uint32_t first = 1, escaping = 0;
    if (i->op == DH_I_STORE)
        escaping = 1;
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, inst), to;
         i->op == DH_I_CALL && dh_call_graph_next(&w->points_to->calls, inst, &it, &to);)
        escaping |= w->state->summaries[to].escapes;
    for (uint32_t n = first; escaping && n < i->n_operands && n - first < 32; n++)
        if (escaping >> (n - first) & 1 &&
            dh_value_term(&w->state->values, function, dh_operand(w->program, i, n)).expr == expr)
            return true;
    return false;
}

/* It escapes later in the function, and not before. */
static bool is_before_escape(struct dh_symex *w, const struct dh_symex_event *e)
{
    const struct dh_program *p = w->program;
    uint32_t function = w->contexts.at[e->context].function;
    const struct dh_cfg *flow = dh_symex_cfg(w, function);
    const struct dh_inst *i = &p->insts.at[e->inst];
    if (address_of(w, e) >= i->n_operands)
        return false;
    uint32_t expr = dh_value_term(&w->state->values, function, dh_operand(p, i, address_of(w, e))).expr;
    uint32_t mine = dh_program_block_of(p, e->inst) - flow->first;
    bool later = false;
    for (uint32_t b = 0; expr && b < flow->n; b++) {
        const struct dh_basic_block *block = &p->blocks.at[flow->first + b];
        for (uint32_t n = block->inst; n < block->inst + block->n_insts; n++) {
            if ((p->insts.at[n].op != DH_I_STORE && p->insts.at[n].op != DH_I_CALL) ||
                !lets_escape(w, n, function, expr))
                continue;
            bool after = b == mine ? n > e->inst : dh_cfg_dominates(flow, mine, b);
            if (!after)
                return false;
            later = true;
        }
    }
    return later;
}

/* After a wait, without a lock, on what this thread allocated: ownership came back. */
static bool is_returned(struct dh_symex *w, const struct dh_symex_event *e)
{
    const struct dh_program *p = w->program;
    if (!(e->flags & DH_SYMEX_ALLOCATED_HERE) || w->locksets.at[e->lockset].n)
        return false;
    uint32_t mine_expr = dh_value_term(&w->state->values, w->contexts.at[e->context].function,
                                       dh_operand(p, &p->insts.at[e->inst], address_of(w, e)))
                             .expr;
    for (uint32_t c = e->context, inst = e->inst; c != DH_NONE;
         inst = w->contexts.at[c].call, c = w->contexts.at[c].caller) {
        const struct dh_cfg *flow = dh_symex_cfg(w, w->contexts.at[c].function);
        uint32_t mine = dh_program_block_of(p, inst) - flow->first;
        for (uint32_t b = 0; b < flow->n; b++) {
            const struct dh_basic_block *block = &p->blocks.at[flow->first + b];
            for (uint32_t n = block->inst; n < block->inst + block->n_insts; n++) {
                bool waits = p->insts.at[n].op == DH_I_WAIT;
                for (uint32_t it = dh_call_graph_first(&w->points_to->calls, n), to;
                     p->insts.at[n].op == DH_I_CALL && dh_call_graph_next(&w->points_to->calls, n, &it, &to);)
                    waits |= w->state->summaries[to].waits;
                /* The operation that passes it on may wait until there is room. */
                waits = waits && (c != e->context || !lets_escape(w, n, w->contexts.at[c].function, mine_expr));
                if (waits && (b == mine ? n < inst : dh_cfg_dominates(flow, b, mine)))
                    return true;
            }
        }
    }
    return false;
}

/* The instruction puts it back: a callee that stores it under a lock. */
static bool puts_back(struct dh_symex *w, uint32_t inst, uint32_t function, uint32_t expr)
{
    const struct dh_inst *i = &w->program->insts.at[inst];
    bool locks = false;
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, inst), to;
         i->op == DH_I_CALL && dh_call_graph_next(&w->points_to->calls, inst, &it, &to);)
        locks |= w->state->summaries[to].unlocks;
    return locks && lets_escape(w, inst, function, expr);
}

/* Backwards to where the function got it: put back in between, it is owned by another thread now. */
static bool is_put_back(struct dh_symex *w, const struct dh_symex_event *e)
{
    const struct dh_program *p = w->program;
    uint32_t function = w->contexts.at[e->context].function, inst = e->inst;
    const struct dh_cfg *flow = dh_symex_cfg(w, function);
    if (address_of(w, e) >= p->insts.at[e->inst].n_operands)
        return false;
    uint32_t expr =
        dh_value_term(&w->state->values, function, dh_operand(p, &p->insts.at[inst], address_of(w, e))).expr;
    struct dh_expr x = w->state->values.exprs.at[expr];
    uint32_t root = x.kind == DH_EXPR_REGISTER && x.a == function ? x.b : DH_NONE;
    uint32_t block = dh_program_block_of(p, inst) - flow->first;
    for (unsigned steps = 0; root != DH_NONE && steps < DEEPEST; steps++) {
        while (inst > p->blocks.at[flow->first + block].inst) {
            inst--;
            if (p->insts.at[inst].result == root)
                return false;
            if (puts_back(w, inst, function, expr))
                return true;
        }
        if (!block || flow->dominator.at[block] == DH_NONE)
            return false;
        block = flow->dominator.at[block];
        inst = p->blocks.at[flow->first + block].inst + p->blocks.at[flow->first + block].n_insts;
    }
    return false;
}

static bool is_the_takers(struct dh_ownership_transfer *h, const struct dh_symex_event *a,
                          const struct dh_symex_event *b)
{
    uint32_t lock = removed_under(h, a);
    if (lock < 2)
        return false;
    return holds_lock(h->symex, b, lock - 2) || removed_under(h, b) >= 2 ||
           b->flags & (DH_SYMEX_NOT_PASSED | DH_SYMEX_OWN) || is_before_escape(h->symex, b) || is_returned(h->symex, b);
}

bool dh_ownership_is_transferred(struct dh_ownership_transfer *h, const struct dh_symex_event *a,
                                 const struct dh_symex_event *b)
{
    return is_the_takers(h, a, b) || is_the_takers(h, b, a);
}
