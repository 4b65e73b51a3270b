/* One activation: dataflow over the function's blocks to a fixed point, then a last pass that records events. */
#include "analysis/symex_internal.h"
#include "base/alloc.h"

const struct dh_cfg *dh_symex_cfg(struct dh_symex *w, uint32_t function)
{
    struct dh_cfg **at = &w->state->cfgs[function];
    if (!*at) {
        *at = dh_xcalloc(1, sizeof **at);
        dh_cfg_build(*at, w->program, function);
    }
    return *at;
}

const uint32_t *dh_symex_definitions(struct dh_symex *w, uint32_t function)
{
    uint32_t **at = &w->state->defined[function];
    const struct dh_function *f = &w->program->functions.at[function];
    if (*at)
        return *at;
    *at = dh_xcalloc(f->n_registers, sizeof **at);
    memset(*at, 0xff, f->n_registers * sizeof **at);
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_basic_block *block = &w->program->blocks.at[b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++)
            if (w->program->insts.at[i].result != DH_NONE)
                (*at)[w->program->insts.at[i].result] = i;
    }
    return *at;
}

/* Blocks reachable from `from`, with or without exception edges. */
static void reach_blocks(const struct dh_program *p, const struct dh_cfg *cfg, uint32_t from, bool thrown,
                         uint8_t *seen)
{
    DH_VEC(uint32_t) todo = {0};
    dh_vec_push(&todo, from);
    while (todo.n) {
        uint32_t at = todo.at[--todo.n];
        if (seen[at])
            continue;
        seen[at] = 1;
        const struct dh_basic_block *b = &p->blocks.at[cfg->first + at];
        bool unwinds = p->insts.at[b->inst + b->n_insts - 1].op == DH_I_UNWINDS;
        for (uint32_t n = 0; n < b->n_succs && (thrown || !unwinds || n == 0); n++)
            dh_vec_push(&todo, dh_successors(p, b)[n] - cfg->first);
    }
    dh_vec_release(&todo);
}

/* Cleanup blocks: reached by exceptions only, and rethrowing. */
static const uint8_t *cleanups(struct dh_symex *w, uint32_t function)
{
    uint8_t **at = &w->state->cleanups[function];
    const struct dh_cfg *cfg = dh_symex_cfg(w, function);
    const struct dh_program *p = w->program;
    if (*at || !cfg->n)
        return *at;
    uint8_t *usual = dh_xcalloc(cfg->n, 1), *from = dh_xcalloc(cfg->n, 1);
    *at = dh_xcalloc(cfg->n, 1);
    reach_blocks(p, cfg, 0, false, usual);
    for (uint32_t b = 0; b < cfg->n; b++) {
        if (usual[b] || cfg->rank.at[b] == DH_NONE)
            continue;
        bool returns = false;
        memset(from, 0, cfg->n);
        reach_blocks(p, cfg, b, true, from);
        for (uint32_t k = 0; k < cfg->n; k++) {
            const struct dh_basic_block *block = &p->blocks.at[cfg->first + k];
            returns |= from[k] && (usual[k] || p->insts.at[block->inst + block->n_insts - 1].op == DH_I_RETURN);
        }
        (*at)[b] = !returns;
    }
    free(usual);
    free(from);
    return *at;
}

/* ---- objects ---- */

static void step_allocation(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    bool many = t->repeated || t->f->may_repeat || !w->threads.at[t->f->thread].unique;
    struct dh_heap_cell at =
        dh_symex_bound_cell(w, t->f, dh_points_to_value(w->points_to, t->f->function, t->i->result));
    if (t->records && at.node != DH_NO_NODE) {
        unsigned count = w->state->allocation_count[at.node] + (many ? 2u : 1u);
        w->state->allocation_count[at.node] = (uint8_t)(count > 2 ? 2 : count);
    }
    if (t->i->op != DH_I_REALLOC)
        dh_state_add_fresh(t->s, dh_value_term(&w->state->values, t->f->function, t->i->result).expr);
}

/* The object that a pointer points into. */
static uint32_t base_object(struct dh_symex *w, uint32_t function, dh_value v)
{
    const struct dh_value_numbering *x = &w->state->values;
    uint32_t at = dh_value_term(&w->state->values, function, v).expr;
    at = dh_expr_base(x, at);
    return at;
}

static bool may_be(struct dh_symex_step *t, uint32_t leaf, struct dh_heap_cell c)
{
    struct dh_expr e = t->w->state->values.exprs.at[leaf];
    uint32_t reg = e.kind == DH_EXPR_PARAM ? e.a : e.b;
    return dh_points_to_value(t->w->points_to, t->f->function, reg).node == c.node;
}

