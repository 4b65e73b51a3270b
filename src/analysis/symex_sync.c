/* Transfer functions of synchronisation: locks, conditions, barriers, thread start and join; and of branches on
 * their results. */
#include "analysis/symex_internal.h"

/* ---- locks ---- */

/* Two locks selected by a comparison of two objects are the locks of both: in which order they were acquired does
 * not matter any more (lock_pair_order.h). */
static void name_pair(struct dh_symex_step *t, struct dh_symex_lock *one, struct dh_symex_lock *other)
{
    struct dh_symex *w = t->w;
    struct dh_value_numbering *x = &w->state->values;
    dh_value a, b;
    bool index;
    if (one->node != other->node || one->offset != other->offset || !one->expr || !other->expr ||
        !dh_lock_pair_selected(&w->state->pairs, one->inst, other->inst, &a, &b, &index))
        return;
    struct dh_term s = dh_value_term(x, t->f->function, a), u = dh_value_term(x, t->f->function, b);
    if (!s.expr || !u.expr || !s.exact || !u.exact || s.offset != u.offset || !dh_symex_is_stable(w, t->f, s.expr) ||
        !dh_symex_is_stable(w, t->f, u.expr))
        return;
    if (index) {
        struct dh_expr e = x->exprs.at[one->expr];
        if (e.kind != DH_EXPR_INDEX || s.offset)
            return;
        one->index = e.b = s.expr;
        one->expr = dh_expr_number(x, e);
        other->index = e.b = u.expr;
        other->expr = dh_expr_number(x, e);
    } else {
        one->expr = s.expr;
        other->expr = u.expr;
    }
}

static void name_pairs(struct dh_symex_step *t)
{
    unsigned n = t->s->n_locks;
    for (unsigned k = 0; k + 1 < n && t->s->locks[n - 1].inst == t->inst; k++)
        name_pair(t, &t->s->locks[k], &t->s->locks[n - 1]);
}

static void acquire_lock(struct dh_symex_step *t, uint16_t mode, uint32_t flags)
{
    struct dh_symex_lock h = dh_symex_lock_of_operand(t->w, t->f, t->i, 0, mode);
    if (!t->w->state->second_pass)
        return;
    if (t->records)
        dh_symex_add_sync_event(t->w, t->f, t->s, t->i, DH_SYMEX_LOCK, &h, &h,
                                flags | (mode ? DH_SYMEX_SHARED_LOCK : 0));
    /* In strict execution: an error-checking lock is not acquired twice, so one release ends the critical section. */
    if (t->i->op == DH_I_ASSERT_HELD || t->w->strict || !dh_state_lock_recursively(t->s, &h))
        dh_state_lock(t->s, &h);
    name_pairs(t);
}

static void release_lock(struct dh_symex_step *t, uint32_t operand)
{
    struct dh_symex_lock h = dh_symex_lock_of_operand(t->w, t->f, t->i, operand, 0);
    if (h.node != DH_NO_NODE)
        dh_state_unlock(t->s, (struct dh_heap_cell){h.node, h.offset}, h.expr);
}

/* After a one-time initialisation every thread is ordered after it: as if it were held for reading from then on. */
static void end_once(struct dh_symex_step *t)
{
    struct dh_symex_lock h = dh_symex_lock_of_operand(t->w, t->f, t->i, 0, 1);
    release_lock(t, 0);
    if (t->w->state->second_pass)
        dh_state_lock(t->s, &h);
}

/* It was passed before: heuristically it is not executed again, although an initialisation that threw may be. */
static bool is_once_done(struct dh_symex_step *t)
{
    struct dh_symex_lock h = dh_symex_lock_of_operand(t->w, t->f, t->i, 0, 1);
    bool held = false;
    for (unsigned n = 0; n < t->s->n_locks; n++)
        held |= t->s->locks[n].node == h.node && t->s->locks[n].offset == h.offset && t->s->locks[n].mode;
    return held && !t->w->strict && dh_symex_is_unique(t->w, h.node);
}

