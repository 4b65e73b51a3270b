/* Calls: into the callee's context and back. */
#include "analysis/symex_internal.h"

static struct dh_term of_lock(uint32_t expr)
{
    return (struct dh_term){.expr = expr, .exact = true};
}

static int by_name(const void *a, const void *b)
{
    const struct dh_symex_lock *p = a, *q = b;
    if (p->node != q->node)
        return p->node < q->node ? -1 : 1;
    if (p->offset != q->offset)
        return p->offset < q->offset ? -1 : 1;
    if (p->expr != q->expr)
        return p->expr < q->expr ? -1 : 1;
    int made = p->made * 512 + p->pending * 256 + p->test_known * 128 + p->test,
        other = q->made * 512 + q->pending * 256 + q->test_known * 128 + q->test;
    return made != other ? made - other : (p->number > q->number) - (p->number < q->number);
}

static uint32_t reached_arguments(struct dh_symex_step *t, uint32_t first, uint32_t n_params,
                                  const struct dh_symex_lock *lock)
{
    const struct dh_program *p = t->w->program;
    uint32_t via = 0, registers = p->functions.at[t->f->function].registers;
    for (uint32_t n = 0; n < n_params && n < 32 && first + n < t->i->n_operands && t->w->state->recording; n++) {
        dh_value v = dh_operand(p, t->i, first + n);
        if (dh_is_register(v) && p->registers.at[registers + v] == DH_REG_POINTER &&
            dh_symex_found_through_lock(t->w, t->f, v, lock))
            via |= 1u << n;
    }
    return via;
}

/* Locks of the caller in the callee's words. What the callee cannot name is some lock of that kind: one of a kind is
 * enough, and recursions do not pile them up. `names` tells which became what. */
static void locks_inwards(struct dh_symex_step *t, uint32_t first, uint32_t n_params, struct dh_state *in,
                          uint32_t *names)
{
    struct dh_value_numbering *x = &t->w->state->values;
    in->n_locks = 0;
    for (unsigned n = 0; n < t->s->n_locks; n++) {
        struct dh_symex_lock h = t->s->locks[n];
        struct dh_term e = dh_term_to_callee(x, of_lock(h.expr), t->f->function, t->i, first, n_params);
        struct dh_term k = dh_term_to_callee(x, of_lock(h.index), t->f->function, t->i, first, n_params);
        h.index = k.exact && !k.offset ? k.expr : 0;
        h.expr = e.exact ? e.expr : 0;
        if (!h.expr) {
            h.expr = dh_expr_number(x, (struct dh_expr){.kind = DH_EXPR_CALLER_VALUE});
            h.index = 0;
        }
        names[n] = h.expr;
        h.via = reached_arguments(t, first, n_params, &t->s->locks[n]);
        dh_state_lock(in, &h);
    }
    qsort(in->locks, in->n_locks, sizeof *in->locks, by_name);
}

static void locks_outwards(struct dh_symex_step *t, uint32_t first, const struct dh_state *out, const uint32_t *names,
                           struct dh_state *s)
{
    struct dh_value_numbering *x = &t->w->state->values;
    const struct dh_state before = *t->s;
    s->n_locks = 0;
    for (unsigned n = 0; n < out->n_locks; n++) {
        struct dh_symex_lock h = out->locks[n];
        bool mine = false;
        for (unsigned k = 0; k < before.n_locks; k++)
            if (before.locks[k].node == h.node && before.locks[k].offset == h.offset && names[k] == h.expr &&
                dh_symex_lock_same_kind(&before.locks[k], &h)) {
                struct dh_symex_lock own = before.locks[k];
                own.mode = h.mode;
                own.again = h.again;
                dh_state_lock(s, &own);
                mine = true;
            }
        if (mine)
            continue;
        struct dh_term o = dh_term_to_caller(x, of_lock(h.expr), t->f->function, t->i, first);
        struct dh_term i = dh_term_to_caller(x, of_lock(h.index), t->f->function, t->i, first);
        h.expr = o.exact ? o.expr : 0;
        h.via = 0;
        h.index = i.exact && !i.offset ? i.expr : 0;
        dh_state_lock(s, &h);
    }
}

