#include "analysis/held_locks.h"
#include "base/alloc.h"

static uint32_t first_inst(const struct dh_program *p, uint32_t function)
{
    return p->blocks.at[p->functions.at[function].block].inst;
}

static uint32_t n_insts(const struct dh_program *p, uint32_t function)
{
    const struct dh_function *f = &p->functions.at[function];
    const struct dh_basic_block *last = &p->blocks.at[f->block + f->n_blocks - 1];
    return last->inst + last->n_insts - first_inst(p, function);
}

void dh_held_locks_init(struct dh_held_locks *h, struct dh_symex *w)
{
    *h = (struct dh_held_locks){.symex = w};
    h->effects = dh_xcalloc(w->program->functions.n + 1, sizeof *h->effects);
}

void dh_held_locks_release(struct dh_held_locks *h)
{
    for (size_t f = 0; f < h->symex->program->functions.n; f++) {
        dh_vec_release(&h->effects[f].acquired);
        dh_vec_release(&h->effects[f].released);
    }
    free(h->effects);
    dh_vec_release(&h->holds);
    dh_vec_release(&h->acquisitions);
    dh_vec_release(&h->reached);
    dh_vec_release(&h->work);
    dh_vec_release(&h->entered);
    dh_vec_release(&h->at);
}

dh_lock_bits dh_held_locks_at(const struct dh_held_locks *h, uint32_t inst)
{
    return h->at.at[inst - first_inst(h->symex->program, h->function)];
}

/* ---- which lock ---- */

/* The cell of an expression of the function in its own heap graph. */
static struct dh_heap_cell cell_of(struct dh_held_locks *h, uint32_t expr, int depth)
{
    struct dh_symex *w = h->symex;
    struct dh_expr e = w->state->values.exprs.at[expr];
    if (depth > 12)
        return DH_NO_CELL;
    switch (e.kind) {
    case DH_EXPR_PARAM:
        return dh_points_to_value(w->points_to, h->function, e.a);
    case DH_EXPR_REGISTER:
    case DH_EXPR_OBJECT:
        return e.a == h->function ? dh_points_to_value(w->points_to, h->function, e.b) : DH_NO_CELL;
    case DH_EXPR_GLOBAL:
        return dh_heap_graph_find(&w->points_to->graph, w->points_to->globals[e.a]);
    case DH_EXPR_LOAD: {
        struct dh_heap_cell from = cell_of(h, e.a, depth + 1);
        return from.node == DH_NO_NODE
                   ? from
                   : dh_heap_graph_find_pointee(&w->points_to->graph, dh_heap_cell_at(from, e.offset));
    }
    case DH_EXPR_INDEX: {
        struct dh_heap_cell from = cell_of(h, e.a, depth + 1);
        return from.node == DH_NO_NODE ? from : dh_heap_cell_at(from, e.offset);
    }
    default:
        return DH_NO_CELL;
    }
}

static struct dh_heap_cell term_cell(struct dh_held_locks *h, struct dh_term t)
{
    struct dh_heap_cell c = t.expr ? cell_of(h, t.expr, 0) : DH_NO_CELL;
    return c.node == DH_NO_NODE ? c : dh_heap_graph_find(&h->symex->points_to->graph, dh_heap_cell_at(c, t.offset));
}

static bool same_term(struct dh_held_locks *h, struct dh_term a, struct dh_term b)
{
    struct dh_value_numbering *x = &h->symex->state->values;
    return a.expr && b.expr && a.exact && b.exact && a.offset == b.offset &&
           dh_expr_canonical(x, a.expr) == dh_expr_canonical(x, b.expr);
}

/* Held locks that may be released with this one. */
static dh_lock_bits ended_by(struct dh_held_locks *h, struct dh_term t, struct dh_heap_cell c)
{
    dh_lock_bits ended = 0;
    for (size_t n = 0; n < h->holds.n; n++) {
        const struct dh_named_lock *q = &h->holds.at[n];
        bool cells = c.node != DH_NO_NODE && q->cell.node != DH_NO_NODE;
        bool same = same_term(h, q->at, t) ||
                    (cells ? c.node == q->cell.node && c.offset == q->cell.offset : !t.expr || !q->at.expr);
        ended |= same ? (dh_lock_bits)1 << n : 0;
    }
    return ended;
}

/* ---- transfer functions ---- */

static void add_hold(struct dh_held_locks *h, uint32_t point, uint32_t inst, struct dh_term at,
                     struct dh_heap_cell cell)
{
    uint32_t n = 0;
    while (n < h->holds.n && !same_term(h, h->holds.at[n].at, at))
        n++;
    if (n == DH_NAMED_LOCKS_MAX) {
        h->incomplete = true;
        return;
    }
    if (n == h->holds.n)
        dh_vec_push(&h->holds, (struct dh_named_lock){inst, at, cell});
    dh_vec_push(&h->acquisitions, (struct dh_acquisition){point, inst, n});
}