static void wait_on_condition(struct dh_symex_step *t)
{
    if (!t->records || t->i->n_operands < 2)
        return;
    struct dh_symex_lock condition = dh_symex_lock_of_operand(t->w, t->f, t->i, 0, 0),
                         lock = dh_symex_lock_of_operand(t->w, t->f, t->i, 1, 0);
    if (condition.node == DH_NO_NODE)
        return;
    dh_symex_add_sync_event(t->w, t->f, t->s, t->i, DH_SYMEX_WAIT, &condition,
                            lock.node != DH_NO_NODE ? &lock : &condition,
                            t->i->flags & DH_INST_TIMED ? DH_SYMEX_TRY : 0);
}

static void step_signal(struct dh_symex_step *t)
{
    struct dh_symex_lock condition = dh_symex_lock_of_operand(t->w, t->f, t->i, 0, 0);
    if (t->records)
        dh_symex_add_sync_event(t->w, t->f, t->s, t->i, DH_SYMEX_SIGNAL, &condition, &condition, 0);
}

/* Semaphores, and order that a library model declares. */
static void step_semaphore(struct dh_symex_step *t, enum dh_symex_event_kind kind)
{
    struct dh_symex_lock semaphore = dh_symex_lock_of_operand(t->w, t->f, t->i, 0, 0);
    if (t->records)
        dh_symex_add_sync_event(t->w, t->f, t->s, t->i, kind, &semaphore, &semaphore, 0);
}

static uint64_t barrier_bit(struct dh_symex *w, uint32_t inst)
{
    size_t n = 0;
    while (n < w->state->barriers.n && w->state->barriers.at[n] != inst)
        n++;
    if (n == w->state->barriers.n && n < 62)
        dh_vec_push(&w->state->barriers, inst);
    return (uint64_t)1 << (n < 62 ? n + 1 : 63);
}

void dh_symex_step_barrier(struct dh_symex_step *t)
{
    t->s->phase = barrier_bit(t->w, t->inst);
}

void dh_symex_step_sync(struct dh_symex_step *t)
{
    /* A lock must be initialised before it is used, like any other datum. */
    if (t->records && (t->i->op == DH_I_LOCK || t->i->op == DH_I_RDLOCK || t->i->op == DH_I_UNLOCK))
        dh_symex_access(t, 0, DH_SYMEX_READ, DH_SYMEX_ATOMIC | DH_SYMEX_LOCK_USE);
    if (t->records && (t->i->op == DH_I_LOCK_INIT || (t->w->strict && t->i->op == DH_I_LOCK_DESTROY)))
        dh_symex_access(t, 0, DH_SYMEX_WRITE, DH_SYMEX_LOCK_USE);
    switch (t->i->op) {
    case DH_I_LOCK:
        acquire_lock(t, 0, 0);
        break;
    case DH_I_ASSERT_HELD: /* an assertion, no proof */
        if (!t->w->strict)
            acquire_lock(t, 0, 0);
        break;
    case DH_I_RDLOCK:
        acquire_lock(t, 1, 0);
        break;
    case DH_I_TRYLOCK: /* others by the branch on the result */
        if (t->i->extra == DH_SUCCESS_ALWAYS)
            acquire_lock(t, 0, DH_SYMEX_TRY);
        break;
    case DH_I_UNLOCK:
        release_lock(t, 0);
        break;
    case DH_I_ONCE_LEAVE:
        end_once(t);
        break;
    case DH_I_WAIT:
        wait_on_condition(t);
        break;
    case DH_I_SIGNAL:
    case DH_I_BROADCAST:
        step_signal(t);
        break;
    case DH_I_SEM_INIT:
    case DH_I_SEM_POST:
    case DH_I_RELEASE:
        step_semaphore(t, DH_SYMEX_POST);
        break;
    case DH_I_SEM_WAIT:
    case DH_I_ACQUIRE:
        step_semaphore(t, DH_SYMEX_AWAIT);
        break;
    case DH_I_BARRIER_WAIT:
        dh_symex_step_barrier(t);
        break;
    case DH_I_IGNORE_BEGIN:
        t->s->ignoring = 1;
        break;
    case DH_I_IGNORE_END:
        t->s->ignoring = 0;
        break;
    default:
        break;
    }
}

/* ---- edges ---- */