/* A pointer to something that is not shared: what else is known of it makes no difference. */
static bool is_nobodys(struct dh_symex *w, const struct dh_symex_activation *callee, uint32_t param)
{
    struct dh_heap_cell c = dh_points_to_value(w->points_to, callee->function, param);
    return c.node != DH_NO_NODE && dh_symex_binding_of(w, callee, c).node == DH_NO_NODE;
}

static void argument_attributes(struct dh_symex_step *t, uint32_t first, struct dh_symex_activation *callee)
{
    struct dh_value_numbering *x = &t->w->state->values;
    uint32_t n_params = t->w->program->functions.at[callee->function].n_params;
    memset(callee->attributes, 0, sizeof callee->attributes);
    for (uint32_t n = 0; n < n_params && n < DH_ATTRIBUTES_MAX && first + n < t->i->n_operands; n++) {
        bool number = dh_symex_is_thread_index(t->w, t->f, dh_operand(t->w->program, t->i, first + n));
        callee->attributes[n] = number ? DH_ARG_THREAD_INDEX : 0;
        if (is_nobodys(t->w, callee, n))
            continue;
        uint8_t a = dh_symex_value_attributes(t, dh_operand(t->w->program, t->i, first + n), &callee->loops[n]);
        callee->attributes[n] |= a;
        if (t->w->state->recording && dh_symex_is_solely_owned(t, dh_operand(t->w->program, t->i, first + n)))
            callee->attributes[n] |= DH_ARG_SOLELY_OWNED;
        if (a & DH_ARG_FRESH)
            dh_state_add_fresh(&callee->in, dh_expr_number(x, (struct dh_expr){.kind = DH_EXPR_PARAM, .a = n}));
    }
}

/* ---- what calls do to objects that nobody else knew ---- */

static void escape_value(struct dh_symex_step *t, dh_value v)
{
    struct dh_value_numbering *x = &t->w->state->values;
    struct dh_term a = dh_value_term(x, t->f->function, v);
    uint32_t root = a.expr;
    while (root && x->exprs.at[root].kind == DH_EXPR_INDEX)
        root = x->exprs.at[root].a;
    if (!root)
        return;
    dh_state_pass_element(t->s, a.expr);
    t->s->handed_by_call = true;
    if (dh_state_is_fresh(t->s, root)) {
        dh_state_escape(t->s, root);
        return;
    }
    if (x->exprs.at[root].kind != DH_EXPR_REGISTER)
        return;
    struct dh_heap_cell c = dh_points_to_value(t->w->points_to, t->f->function, v);
    for (unsigned n = 0; c.node != DH_NO_NODE && n < t->s->n_fresh;) {
        struct dh_expr e = x->exprs.at[t->s->fresh[n]];
        uint32_t reg = e.kind == DH_EXPR_PARAM ? e.a : e.b;
        if (dh_points_to_value(t->w->points_to, t->f->function, reg).node == c.node)
            dh_state_escape(t->s, t->s->fresh[n]), n = 0;
        else
            n++;
    }
}

static void note_clipped(struct dh_symex_step *t, const struct dh_symex_activation *callee)
{
    struct dh_symex *w = t->w;
    uint32_t group = w->points_to->calls.group[callee->function];
    bool many = t->repeated || t->f->multi || !w->threads.at[t->f->thread].unique;
    for (uint32_t n = 0; t->counts && n < callee->n_bindings; n++) {
        uint32_t bound = w->state->bindings.at[callee->binding + n].node;
        uint32_t own = w->points_to->graph.nodes.at[w->state->interfaces[group].nodes.at[n]].flags;
        if (bound == DH_NO_NODE || !(own & (DH_NODE_HEAP | DH_NODE_STACK)))
            continue;
        unsigned count = w->state->counting[bound] + (many ? 2u : 1u);
        w->state->counting[bound] = (uint8_t)(count > 2 ? 2 : count);
    }
}