/* Loaded from a shared object: no fresh object is there. */
static bool is_from_outside(struct dh_symex_step *t, uint32_t object)
{
    struct dh_symex *w = t->w;
    const struct dh_value_numbering *x = &w->state->values;
    struct dh_expr e = x->exprs.at[object];
    uint32_t inst = e.a == t->f->function ? dh_symex_definitions(w, e.a)[e.b] : DH_NONE;
    if (w->strict || inst == DH_NONE || w->program->insts.at[inst].op != DH_I_LOAD)
        return false;
    uint32_t from = dh_value_term(&w->state->values, e.a, dh_operand(w->program, &w->program->insts.at[inst], 0)).expr;
    uint32_t root = from ? dh_expr_root(x, from) : 0;
    uint32_t kind = x->exprs.at[root].kind;
    return kind == DH_EXPR_GLOBAL || (kind == DH_EXPR_PARAM && !dh_state_is_fresh(t->s, root));
}

/* A pointer is stored: does its object escape, is it referenced more than once? */
static void step_pointer(struct dh_symex_step *t, uint32_t address, uint32_t operand)
{
    struct dh_symex *w = t->w;
    dh_value v = dh_operand(w->program, t->i, operand);
    struct dh_heap_cell c = dh_points_to_value(w->points_to, t->f->function, v);
    if (c.node == DH_NO_NODE)
        return;
    uint32_t object = base_object(w, t->f->function, v),
             into = base_object(w, t->f->function, dh_operand(w->program, t->i, address));
    bool fresh = object && dh_state_is_fresh(t->s, object), inside = into && dh_state_is_fresh(t->s, into);
    bool tied = false;
    for (unsigned n = 0; n < t->s->n_fresh; n++)
        tied |= t->s->fresh[n] == object && t->s->nested >> n & 1;
    struct dh_symex_binding b = dh_symex_binding_of(w, t->f, c);
    if (t->records && b.node != DH_NO_NODE && (!fresh || tied))
        w->multiply_referenced[b.node] = 1;
    if (fresh && inside) {
        dh_state_nest_fresh(t->s, object);
    } else if (fresh) {
        dh_state_escape(t->s, object);
    } else if (object && w->state->values.exprs.at[object].kind == DH_EXPR_REGISTER && !is_from_outside(t, object)) {
        for (unsigned n = 0; n < t->s->n_fresh;) {
            if (may_be(t, t->s->fresh[n], c))
                dh_state_escape(t->s, t->s->fresh[n]), n = 0;
            else
                n++;
        }
    }
}

/* Pointers are copied: what they point to is referenced once more. If the copied memory is not shared, by the
 * pointers in the destination. */
static void note_copied_pointers(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    struct dh_heap_graph *g = &w->points_to->graph;
    struct dh_heap_cell of = DH_NO_CELL;
    for (uint32_t n = 2; n-- > 0 && of.node == DH_NO_NODE;)
        of = dh_symex_bound_cell(w, t->f,
                                 dh_points_to_value(w->points_to, t->f->function, dh_operand(w->program, t->i, n)));
    for (unsigned k = 0; t->records && of.node != DH_NO_NODE && k < g->nodes.at[of.node].n_edges; k++)
        w->multiply_referenced[dh_heap_graph_find(g, g->nodes.at[of.node].edges[k].to).node] = 1;
}

/* ---- instructions ---- */

static void record_access(struct dh_symex_step *t, uint32_t operand, enum dh_symex_event_kind kind, uint32_t flags)
{
    if (t->records)
        dh_symex_access(t, operand, kind, flags);
}

static void step_memory(struct dh_symex_step *t)
{
    if (t->i->op == DH_I_FENCE)
        dh_atomic_sync_fence(t);
    else if (t->i->op != DH_I_MEMCPY && t->i->op != DH_I_MEMSET)
        dh_atomic_sync_access(t);
    switch (t->i->op) {
    case DH_I_LOAD:
        record_access(t, 0, DH_SYMEX_READ, 0);
        break;
    case DH_I_STORE:
        record_access(t, 0, DH_SYMEX_WRITE, 0);
        step_pointer(t, 0, 1);
        break;
    case DH_I_CAS:
    case DH_I_RMW:
        record_access(t, 0, DH_SYMEX_WRITE, 0);
        step_pointer(t, 0, t->i->n_operands - 1);
        break;
    case DH_I_MEMCPY:
        record_access(t, 0, DH_SYMEX_WRITE, 0);
        record_access(t, 1, DH_SYMEX_READ, 0);
        note_copied_pointers(t);
        if (!dh_state_is_fresh(t->s, base_object(t->w, t->f->function, dh_operand(t->w->program, t->i, 0))))
            dh_symex_escape_copied(t, 1);
        break;
    case DH_I_MEMSET:
        record_access(t, 0, DH_SYMEX_WRITE, 0);
        break;
    default:
        break;
    }
}