struct outcome {
    const struct dh_inst *i; /* the operation whose result is tested, NULL: none */
    bool success;            /* on this edge it succeeded */
};

static bool is_zero_test(enum dh_compare how, int64_t than, bool taken, bool *zero)
{
    if (than != 0 || (how != DH_CMP_EQ && how != DH_CMP_NE))
        return false;
    *zero = taken == (how == DH_CMP_EQ);
    return true;
}

/* Follows the condition of a branch back to a try-lock or one-time initialisation. */
static struct outcome tested(struct dh_symex_step *t, dh_value condition, bool taken)
{
    const struct dh_program *p = t->w->program;
    const uint32_t *defined = dh_symex_definitions(t->w, t->f->function);
    bool zero = !taken;
    for (int depth = 0; depth < 8 && dh_is_register(condition) && defined[condition] != DH_NONE; depth++) {
        const struct dh_inst *i = &p->insts.at[defined[condition]];
        int64_t than;
        switch (i->op) {
        case DH_I_TRYLOCK:
        case DH_I_TRYRDLOCK:
        case DH_I_ONCE_ENTER:
            return (struct outcome){i, zero == (i->extra == DH_SUCCESS_ZERO)};
        case DH_I_COPY:
            break;
        case DH_I_COMPARE:
            if (!dh_value_int(p, dh_operand(p, i, 1), &than) || !is_zero_test(i->extra, than, !zero, &zero))
                return (struct outcome){0};
            break;
        default:
            return (struct outcome){0};
        }
        condition = dh_operand(p, i, 0);
    }
    return (struct outcome){0};
}

/* `if (id == 0)`, where each instance is passed another id: only one of them gets in. */
static uint32_t only_instance(struct dh_symex_step *t, dh_value condition, bool taken)
{
    struct dh_symex *w = t->w;
    const struct dh_program *p = w->program;
    const uint32_t *defined = dh_symex_definitions(w, t->f->function);
    int64_t number;
    if (!dh_is_register(condition) || defined[condition] == DH_NONE)
        return 0;
    const struct dh_inst *i = &p->insts.at[defined[condition]];
    if (i->op != DH_I_COMPARE || i->extra != (taken ? DH_CMP_EQ : DH_CMP_NE) ||
        !dh_value_int(p, dh_operand(p, i, 1), &number))
        return 0;
    struct dh_term a = dh_value_term(&w->state->values, t->f->function, dh_operand(p, i, 0));
    struct dh_expr e = w->state->values.exprs.at[a.expr];
    if (e.kind != DH_EXPR_PARAM || !a.exact || a.offset || e.a >= DH_ATTRIBUTES_MAX || number < 0 ||
        number >= INT32_MAX || !(t->f->attributes[e.a] & DH_ARG_OWN))
        return 0;
    return (uint32_t)number + 1;
}

static void apply_outcome(struct dh_symex_step *t, struct outcome o, struct dh_state *s)
{
    struct dh_symex_step at = *t;
    at.i = o.i;
    at.s = s;
    at.inst = (uint32_t)(o.i - t->w->program->insts.at);
    if (o.i->op == DH_I_ONCE_ENTER && !o.success)
        end_once(&at);
    else if (o.i->op == DH_I_ONCE_ENTER && is_once_done(&at))
        s->reached = false;
    else if (o.success)
        acquire_lock(&at, o.i->op == DH_I_TRYRDLOCK, o.i->op == DH_I_ONCE_ENTER ? 0 : DH_SYMEX_TRY);
}

/* After a loop of joins the threads are joined. */
static void end_joined_loops(struct dh_symex_step *t, const struct dh_cfg *cfg, uint32_t to, struct dh_state *s)
{
    const struct dh_heuristic_joins *e = &t->w->state->ends;
    for (uint32_t n = e->first[t->f->function]; n < e->first[t->f->function + 1]; n++) {
        const struct dh_heuristic_join *at = &e->all.at[n];
        for (uint32_t h = cfg->loop.at[at->block]; h != DH_NONE; h = cfg->outer.at[h])
            if (dh_cfg_in_loop(cfg, h, t->block) && !dh_cfg_in_loop(cfg, h, to) &&
                (at->start == DH_NONE || !dh_cfg_in_loop(cfg, h, at->start)))
                s->joined_heuristic |= dh_symex_threads_of(t->w, at->create);
    }
}