/* ---- one target ---- */

static void assume_recursion(struct dh_symex_step *t, uint32_t function, struct dh_state *out)
{
    const struct dh_function_summary *facts = &t->w->state->facts[function];
    *out = *t->s;
    if (facts->unlocks)
        out->n_locks = 0;
    out->started |= facts->starts;
    out->joined &= ~facts->starts;
    out->ended &= ~facts->starts;
    if (facts->barriers)
        out->phase = ~(uint64_t)0;
}

static bool is_clipped(struct dh_symex *w, const struct dh_symex_activation *f)
{
    const struct dh_function_summary *facts = &w->state->facts[f->function];
    if (w->cache == DH_CACHE_UNCLIPPED)
        return false;
    return !facts->sync && !facts->touches && !dh_symex_binds_shared(w, f);
}

static bool out_of_budget(struct dh_symex *w)
{
    if (w->steps < w->max_steps)
        return false;
    w->incomplete = true;
    return true;
}

static struct dh_symex_activation *callee_frame(struct dh_symex_step *t, struct dh_symex_activation *wanted)
{
    struct dh_symex_activation *f = dh_symex_get_activation(t->w, wanted, t->f->context, t->inst);
    if (t->counts && !wanted->multi && f->called) {
        struct dh_symex_activation twice = *wanted;
        twice.multi = true;
        twice.binding = f->binding;
        twice.own_bindings = false;
        f = dh_symex_get_activation(t->w, &twice, t->f->context, t->inst);
    }
    if (t->counts)
        f->called = true;
    return f;
}

/* What a callee left, in the caller's words. */
__attribute__((noinline)) static void come_back(struct dh_symex_step *t, uint32_t first, const struct dh_state *from,
                                                const uint32_t *names, struct dh_state *out)
{
    out->reached = from->reached;
    out->started = from->started;
    out->joined = from->joined;
    out->ended = from->ended;
    out->ignoring = from->ignoring;
    out->phase = from->phase;
    locks_outwards(t, first, from, names, out);
}

/* memcached, with 39,000 instructions, has 43,000 frames. */
enum { MANY_FRAMES = 100000, FEW_CONTEXTS = 48 };

static struct dh_state *merged_state(struct dh_symex *w, const struct dh_symex_activation *f)
{
    struct dh_state ***of = &w->state->merged[f->function];
    if (!*of && !(*of = calloc(DH_ABSTRACT_THREADS_MAX, sizeof **of)))
        abort();
    struct dh_state **s = &(*of)[f->thread];
    if (!*s && !(*s = calloc(1, sizeof **s)))
        abort();
    return *s;
}

/* Calls too deep down, or in too many contexts, which recursions through tables of functions bring: contexts are told
 * apart by the kinds of locks only, in the end not even by those. What the callee does is seen with less than is known;
 * the caller takes the call for a recursion. */
static bool widen(struct dh_symex *w, struct dh_symex_activation *wanted)
{
    bool ignored, many = w->state->frames.n > MANY_FRAMES && w->state->contexts_of[wanted->function] >= FEW_CONTEXTS;
    if (!many && w->state->depth < DH_DEPTH_MAX)
        return false;
    struct dh_state in = wanted->in;
    in.n_locks = in.n_fresh = 0;
    in.alone = 0;
    for (unsigned n = 0; n < wanted->in.n_locks; n++) {
        struct dh_symex_lock h = wanted->in.locks[n];
        h.expr = dh_expr_number(&w->state->values, (struct dh_expr){.kind = DH_EXPR_CALLER_VALUE});
        h.index = h.via = 0;
        dh_state_lock(&in, &h);
    }
    wanted->in = in;
    if (many) {
        w->n_merged += !merged_state(w, wanted)->reached;
        dh_state_merge(merged_state(w, wanted), &in, &ignored);
        wanted->in = *merged_state(w, wanted);
    }
    wanted->multi = true;
    memset(wanted->attributes, 0, sizeof wanted->attributes);
    memset(wanted->loops, 0, sizeof wanted->loops);
    return true;
}