static void step_heap(struct dh_symex_step *t)
{
    if (t->i->op == DH_I_FREE)
        record_access(t, 0, DH_SYMEX_WRITE, DH_SYMEX_FREE);
    else
        step_allocation(t);
    if (t->i->op == DH_I_REALLOC)
        record_access(t, 0, DH_SYMEX_WRITE, DH_SYMEX_FREE);
}

static void escape_arguments(struct dh_symex_step *t)
{
    if (t->i->op != DH_I_CREATE && t->i->op != DH_I_REGISTER)
        return;
    for (uint32_t n = dh_inst_callee_operand(t->i) + 1; n < t->i->n_operands; n++) {
        uint32_t object = base_object(t->w, t->f->function, dh_operand(t->w->program, t->i, n));
        struct dh_heap_cell c = dh_points_to_value(t->w->points_to, t->f->function, dh_operand(t->w->program, t->i, n));
        dh_state_escape(t->s, object);
        dh_state_pass_element(
            t->s, dh_value_term(&t->w->state->values, t->f->function, dh_operand(t->w->program, t->i, n)).expr);
        for (unsigned k = 0; c.node != DH_NO_NODE && object && k < t->s->n_fresh;) {
            bool opaque = t->w->state->values.exprs.at[object].kind == DH_EXPR_REGISTER;
            if (opaque && may_be(t, t->s->fresh[k], c))
                dh_state_escape(t->s, t->s->fresh[k]), k = 0;
            else
                k++;
        }
    }
}

static void step(struct dh_symex_step *t)
{
    if (t->i->result != DH_NONE && (t->s->n_locks || t->s->n_passed || t->s->n_element_joined))
        dh_state_forget_register(t->w, t->s, t->f->function, t->i->result);
    switch (dh_inst_class(t->i)) {
    case DH_CLASS_VALUE:
        if (t->i->op == DH_I_SLOT)
            step_allocation(t);
        break;
    case DH_CLASS_MEMORY:
        step_memory(t);
        break;
    case DH_CLASS_HEAP:
        step_heap(t);
        break;
    case DH_CLASS_CALL:
        dh_symex_step_call(t);
        break;
    case DH_CLASS_SYNC:
        dh_symex_step_sync(t);
        break;
    case DH_CLASS_THREAD:
        dh_symex_step_thread(t);
        escape_arguments(t); /* not before: the argument may be fresh until then */
        break;
    default:
        break;
    }
}

/* The successor of `from` through a block that only switches on a phi of constants: at the end of scopes, compilers
 * join all exits and separate them again. */
static uint32_t thread_jump(const struct dh_symex *w, const struct dh_cfg *cfg, uint32_t from, uint32_t to)
{
    const struct dh_program *p = w->program;
    const struct dh_basic_block *b = &p->blocks.at[cfg->first + to];
    const struct dh_inst *end = &p->insts.at[b->inst + b->n_insts - 1], *phi = &p->insts.at[b->inst];
    int64_t came, number;
    if (b->n_insts != 2 || end->op != DH_I_SWITCH || phi->op != DH_I_PHI || dh_operand(p, end, 0) != phi->result)
        return to;
    for (uint32_t n = 0; n + 1 < phi->n_operands; n += 2) {
        if (dh_operand(p, phi, n + 1) != from)
            continue;
        if (!dh_value_int(p, dh_operand(p, phi, n), &came))
            return to;
        for (uint32_t k = 1; k < end->n_operands; k++)
            if (dh_value_int(p, dh_operand(p, end, k), &number) && number == came)
                return dh_successors(p, b)[k] - cfg->first;
        return dh_successors(p, b)[0] - cfg->first;
    }
    return to;
}