void dh_symex_step_edge(struct dh_symex_step *t, uint32_t to, uint32_t number, struct dh_state *s)
{
    struct dh_symex *w = t->w;
    if (t->i->op == DH_I_BRANCH) {
        struct outcome o = tested(t, dh_operand(w->program, t->i, 0), number == 0);
        if (o.i)
            apply_outcome(t, o, s);
        uint32_t only = only_instance(t, dh_operand(w->program, t->i, 0), number == 0);
        if (only)
            s->only_instance = only;
    }
    const struct dh_cfg *cfg = dh_symex_cfg(w, t->f->function);
    for (size_t n = 0; n < w->state->joins.loops.n; n++) {
        const struct dh_joined_loop *l = &w->state->joins.loops.at[n];
        if (l->function == t->f->function && l->header == t->block && !dh_cfg_in_loop(cfg, l->header, to) &&
            (!t->f->may_repeat || l->contained) && dh_symex_is_stable(w, t->f, l->bound))
            s->joined |= dh_symex_threads_of(w, l->create);
    }
    end_joined_loops(t, cfg, to, s);
    dh_atomic_sync_edge(t, to, number, s);
}

/* ---- threads ---- */

static uint16_t loop_number(struct dh_symex *w, uint32_t function, uint32_t header)
{
    for (size_t n = 1; n < w->loops.n; n++)
        if (w->loops.at[n].function == function && w->loops.at[n].header == header)
            return (uint16_t)n;
    if (w->loops.n == UINT16_MAX)
        return 0;
    dh_vec_push(&w->loops, (struct dh_element_loop){function, header});
    return (uint16_t)(w->loops.n - 1);
}

/* The induction variable of a loop that is executed once, or the element it selects. */
static uint16_t loop_of_induction(struct dh_symex_step *t, uint32_t expr, bool exactly)
{
    struct dh_symex *w = t->w;
    struct dh_expr e = w->state->values.exprs.at[expr];
    const struct dh_cfg *cfg = dh_symex_cfg(w, t->f->function);
    uint32_t header;
    if (e.kind == DH_EXPR_INDEX)
        e = w->state->values.exprs.at[e.b];
    if (e.kind != DH_EXPR_REGISTER || e.a != t->f->function || !dh_is_loop_counter(w->program, cfg, e.a, e.b, &header))
        return 0;
    if ((t->f->may_repeat || cfg->outer.at[header] != DH_NONE) &&
        !dh_joins_contained(&w->state->joins, t->f->function, header))
        return 0;
    if (exactly ? cfg->loop.at[t->block] != header : !dh_cfg_in_loop(cfg, header, t->block))
        return 0;
    return loop_number(w, t->f->function, header);
}

uint32_t dh_symex_loop_element(struct dh_symex_step *t, struct dh_term a, bool exactly, uint16_t *loop)
{
    const struct dh_value_numbering *x = &t->w->state->values;
    *loop = 0;
    for (uint32_t at = a.expr; at && a.exact;) {
        struct dh_expr e = x->exprs.at[at];
        bool known = e.kind == DH_EXPR_PARAM && e.a < DH_ATTRIBUTES_MAX && t->f->attributes[e.a] & DH_ARG_DISTINCT;
        *loop = known ? t->f->loops[e.a] : loop_of_induction(t, at, exactly);
        if (known || *loop)
            return at;
        at = e.kind == DH_EXPR_INDEX && e.c & DH_EXPR_BOUNDED ? e.a : 0;
    }
    return 0;
}