/* Without caching every call has contexts of its own; recursions would have no end. */
static uint64_t told_by_call(const struct dh_symex_step *t, uint32_t target)
{
    const struct dh_symex *w = t->w;
    const uint32_t *group = w->points_to->calls.group;
    if (w->cache != DH_CACHE_NONE || group[target] == group[t->f->function] || w->state->frames.n > MANY_FRAMES)
        return 0;
    return ((uint64_t)t->f->context << 32 | t->inst) + 1;
}

/* The context that a call leads to; NULL: nothing to be seen there, or nobody looks any more. Not inlined, like what
 * comes back: calls go deep, and the stack is to hold as little as possible on the way. */
__attribute__((noinline)) static struct dh_symex_activation *
find_callee(struct dh_symex_step *t, uint32_t target, uint32_t first, uint32_t *names, bool *clipped, bool *widened)
{
    struct dh_symex *w = t->w;
    struct dh_points_to *s = w->points_to;
    struct dh_symex_activation wanted = {
        .function = target, .thread = t->f->thread, .multi = t->f->multi || t->repeated, .unwinding = t->unwinding};
    wanted.in = (struct dh_state){.reached = true,
                                  .started = t->s->started,
                                  .joined = t->s->joined,
                                  .ended = t->s->ended,
                                  .phase = t->s->phase,
                                  .ignoring = t->s->ignoring,
                                  .alone = t->s->alone};
    dh_symex_enter_library_object(t, target, first, &wanted);
    if (s->calls.far[t->inst] && s->common_instance[target] != DH_NONE)
        dh_symex_bind_instance(w, &s->instances.at[s->common_instance[target]], &wanted);
    else
        dh_symex_bind_call(w, t->f, t->i, first, &wanted);
    *clipped = is_clipped(w, &wanted);
    if (*clipped) {
        note_clipped(t, &wanted);
        w->n_clipped += t->counts;
        if (wanted.own_bindings)
            w->state->bindings.n = wanted.binding;
        return NULL;
    }
    if (out_of_budget(w))
        return NULL;
    const struct dh_function_summary *facts = &w->state->facts[target];
    wanted.multi |= !facts->counts && !facts->starts;
    argument_attributes(t, first, &wanted);
    locks_inwards(t, first, w->program->functions.at[target].n_params, &wanted.in, names);
    *widened = widen(w, &wanted);
    wanted.from = told_by_call(t, target);
    return callee_frame(t, &wanted);
}

/* What calls leave, for all targets and for one. */
struct left {
    struct dh_state all, out, thrown;
};

/* Walked for this very call, in an earlier round. */
static bool is_own_call(const struct dh_symex_step *t, const struct dh_symex_activation *f)
{
    const struct dh_context *c = &t->w->contexts.at[f->context];
    return c->caller == t->f->context && c->call == t->inst;
}

static void call_target(struct dh_symex_step *t, uint32_t target, uint32_t first, struct left *l)
{
    struct dh_symex *w = t->w;
    uint32_t names[DH_LOCKS_MAX];
    bool clipped, widened = false;
    struct dh_symex_activation *f = find_callee(t, target, first, names, &clipped, &widened);
    w->n_cached += t->counts && f && f->status == DH_ACTIVATION_DONE && !is_own_call(t, f);
    if (w->traced && w->state->recording && t->counts && (f || clipped))
        dh_vec_push(&w->followed, (struct dh_context_call){t->f->context, t->inst, target, f ? f->context : DH_NONE});
    bool later = f && f->status == DH_ACTIVATION_NEW && w->state->depth >= DH_DEPTH_MAX;
    if (later)
        dh_vec_push(&w->state->later, f);
    else if (f && f->status == DH_ACTIVATION_NEW)
        dh_symex_run_function(w, f);
    l->out = l->thrown = *t->s;
    if (clipped) {
        l->thrown.reached &= w->state->facts[target].throws;
        return;
    }
    if (!f || widened || f->status != DH_ACTIVATION_DONE) {
        assume_recursion(t, target, &l->out);
        l->thrown = l->out;
        return;
    }
    come_back(t, first, &f->out, names, &l->out);
    come_back(t, first, &f->thrown, names, &l->thrown);
    if (w->state->facts[target].meets && l->out.reached)
        dh_symex_step_barrier(&(struct dh_symex_step){.w = w, .f = t->f, .s = &l->out, .i = t->i, .inst = t->inst});
}