static bool takes(const struct dh_inst *i)
{
    return i->op == DH_I_LOCK || i->op == DH_I_RDLOCK || i->op == DH_I_TRYLOCK || i->op == DH_I_TRYRDLOCK ||
           i->op == DH_I_ONCE_ENTER;
}

static bool gives_back(const struct dh_inst *i)
{
    return i->op == DH_I_UNLOCK || i->op == DH_I_ONCE_LEAVE;
}

/* Including locks built of atomics. */
static bool takes_at(const struct dh_held_locks *h, uint32_t inst)
{
    return takes(&h->symex->program->insts.at[inst]) || h->symex->state->atomics.roles[inst] & DH_ATOMIC_ACQUIRES;
}

static bool gives_back_at(const struct dh_held_locks *h, uint32_t inst)
{
    return gives_back(&h->symex->program->insts.at[inst]) || h->symex->state->atomics.roles[inst] & DH_ATOMIC_RELEASES;
}

/* The one function that a call certainly runs, DH_NONE: several or none. */
static uint32_t only_target(struct dh_held_locks *h, uint32_t inst)
{
    const struct dh_call_graph *c = &h->symex->points_to->calls;
    uint32_t only = DH_NONE;
    for (uint32_t it = dh_call_graph_first(c, inst), f; dh_call_graph_next(c, inst, &it, &f);) {
        if (only != DH_NONE)
            return DH_NONE;
        only = f;
    }
    return only;
}

static void find_holds(struct dh_held_locks *h)
{
    const struct dh_program *p = h->symex->program;
    struct dh_value_numbering *x = &h->symex->state->values;
    uint32_t first = first_inst(p, h->function), n = n_insts(p, h->function);
    h->holds.n = h->acquisitions.n = 0;
    for (uint32_t at = first; at < first + n; at++) {
        const struct dh_inst *i = &p->insts.at[at];
        if (takes_at(h, at)) {
            dh_value v = dh_operand(p, i, 0);
            struct dh_heap_cell c = dh_points_to_value(h->symex->points_to, h->function, v);
            add_hold(h, at, at, dh_value_term(x, h->function, v), c);
        }
        uint32_t callee = i->op == DH_I_CALL ? only_target(h, at) : DH_NONE;
        for (size_t k = 0; callee != DH_NONE && k < h->effects[callee].acquired.n; k++) {
            const struct dh_named_lock *q = &h->effects[callee].acquired.at[k];
            struct dh_term t = dh_term_to_caller(x, q->at, h->function, i, 1);
            add_hold(h, at, q->inst, t, term_cell(h, t));
        }
    }
}

static void note_release(struct dh_held_locks *h, struct dh_term t)
{
    enum { MOST = 16 };
    struct dh_lock_effect *e = &h->effects[h->function];
    if (!h->collecting)
        return;
    for (size_t n = 0; n < e->released.n; n++)
        if (e->released.at[n].expr == t.expr && e->released.at[n].offset == t.offset)
            return;
    if (!t.expr || e->released.n == MOST)
        e->releases_any = true;
    else
        dh_vec_push(&e->released, t);
}

static dh_lock_bits step_call(struct dh_held_locks *h, const struct dh_inst *i, uint32_t inst, dh_lock_bits held)
{
    const struct dh_call_graph *c = &h->symex->points_to->calls;
    struct dh_value_numbering *x = &h->symex->state->values;
    for (uint32_t it = dh_call_graph_first(c, inst), f; dh_call_graph_next(c, inst, &it, &f);) {
        const struct dh_lock_effect *e = &h->effects[f];
        if (e->releases_any) {
            held = 0;
            h->effects[h->function].releases_any |= h->collecting;
        }
        for (size_t n = 0; n < e->released.n; n++) {
            struct dh_term t = dh_term_to_caller(x, e->released.at[n], h->function, i, 1);
            dh_lock_bits ended = ended_by(h, t, term_cell(h, t));
            if (!(held & ended))
                note_release(h, t);
            held &= ~ended;
        }
    }
    return held;
}