uint8_t dh_symex_value_attributes(struct dh_symex_step *t, dh_value v, uint16_t *loop)
{
    struct dh_term a = dh_value_term(&t->w->state->values, t->f->function, v);
    uint8_t known = dh_symex_attributes(t->w, t->f, t->s, a) & (uint8_t)~DH_ARG_DISTINCT;
    /* The neighbour of a thread index is another thread's. */
    const struct dh_program *p = t->w->program;
    if (a.offset && dh_is_register(v) && p->registers.at[p->functions.at[t->f->function].registers + v] == DH_REG_DATA)
        known = 0;
    uint32_t element = dh_symex_loop_element(t, a, true, loop);
    /* Threads of several kinds may be passed one element, one of each. */
    bool gone = dh_state_is_passed(t->s, element) && (t->i->op != DH_I_CREATE || t->s->passed_by_call);
    if (element != a.expr || gone)
        *loop = 0, element = 0;
    return known | (element ? DH_ARG_DISTINCT : 0);
}

static void note_handle(struct dh_symex_step *t, size_t thread)
{
    struct dh_symex_lock h = dh_symex_lock_of_operand(t->w, t->f, t->i, 0, 0);
    struct dh_heap_cell at = h.node == DH_NO_NODE || h.index ? DH_NO_CELL : (struct dh_heap_cell){h.node, h.offset};
    if (t->w->state->create_count[thread])
        at = DH_NO_CELL;
    t->w->state->handles[thread] = at;
}

/* std::thread: a state that was moved into this thread only. */
static bool is_moved_state(const struct dh_symex_step *t, dh_value v)
{
    const struct dh_program *p = t->w->program;
    uint32_t inst = dh_is_register(v) ? dh_symex_definitions(t->w, t->f->function)[v] : DH_NONE;
    return inst != DH_NONE && p->insts.at[inst].op == DH_I_LOAD && p->insts.at[inst].flags & DH_INST_SYNTHETIC &&
           p->insts.at[inst].flags & DH_INST_LIBRARY && !t->w->strict;
}

/* Whether each instance is passed an object of its own, and whether its handle lies in that. */
static void note_argument(struct dh_symex_step *t, struct dh_abstract_thread *th)
{
    struct dh_symex *w = t->w;
    uint16_t loop = 0;
    int32_t at = INT32_MIN;
    bool first = !w->state->create_count[th - w->threads.at];
    if (t->i->n_operands > 2) {
        dh_value v = dh_operand(w->program, t->i, 2);
        uint8_t a = dh_symex_value_attributes(t, v, &loop);
        struct dh_term given = dh_value_term(&w->state->values, t->f->function, v);
        struct dh_term handle = dh_value_term(&w->state->values, t->f->function, dh_operand(w->program, t->i, 0));
        if (given.expr && given.expr == handle.expr && given.exact && handle.exact)
            at = (int32_t)(handle.offset - given.offset);
        bool new_state =
            w->state->library[t->f->function] != DH_ROLE_PROGRAM; /* std::thread makes one for each thread */
        if (!(a & (DH_ARG_FRESH | DH_ARG_DISTINCT)) && !new_state && !is_moved_state(t, v))
            th->own_argument = false;
    }
    th->loop = first || th->loop == loop ? loop : 0;
    th->handle_offset = first || th->handle_offset == at ? at : INT32_MIN;
}

static void start_thread(struct dh_symex_step *t, size_t thread)
{
    struct dh_symex *w = t->w;
    struct dh_abstract_thread *th = &w->threads.at[thread];
    bool many = t->repeated || t->f->may_repeat || !w->threads.at[t->f->thread].unique;
    if (t->records) {
        note_handle(t, thread);
        note_argument(t, th);
        uint32_t *count = &w->state->create_count[thread];
        *count = *count + (many ? 2 : 1) > 2 ? 2 : *count + (many ? 2 : 1);
        th->creators |= (dh_thread_set)1 << t->f->thread;
        th->joined_at_start &= w->state->second_pass ? t->s->joined : ~(dh_thread_set)0;
        th->joined_at_start_heuristic &=
            w->state->second_pass ? t->s->joined | t->s->joined_heuristic : ~(dh_thread_set)0;
        dh_vec_push(&w->state->queue, (uint32_t)thread);
    }
    t->s->started |= (dh_thread_set)1 << thread;
    t->s->joined &= ~((dh_thread_set)1 << thread);
    t->s->joined_heuristic &= ~((dh_thread_set)1 << thread);
}