static void step_successors(struct dh_symex_step *t, struct dh_state *in, bool *moved)
{
    const struct dh_program *p = t->w->program;
    const struct dh_cfg *cfg = dh_symex_cfg(t->w, t->f->function);
    const struct dh_basic_block *b = &p->blocks.at[cfg->first + t->block];
    bool ignored = false;
    if (t->i->op == DH_I_RETURN || t->i->op == DH_I_THROW)
        dh_state_merge(t->i->op == DH_I_RETURN ? &t->f->out : &t->f->thrown, t->s, &ignored);
    for (uint32_t n = 0; n < b->n_succs; n++) {
        struct dh_state s = t->i->op == DH_I_UNWINDS && n ? t->thrown : *t->s;
        uint32_t to = dh_successors(p, b)[n] - cfg->first;
        bool changed = false;
        if (s.reached)
            dh_symex_step_edge(t, to, n, &s);
        to = thread_jump(t->w, cfg, t->block, to);
        dh_state_merge(&in[to], &s, &changed);
        /* Forward edges are processed in this iteration anyhow. */
        *moved |= changed && cfg->rank.at[to] <= cfg->rank.at[t->block];
    }
}

/* States of calls of the block that throw: to its handler, or out of the function. */
static void step_exceptions(struct dh_symex_step *t, struct dh_state *caught, const struct dh_inst *end,
                            bool after_call)
{
    bool ignored = false;
    if (dh_inst_class(t->i) == DH_CLASS_CALL)
        dh_state_merge(end->op == DH_I_UNWINDS ? caught : &t->f->thrown, &t->thrown, &ignored);
    /* Libraries may throw what their models do not say: in strict execution every handler is reached. */
    if (dh_inst_class(t->i) == DH_CLASS_CALL && t->w->strict && end->op == DH_I_UNWINDS)
        dh_state_merge(caught, t->s, &ignored);
    else if (t->i == end && end->op == DH_I_UNWINDS && !after_call)
        dh_state_merge(caught, t->s, &ignored);
}

static void run_block(struct dh_symex *w, struct dh_symex_activation *f, uint32_t block, struct dh_state *in,
                      bool records, bool *moved)
{
    const struct dh_cfg *cfg = dh_symex_cfg(w, f->function);
    const struct dh_basic_block *b = &w->program->blocks.at[cfg->first + block];
    const struct dh_inst *end = &w->program->insts.at[b->inst + b->n_insts - 1];
    struct dh_state s = in[block], caught = {0};
    struct dh_symex_step t = {
        .w = w, .f = f, .s = &s, .block = block, .records = records, .repeated = dh_cfg_in_any_loop(cfg, block)};
    t.unwinding = f->unwinding || cleanups(w, f->function)[block];
    for (uint32_t n = b->inst; n < b->inst + b->n_insts && s.reached; n++) {
        t.i = &w->program->insts.at[n];
        t.inst = n;
        step(&t);
        step_exceptions(&t, &caught, end, n > b->inst && dh_inst_class(t.i - 1) == DH_CLASS_CALL);
    }
    w->steps += b->n_insts;
    t.thrown = caught;
    t.i = end;
    t.inst = b->inst + b->n_insts - 1;
    if (s.reached || caught.reached)
        step_successors(&t, in, moved);
}

static bool has_cycle(const struct dh_program *p, const struct dh_cfg *cfg)
{
    for (size_t n = 0; n < cfg->order.n; n++) {
        const struct dh_basic_block *b = &p->blocks.at[cfg->first + cfg->order.at[n]];
        for (uint32_t k = 0; k < b->n_succs; k++)
            if (cfg->rank.at[dh_successors(p, b)[k] - cfg->first] <= n)
                return true;
    }
    return false;
}

void dh_symex_run_function(struct dh_symex *w, struct dh_symex_activation *f)
{
    enum { ROUNDS = 24 };
    const struct dh_cfg *cfg = dh_symex_cfg(w, f->function);
    struct dh_state *in = dh_xcalloc(cfg->n, sizeof *in);
    bool moved = cfg->n > 0 && has_cycle(w->program, cfg);
    f->status = DH_ACTIVATION_RUNNING;
    f->out = f->thrown = (struct dh_state){0};
    w->state->depth++;
    if (cfg->n)
        in[0] = f->in;
    for (int round = 0; moved && round < ROUNDS; round++) {
        moved = false;
        for (size_t n = 0; n < cfg->order.n; n++)
            if (in[cfg->order.at[n]].reached)
                run_block(w, f, cfg->order.at[n], in, false, &moved);
    }
    w->incomplete |= moved;
    for (size_t n = 0; n < cfg->order.n; n++)
        if (in[cfg->order.at[n]].reached)
            run_block(w, f, cfg->order.at[n], in, true, &moved);
    w->state->depth--;
    f->status = DH_ACTIVATION_DONE;
    free(in);
}