/* `held` without what the instruction releases. */
static dh_lock_bits step_back(struct dh_held_locks *h, uint32_t inst, dh_lock_bits held)
{
    const struct dh_program *p = h->symex->program;
    const struct dh_inst *i = &p->insts.at[inst];
    if (gives_back_at(h, inst)) {
        dh_value v = dh_operand(p, i, 0);
        struct dh_term t = dh_value_term(&h->symex->state->values, h->function, v);
        dh_lock_bits ended = ended_by(h, t, dh_points_to_value(h->symex->points_to, h->function, v));
        if (!(held & ended))
            note_release(h, t);
        held &= ~ended;
    } else if (i->op == DH_I_CALL)
        held = step_call(h, i, inst, held);
    return held;
}

static dh_lock_bits step(struct dh_held_locks *h, uint32_t inst, dh_lock_bits held)
{
    const struct dh_inst *i = &h->symex->program->insts.at[inst];
    held = step_back(h, inst, held);
    if (takes_at(h, inst) || i->op == DH_I_CALL)
        for (size_t n = 0; n < h->acquisitions.n; n++)
            held |= h->acquisitions.at[n].point == inst ? (dh_lock_bits)1 << h->acquisitions.at[n].hold : 0;
    return held;
}

/* ---- outcomes of try-lock ---- */

/* The lock whose acquisition the register tells: true when acquired, false when not. */
static bool tells(struct dh_held_locks *h, uint32_t reg, dh_lock_bits *hold, bool *when)
{
    const struct dh_program *p = h->symex->program;
    const uint32_t *defined = dh_symex_definitions(h->symex, h->function);
    bool turned = false;
    for (int depth = 0; depth < 8 && dh_is_register(reg) && defined[reg] != DH_NONE; depth++) {
        const struct dh_inst *i = &p->insts.at[defined[reg]];
        int64_t number;
        if (takes(i)) {
            *hold = 0;
            for (size_t n = 0; n < h->acquisitions.n; n++)
                *hold |= h->acquisitions.at[n].inst == defined[reg] ? (dh_lock_bits)1 << h->acquisitions.at[n].hold : 0;
            *when = (i->extra == DH_SUCCESS_NOT_ZERO) != turned;
            return i->extra != DH_SUCCESS_ALWAYS;
        }
        if (i->op == DH_I_COMPARE && dh_value_int(p, dh_operand(p, i, 1), &number) && number == 0 &&
            (i->extra == DH_CMP_EQ || i->extra == DH_CMP_NE))
            turned ^= i->extra == DH_CMP_EQ;
        else if (i->op != DH_I_COPY)
            return false;
        reg = dh_operand(p, i, 0);
    }
    return false;
}

/* Locks of atomics that the branch tested and did not acquire. */
static dh_lock_bits made_lost(struct dh_held_locks *h, uint32_t branch, uint32_t number)
{
    struct dh_atomic_sync *m = &h->symex->state->atomics;
    dh_lock_bits lost = 0;
    unsigned got = m->roles[branch] / DH_ATOMIC_ACQUIRED;
    const struct dh_branch_tests *sides =
        got && number < 2 ? dh_atomic_tests_of_branch(&m->looks, h->function, branch) : NULL;
    for (unsigned side = 0; sides && !(got >> number & 1) && side < 2; side++)
        for (unsigned k = 0; k < sides->n[side]; k++)
            for (size_t n = 0; n < h->acquisitions.n; n++)
                lost |= h->acquisitions.at[n].inst == sides->at[side][k].inst
                            ? (dh_lock_bits)1 << h->acquisitions.at[n].hold
                            : 0;
    return lost;
}

/* Locks not held on the edge to successor `number`. */
static dh_lock_bits lost_on_edge(struct dh_held_locks *h, const struct dh_basic_block *b, uint32_t number)
{
    const struct dh_program *p = h->symex->program;
    const struct dh_inst *last = &p->insts.at[b->inst + b->n_insts - 1];
    dh_lock_bits hold = 0;
    bool when;
    if (last->op != DH_I_BRANCH)
        return 0;
    if (!tells(h, dh_operand(p, last, 0), &hold, &when))
        return made_lost(h, b->inst + b->n_insts - 1, number);
    return (number == 0) == when ? 0 : hold;
}

/* ---- one function ---- */

static bool join_entry(dh_lock_bits *into, bool *known, dh_lock_bits held)
{
    dh_lock_bits was = *into;
    bool moved = !*known;
    *into = *known ? *into & held : held;
    *known = true;
    return moved || *into != was;
}

