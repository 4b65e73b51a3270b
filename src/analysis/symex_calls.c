/* Calls: translates the abstract state into the callee's terms, executes it, and translates its exit state back. */
#include "analysis/symex_internal.h"
#include "base/alloc.h"

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
    int made = p->sync_kind * 512 + p->pending * 256 + p->test_known * 128 + p->test,
        other = q->sync_kind * 512 + q->pending * 256 + q->test_known * 128 + q->test;
    return made != other ? made - other : (p->number > q->number) - (p->number < q->number);
}

static uint32_t reached_arguments(struct dh_symex_step *t, uint32_t first, uint32_t n_params,
                                  const struct dh_symex_lock *lock)
{
    const struct dh_program *p = t->w->program;
    uint32_t via = 0, registers = p->functions.at[t->f->function].registers;
    for (uint32_t n = 0; n < n_params && n < 32 && first + n < t->i->n_operands && t->w->state->second_pass; n++) {
        dh_value v = dh_operand(p, t->i, first + n);
        if (dh_is_register(v) && p->registers.at[registers + v] == DH_REG_POINTER &&
            dh_symex_found_through_lock(t->w, t->f, v, lock))
            via |= 1u << n;
    }
    return via;
}

/* Locks of the caller in the callee's terms. A lock that the callee cannot name is some lock of that node: one is
 * enough, so that recursions do not accumulate them. `names` maps the caller's locks to these. */
static void locks_to_callee(struct dh_symex_step *t, uint32_t first, uint32_t n_params, struct dh_state *in,
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
        h.reached_params = reached_arguments(t, first, n_params, &t->s->locks[n]);
        dh_state_lock(in, &h);
    }
    qsort(in->locks, in->n_locks, sizeof *in->locks, by_name);
}

static void locks_to_caller(struct dh_symex_step *t, uint32_t first, const struct dh_state *out, const uint32_t *names,
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
                own.recursion = h.recursion;
                dh_state_lock(s, &own);
                mine = true;
            }
        if (mine)
            continue;
        struct dh_term o = dh_term_to_caller(x, of_lock(h.expr), t->f->function, t->i, first);
        struct dh_term i = dh_term_to_caller(x, of_lock(h.index), t->f->function, t->i, first);
        h.expr = o.exact ? o.expr : 0;
        h.reached_params = 0;
        h.index = i.exact && !i.offset ? i.expr : 0;
        dh_state_lock(s, &h);
    }
}

/* A pointer to an object that is not shared: its attributes do not matter. */
static bool is_not_shared(struct dh_symex *w, const struct dh_symex_activation *callee, uint32_t param)
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
        if (is_not_shared(t->w, callee, n))
            continue;
        uint8_t a = dh_symex_value_attributes(t, dh_operand(t->w->program, t->i, first + n), &callee->loops[n]);
        callee->attributes[n] |= a;
        if (t->w->state->second_pass && dh_symex_is_solely_owned(t, dh_operand(t->w->program, t->i, first + n)))
            callee->attributes[n] |= DH_ARG_SOLELY_OWNED;
        if (a & DH_ARG_FRESH)
            dh_state_add_fresh(&callee->in, dh_expr_number(x, (struct dh_expr){.kind = DH_EXPR_PARAM, .a = n}));
    }
}

/* ---- escape of fresh objects in calls ---- */