/* Barriers that a callee passed are told apart by who called it. */
static void rename_phase(struct dh_symex_step *t, uint64_t before, struct dh_state *out)
{
    if (!out->reached || out->phase == before || out->phase == ~(uint64_t)0)
        return;
    uint64_t stayed = out->phase & before, passed = out->phase & ~before;
    if (!passed)
        return;
    dh_symex_step_barrier(&(struct dh_symex_step){.w = t->w, .f = t->f, .s = out, .i = t->i, .inst = t->inst});
    out->phase |= stayed;
}

static void escape_arguments(struct dh_symex_step *t, struct dh_state *s, uint32_t first, uint32_t escaping)
{
    struct dh_state *was = t->s;
    t->s = s;
    for (uint32_t n = 0; s->reached && first + n < t->i->n_operands; n++)
        if (n >= 32 || escaping >> n & 1)
            escape_value(t, dh_operand(t->w->program, t->i, first + n));
    t->s = was;
}

void dh_symex_step_call(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    const struct dh_call_graph *c = &w->points_to->calls;
    uint32_t first = t->i->op == DH_I_CALL ? 1 : 0, escaping = 0, leaked = 0, fresh[DH_FRESH_MAX];
    memcpy(fresh, t->s->fresh, sizeof fresh);
    struct left *l = calloc(1, sizeof *l);
    if (!l)
        abort();
    t->thrown = (struct dh_state){0};
    bool any = false, moved = false, is_new = true, meets = w->state->recording;
    for (uint32_t it = dh_call_graph_first(c, t->inst), target; dh_call_graph_next(c, t->inst, &it, &target);) {
        if (!w->program->functions.at[target].n_blocks)
            continue;
        any = true;
        call_target(t, target, first, l);
        dh_state_merge(&l->all, &l->out, &moved);
        dh_state_merge(&t->thrown, &l->thrown, &moved);
        escaping |= w->state->facts[target].escapes;
        is_new &= w->state->facts[target].returns_new;
        meets &= w->state->recording && w->state->meetings[target];
        leaked |= dh_symex_escaping_fresh(t, target, first);
        dh_symex_note_thread_owner(t, target);
    }
    if (t->i->op == DH_I_FOREIGN)
        escaping = UINT32_MAX;
    if (any && t->i->op == DH_I_CALL) {
        uint64_t before = t->s->phase;
        rename_phase(t, before, &l->all);
        rename_phase(t, before, &t->thrown);
        *t->s = l->all;
        if (meets && t->s->reached)
            dh_symex_step_barrier(t);
        dh_symex_step_joins(t);
    } else {
        t->thrown = *t->s;
    }
    free(l);
    escape_arguments(t, t->s, first, escaping);
    escape_arguments(t, &t->thrown, first, escaping);
    for (unsigned n = 0; leaked >> n; n++)
        if (leaked >> n & 1) {
            dh_state_escape(t->s, fresh[n]);
            dh_state_escape(&t->thrown, fresh[n]);
        }
    if (any && is_new && t->i->result != DH_NONE && t->s->reached)
        dh_state_add_fresh(t->s, dh_value_term(&w->state->values, t->f->function, t->i->result).expr);
}