static void solve_dataflow(struct dh_held_locks *h, const struct dh_cfg *f)
{
    const struct dh_program *p = h->symex->program;
    bool *known = dh_xcalloc(f->n + 1, sizeof *known), moved = true;
    h->entered.n = 0;
    for (uint32_t b = 0; b < f->n; b++)
        dh_vec_push(&h->entered, (dh_lock_bits)0);
    known[0] = true;
    for (int round = 0; moved && round < 20; round++) {
        moved = false;
        for (size_t k = 0; k < f->order.n; k++) {
            uint32_t b = f->order.at[k];
            const struct dh_basic_block *block = &p->blocks.at[f->first + b];
            dh_lock_bits held = h->entered.at[b];
            for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++)
                held = step(h, i, held);
            for (uint32_t s = 0; s < block->n_succs; s++) {
                uint32_t to = dh_successors(p, block)[s] - f->first;
                moved |= join_entry(&h->entered.at[to], &known[to], held & ~lost_on_edge(h, block, s));
            }
        }
    }
    free(known);
}

static void write_down(struct dh_held_locks *h, const struct dh_cfg *f)
{
    const struct dh_program *p = h->symex->program;
    struct dh_lock_effect *e = &h->effects[h->function];
    dh_lock_bits out = ~(dh_lock_bits)0;
    bool returns = false;
    h->at.n = 0;
    for (uint32_t n = n_insts(p, h->function); n-- > 0;)
        dh_vec_push(&h->at, (dh_lock_bits)0);
    uint32_t first = first_inst(p, h->function);
    for (size_t k = 0; k < f->order.n; k++) {
        const struct dh_basic_block *block = &p->blocks.at[f->first + f->order.at[k]];
        dh_lock_bits held = h->entered.at[f->order.at[k]];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++) {
            h->at.at[i - first] = held;
            held = step(h, i, held);
        }
        if (p->insts.at[block->inst + block->n_insts - 1].op == DH_I_RETURN) {
            out &= held;
            returns = true;
        }
    }
    for (size_t n = 0; returns && n < h->holds.n; n++)
        if (out >> n & 1)
            dh_vec_push(&e->acquired, h->holds.at[n]);
}

void dh_held_locks_analyse(struct dh_held_locks *h, uint32_t function)
{
    const struct dh_cfg *f = dh_symex_cfg(h->symex, function);
    h->function = function;
    find_holds(h);
    h->collecting = true;
    solve_dataflow(h, f);
    h->collecting = false;
    write_down(h, f);
}

/* ---- between two instructions ---- */

/* Blocks that are reachable from `from` (or that reach it, when `back`) without passing the ends. */
static void mark_reachable_blocks(struct dh_held_locks *h, const struct dh_cfg *f, uint32_t from, uint32_t stop,
                                  bool back, uint8_t bit)
{
    const struct dh_program *p = h->symex->program;
    h->work.n = 0;
    dh_vec_push(&h->work, from);
    while (h->work.n) {
        const struct dh_basic_block *b = &p->blocks.at[f->first + h->work.at[--h->work.n]];
        const uint32_t *next = back ? dh_predecessors(p, b) : dh_successors(p, b);
        for (uint32_t n = 0; n < (back ? b->n_preds : b->n_succs); n++) {
            uint32_t to = next[n] - f->first;
            if (h->reached.at[to] & bit)
                continue;
            h->reached.at[to] |= bit;
            if (to != stop)
                dh_vec_push(&h->work, to);
        }
    }
}

static dh_lock_bits kept(struct dh_held_locks *h, uint32_t first, uint32_t end, dh_lock_bits held)
{
    for (uint32_t i = first; i < end && held; i++)
        held = step_back(h, i, held);
    return held;
}

dh_lock_bits dh_held_locks_between(struct dh_held_locks *h, uint32_t from, uint32_t to)
{
    const struct dh_program *p = h->symex->program;
    const struct dh_cfg *f = dh_symex_cfg(h->symex, h->function);
    uint32_t a = dh_program_block_of(p, from) - f->first, b = dh_program_block_of(p, to) - f->first;
    const struct dh_basic_block *first = &p->blocks.at[f->first + a], *last = &p->blocks.at[f->first + b];
    dh_lock_bits held = dh_held_locks_at(h, from) & dh_held_locks_at(h, to);
    if (!held || (a == b && from <= to))
        return kept(h, from, to, held);
    h->reached.n = 0;
    for (uint32_t n = 0; n < f->n; n++)
        dh_vec_push(&h->reached, (uint8_t)0);
    mark_reachable_blocks(h, f, a, a, false, 1);
    mark_reachable_blocks(h, f, b, a, true, 2);
    held = kept(h, from, first->inst + first->n_insts, held);
    held = kept(h, last->inst, to, held);
    for (uint32_t n = 0; n < f->n && held; n++)
        if (h->reached.at[n] == 3 && n != a && n != b) {
            const struct dh_basic_block *block = &p->blocks.at[f->first + n];
            held = kept(h, block->inst, block->inst + block->n_insts, held);
        }
    return held;
}