static void escape_value(struct dh_symex_step *t, dh_value v)
{
    struct dh_value_numbering *x = &t->w->state->values;
    struct dh_term a = dh_value_term(x, t->f->function, v);
    uint32_t root = a.expr;
    root = dh_expr_base(x, root);
    if (!root)
        return;
    dh_state_pass_element(t->s, a.expr);
    t->s->passed_by_call = true;
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

static void count_pruned_allocations(struct dh_symex_step *t, const struct dh_symex_activation *callee)
{
    struct dh_symex *w = t->w;
    uint32_t scc = w->points_to->calls.scc[callee->function];
    bool many = t->repeated || t->f->may_repeat || !w->threads.at[t->f->thread].unique;
    for (uint32_t n = 0; t->records && n < callee->n_bindings; n++) {
        uint32_t bound = w->state->bindings.at[callee->binding + n].node;
        uint32_t own = w->points_to->graph.nodes.at[w->state->interfaces[scc].nodes.at[n]].flags;
        if (bound == DH_NO_NODE || !(own & (DH_NODE_HEAP | DH_NODE_STACK)))
            continue;
        unsigned count = w->state->allocation_count[bound] + (many ? 2u : 1u);
        w->state->allocation_count[bound] = (uint8_t)(count > 2 ? 2 : count);
    }
}

/* ---- one target ---- */

static void assume_recursion(struct dh_symex_step *t, uint32_t function, struct dh_state *out)
{
    const struct dh_function_summary *facts = &t->w->state->summaries[function];
    *out = *t->s;
    if (facts->unlocks)
        out->n_locks = 0;
    out->started |= facts->starts;
    out->joined &= ~facts->starts;
    out->joined_heuristic &= ~facts->starts;
    if (facts->barriers)
        out->phase = ~(uint64_t)0;
}

static bool is_pruned(struct dh_symex *w, const struct dh_symex_activation *f)
{
    const struct dh_function_summary *facts = &w->state->summaries[f->function];
    if (w->cache == DH_CACHE_UNPRUNED)
        return false;
    return !facts->sync && !facts->touches && !dh_symex_binds_shared(w, f);
}

static bool out_of_budget(struct dh_symex *w)
{
    if (w->steps < w->max_steps && !dh_time_limit_over(w->limit))
        return false;
    w->incomplete = true;
    return true;
}

static struct dh_symex_activation *callee_activation(struct dh_symex_step *t, struct dh_symex_activation *wanted)
{
    struct dh_symex_activation *f = dh_symex_get_activation(t->w, wanted, t->f->context, t->inst);
    if (t->records && !wanted->may_repeat && f->called) {
        struct dh_symex_activation twice = *wanted;
        twice.may_repeat = true;
        twice.binding = f->binding;
        twice.own_bindings = false;
        f = dh_symex_get_activation(t->w, &twice, t->f->context, t->inst);
    }
    if (t->records)
        f->called = true;
    return f;
}

/* A callee's exit state in the caller's terms. */
__attribute__((noinline)) static void return_state(struct dh_symex_step *t, uint32_t first, const struct dh_state *from,
                                                   const uint32_t *names, struct dh_state *out)
{
    out->reached = from->reached;
    out->started = from->started;
    out->joined = from->joined;
    out->joined_heuristic = from->joined_heuristic;
    out->ignoring = from->ignoring;
    out->phase = from->phase;
    locks_to_caller(t, first, from, names, out);
}

/* memcached, with 39,000 instructions, has 43,000 activations. */
enum { MANY_ACTIVATIONS = 100000, FEW_CONTEXTS = 48 };

static struct dh_state *widened_entry(struct dh_symex *w, const struct dh_symex_activation *f)
{
    struct dh_state ***of = &w->state->widened[f->function];
    if (!*of)
        *of = dh_xcalloc(DH_ABSTRACT_THREADS_MAX, sizeof **of);
    struct dh_state **s = &(*of)[f->thread];
    if (!*s)
        *s = dh_xcalloc(1, sizeof **s);
    return *s;
}

/* Widening, for calls too deep or in too many contexts, as recursions through tables of functions cause: contexts
 * are distinguished by the nodes of locks only, in the end not even by those. The callee is executed with less
 * information; the caller treats the call as a recursion. */
static bool widen(struct dh_symex *w, struct dh_symex_activation *wanted)
{
    bool ignored,
        many = w->state->activations.n > MANY_ACTIVATIONS && w->state->n_activations[wanted->function] >= FEW_CONTEXTS;
    if (!many && w->state->depth < DH_DEPTH_MAX)
        return false;
    struct dh_state in = wanted->in;
    in.n_locks = in.n_fresh = 0;
    in.only_instance = 0;
    for (unsigned n = 0; n < wanted->in.n_locks; n++) {
        struct dh_symex_lock h = wanted->in.locks[n];
        h.expr = dh_expr_number(&w->state->values, (struct dh_expr){.kind = DH_EXPR_CALLER_VALUE});
        h.index = h.reached_params = 0;
        dh_state_lock(&in, &h);
    }
    wanted->in = in;
    if (many) {
        w->n_widened += !widened_entry(w, wanted)->reached;
        dh_state_merge(widened_entry(w, wanted), &in, &ignored);
        wanted->in = *widened_entry(w, wanted);
    }
    wanted->may_repeat = true;
    memset(wanted->attributes, 0, sizeof wanted->attributes);
    memset(wanted->loops, 0, sizeof wanted->loops);
    return true;
}

/* Without caching every call has a context of its own, except recursions. */
static uint64_t call_identity(const struct dh_symex_step *t, uint32_t target)
{
    const struct dh_symex *w = t->w;
    const uint32_t *scc = w->points_to->calls.scc;
    if (w->cache != DH_CACHE_NONE || scc[target] == scc[t->f->function] || w->state->activations.n > MANY_ACTIVATIONS)
        return 0;
    return ((uint64_t)t->f->context << 32 | t->inst) + 1;
}

/* The activation for a call; NULL: pruned, or out of budget. Not inlined, as return_state: calls nest deeply, and
 * the stack is to hold as little as possible meanwhile. */
__attribute__((noinline)) static struct dh_symex_activation *
find_callee(struct dh_symex_step *t, uint32_t target, uint32_t first, uint32_t *names, bool *pruned, bool *widened)
{
    struct dh_symex *w = t->w;
    struct dh_points_to *s = w->points_to;
    struct dh_symex_activation wanted = {.function = target,
                                         .thread = t->f->thread,
                                         .may_repeat = t->f->may_repeat || t->repeated,
                                         .unwinding = t->unwinding};
    wanted.in = (struct dh_state){.reached = true,
                                  .started = t->s->started,
                                  .joined = t->s->joined,
                                  .joined_heuristic = t->s->joined_heuristic,
                                  .phase = t->s->phase,
                                  .ignoring = t->s->ignoring,
                                  .only_instance = t->s->only_instance};
    dh_symex_enter_library_object(t, target, first, &wanted);
    if (s->calls.insensitive[t->inst] && s->common_instance[target] != DH_NONE)
        dh_symex_bind_instance(w, &s->instances.at[s->common_instance[target]], &wanted);
    else
        dh_symex_bind_call(w, t->f, t->i, first, &wanted);
    *pruned = is_pruned(w, &wanted);
    if (*pruned) {
        count_pruned_allocations(t, &wanted);
        w->n_pruned += t->records;
        if (wanted.own_bindings)
            w->state->bindings.n = wanted.binding;
        return NULL;
    }
    if (out_of_budget(w))
        return NULL;
    const struct dh_function_summary *facts = &w->state->summaries[target];
    wanted.may_repeat |= !facts->counts && !facts->starts;
    argument_attributes(t, first, &wanted);
    locks_to_callee(t, first, w->program->functions.at[target].n_params, &wanted.in, names);
    *widened = widen(w, &wanted);
    wanted.from = call_identity(t, target);
    return callee_activation(t, &wanted);
}

/* Exit states, of all targets joined and of one. */
struct exit_states {
    struct dh_state all, out, thrown;
};

/* Executed for this very call, in an earlier iteration. */
static bool is_own_call(const struct dh_symex_step *t, const struct dh_symex_activation *f)
{
    const struct dh_context *c = &t->w->contexts.at[f->context];
    return c->caller == t->f->context && c->call == t->inst;
}

static void call_target(struct dh_symex_step *t, uint32_t target, uint32_t first, struct exit_states *l)
{
    struct dh_symex *w = t->w;
    uint32_t names[DH_LOCKS_MAX];
    bool pruned, widened = false;
    struct dh_symex_activation *f = find_callee(t, target, first, names, &pruned, &widened);
    w->n_cached += t->records && f && f->status == DH_ACTIVATION_DONE && !is_own_call(t, f);
    if (w->keep_contexts && w->state->second_pass && t->records && (f || pruned))
        dh_vec_push(&w->context_calls,
                    (struct dh_context_call){t->f->context, t->inst, target, f ? f->context : DH_NONE});
    bool later = f && f->status == DH_ACTIVATION_NEW && w->state->depth >= DH_DEPTH_MAX;
    if (later)
        dh_vec_push(&w->state->deferred, f);
    else if (f && f->status == DH_ACTIVATION_NEW)
        dh_symex_run_function(w, f);
    l->out = l->thrown = *t->s;
    if (pruned) {
        l->thrown.reached &= w->state->summaries[target].throws;
        return;
    }
    if (!f || widened || f->status != DH_ACTIVATION_DONE) {
        assume_recursion(t, target, &l->out);
        l->thrown = l->out;
        return;
    }
    return_state(t, first, &f->out, names, &l->out);
    return_state(t, first, &f->thrown, names, &l->thrown);
    if (w->state->summaries[target].has_condition_barrier && l->out.reached)
        dh_symex_step_barrier(&(struct dh_symex_step){.w = w, .f = t->f, .s = &l->out, .i = t->i, .inst = t->inst});
}

/* Barriers that a callee passed are distinguished by call. */
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
    struct exit_states *l = dh_xcalloc(1, sizeof *l);
    t->thrown = (struct dh_state){0};
    bool any = false, moved = false, is_new = true, barrier = w->state->second_pass;
    for (uint32_t it = dh_call_graph_first(c, t->inst), target; dh_call_graph_next(c, t->inst, &it, &target);) {
        if (!w->program->functions.at[target].n_blocks)
            continue;
        any = true;
        call_target(t, target, first, l);
        dh_state_merge(&l->all, &l->out, &moved);
        dh_state_merge(&t->thrown, &l->thrown, &moved);
        escaping |= w->state->summaries[target].escapes;
        is_new &= w->state->summaries[target].returns_new;
        barrier &= w->state->second_pass && w->state->atomic_barriers[target];
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
        if (barrier && t->s->reached)
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