/* The handle lies in the element that the thread was passed: the thread no longer accesses it. */
static void join_element(struct dh_symex_step *t, struct dh_expr handle)
{
    uint32_t kind = t->w->state->values.exprs.at[handle.a].kind;
    dh_thread_set by = 0;
    for (size_t n = 0; n < t->w->threads.n; n++)
        if (t->w->threads.at[n].handle_offset == handle.offset && t->w->threads.at[n].own_argument)
            by |= (dh_thread_set)1 << n;
    if (kind == DH_EXPR_INDEX || kind == DH_EXPR_PARAM)
        dh_state_join_element(t->s, handle.a, by);
}

/* Applies what was proven of joins at this instruction beforehand. */
void dh_symex_step_joins(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    for (size_t n = 0; n < w->state->joins.points.n && w->state->second_pass; n++) {
        const struct dh_joined_point *p = &w->state->joins.points.at[n];
        if (p->inst != t->inst || (t->f->may_repeat && !p->contained) || !dh_symex_is_stable(w, t->f, p->handle))
            continue;
        t->s->joined |= dh_symex_threads_of(w, p->create);
        t->thrown.joined |= p->any_way ? dh_symex_threads_of(w, p->create) : 0;
    }
    const struct dh_heuristic_joins *e = &w->state->ends;
    for (uint32_t n = e->first[t->f->function]; n < e->first[t->f->function + 1]; n++)
        if (e->all.at[n].inst == t->inst)
            t->s->joined_heuristic |= dh_symex_threads_of(w, e->all.at[n].create);
}

static void join_thread(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    struct dh_value_numbering *x = &w->state->values;
    struct dh_term handle = dh_value_term(x, t->f->function, dh_operand(w->program, t->i, 0));
    if (!handle.expr || x->exprs.at[handle.expr].kind != DH_EXPR_LOAD || t->i->flags & DH_INST_TIMED ||
        !w->state->second_pass || !dh_is_register(dh_operand(w->program, t->i, 0)))
        return;
    uint32_t reg = dh_operand(w->program, t->i, 0), inst = dh_symex_definitions(w, t->f->function)[reg];
    while (inst != DH_NONE && w->program->insts.at[inst].op == DH_I_COPY) {
        reg = dh_operand(w->program, &w->program->insts.at[inst], 0);
        inst = dh_is_register(reg) ? dh_symex_definitions(w, t->f->function)[reg] : DH_NONE;
    }
    if (inst == DH_NONE || w->program->insts.at[inst].op != DH_I_LOAD)
        return;
    join_element(t, x->exprs.at[handle.expr]);
    struct dh_symex_lock from = dh_symex_lock_of_operand(w, t->f, &w->program->insts.at[inst], 0, 0);
    for (size_t n = 0; n < w->threads.n && from.node != DH_NO_NODE && !from.index; n++) {
        struct dh_heap_cell at = w->state->handles[n];
        if (w->threads.at[n].unique && at.node == from.node && at.offset == from.offset &&
            dh_symex_is_unique(w, at.node))
            t->s->joined |= (dh_thread_set)1 << n;
    }
}

static void step_join(struct dh_symex_step *t)
{
    dh_thread_set before = t->s->joined & t->s->joined_heuristic;
    join_thread(t);
    dh_symex_step_joins(t);
    dh_thread_set now = (t->s->joined | t->s->joined_heuristic) & ~before;
    if (t->records && t->s->n_locks && now && !(t->i->flags & DH_INST_TIMED))
        dh_symex_add_join_event(t->w, t->f, t->s, t->i, now);
}

void dh_symex_step_thread(struct dh_symex_step *t)
{
    struct dh_symex *w = t->w;
    switch (t->i->op) {
    case DH_I_CREATE:
        if (t->records)
            dh_symex_access(t, 0, DH_SYMEX_WRITE, DH_SYMEX_LIBRARY);
        /* fall through */
    case DH_I_REGISTER:
        for (size_t n = 0; n < w->threads.n; n++)
            if (w->threads.at[n].inst == t->inst)
                start_thread(t, n);
        break;
    case DH_I_JOIN:
        step_join(t);
        break;
    case DH_I_EXIT_THREAD:
        t->s->reached = false;
        break;
    default:
        break;
    }
}
