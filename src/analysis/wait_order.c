#include "analysis/wait_order.h"

#include "analysis/races.h"
#include "analysis/symex_internal.h"

#include <stdlib.h>

enum {
    PLACES = 16,
    FOUND = 12,
    DEEPEST = 6,
    MOST_BLOCKS = 800,
    MOST_CONTEXTS = 48,
    MOST_SETS = 64,
    ALL_BLOCKS = 1000000
};

/* One search backwards from an event, through callees that have returned and callers that led here. */
struct history {
    struct dh_wait_order *x;
    const struct dh_heap_cell *places; /* guard variables; NULL: any, and nothing ends the search */
    unsigned n_places;
    uint64_t about;  /* their objects, as dh_guards_object_bit */
    uint32_t stop;   /* an instruction that ends the search, DH_NONE */
    bool only_tests; /* what the thread sets itself is skipped */
    struct dh_guard_access found[FOUND];
    unsigned n;
    bool start;  /* some path comes from the thread's start, or from before the object was known */
    bool over;   /* a limit was met */
    bool looped; /* what was found is in a loop, the event is not */
    unsigned blocks, depth;
    uint32_t levels;
    struct dh_heap_cell tests[PLACES]; /* found where `places` is NULL */
    unsigned n_guards;
};

/* ---- each block once ---- */

static bool is_new(struct history *h, uint32_t level, uint32_t block)
{
    if (dh_u64_set_has(&h->x->seen, dh_pair_key(level, block)))
        return false;
    if (++h->blocks > MOST_BLOCKS || !h->x->budget) {
        h->over = true;
        return false;
    }
    h->x->budget--;
    dh_u64_set_append(&h->x->seen, dh_pair_key(level, block));
    return true;
}

/* ---- guards found backwards ---- */

static bool same_cell(struct dh_heap_cell a, struct dh_heap_cell b)
{
    return a.node == b.node && a.offset == b.offset;
}

static bool is_asked(const struct history *h, const struct dh_guard_access *access)
{
    for (unsigned n = 0; n < h->n_places; n++)
        if (same_cell(access->at, h->places[n]))
            return true;
    return false;
}

/* In collapsed objects offsets mean nothing. */
static void note_guard(struct history *h, struct dh_heap_cell at)
{
    if (h->x->guards.symex->points_to->graph.nodes.at[at.node].flags & DH_NODE_COLLAPSED &&
        at.offset != DH_GUARD_WHOLE_OBJECT)
        return;
    for (unsigned n = 0; n < h->n_guards; n++)
        if (same_cell(h->tests[n], at))
            return;
    if (h->n_guards < PLACES)
        h->tests[h->n_guards++] = at;
}

/* True: the path ends here. */
static bool note_access(struct history *h, const struct dh_guard_access *access)
{
    bool test = access->kind == DH_GUARD_TEST || access->taking;
    if (!h->places) {
        if (test || access->library || dh_guards_is_tested(&h->x->guards, access->at))
            note_guard(h, access->at);
        return false;
    }
    if (!is_asked(h, access) || (h->only_tests && !test))
        return false;
    for (unsigned n = 0; n < h->n; n++)
        if (h->found[n].inst == access->inst && h->found[n].kind == access->kind &&
            h->found[n].relation == access->relation && h->found[n].number == access->number)
            return true;
    if (h->n == FOUND)
        h->over = true;
    else
        h->found[h->n++] = *access;
    return true;
}

/* ---- backwards ---- */

static bool back_from_end(struct history *h, const struct dh_call_path *at);

/* True: every path through the call accesses such a guard. */
static bool call_ends_path(struct history *h, const struct dh_call_path *at, uint32_t call)
{
    struct dh_guards *guards = &h->x->guards;
    const struct dh_call_graph *calls = &guards->symex->points_to->calls;
    bool through = false, any = false;
    for (uint32_t it = dh_call_graph_first(calls, call), to; dh_call_graph_next(calls, call, &it, &to);) {
        any = true;
        unsigned kept_paths = guards->n_paths;
        bool involved = guards->involved[to] && (!h->places || guards->about[to] & h->about);
        const struct dh_call_path *in =
            involved && h->depth < DEEPEST ? dh_guards_enter_callee(guards, at, call, to) : NULL;
        h->depth++;
        through |= !in || back_from_end(h, in);
        h->depth--;
        guards->n_paths = kept_paths;
    }
    return any && !through;
}

static bool inst_ends_path(struct history *h, const struct dh_call_path *at, uint32_t inst)
{
    struct dh_guards *guards = &h->x->guards;
    struct dh_guard_access access;
    if (guards->symex->program->insts.at[inst].op == DH_I_CALL)
        return call_ends_path(h, at, inst);
    return (dh_guards_set_by(guards, at, inst, &access) || dh_guards_awaited_by(guards, at, inst, &access)) &&
           note_access(h, &access);
}

/* `root`: the register that holds the object; before it was assigned, that was another one. */
static bool block_ends_path(struct history *h, const struct dh_call_path *at, uint32_t block, uint32_t end,
                            uint32_t root)
{
    const struct dh_program *p = h->x->guards.symex->program;
    for (uint32_t i = end; i > p->blocks.at[block].inst; i--) {
        if (root != DH_NONE && p->insts.at[i - 1].result == root) {
            h->start = true;
            return true;
        }
        if (i - 1 == h->stop || inst_ends_path(h, at, i - 1))
            return true;
    }
    return false;
}

static void push_preds(struct history *h, const struct dh_call_path *at, uint32_t block)
{
    const struct dh_program *p = h->x->guards.symex->program;
    const struct dh_basic_block *b = &p->blocks.at[block];
    for (uint32_t n = 0; n < b->n_preds; n++) {
        uint32_t pred = dh_predecessors(p, b)[n];
        struct dh_guard_access accesses[DH_GUARDS_PER_EDGE];
        unsigned found = dh_guards_on_edge(&h->x->guards, at, pred, block, accesses);
        bool ends = false;
        for (unsigned k = 0; k < found; k++)
            ends |= note_access(h, &accesses[k]);
        if (!ends)
            dh_vec_push(&h->x->todo, pred);
    }
}

/* Visits the blocks that are left of this level; true: some path comes from the function's entry. */
static bool finish_level(struct history *h, const struct dh_call_path *at, size_t base, uint32_t level, uint32_t root)
{
    const struct dh_program *p = h->x->guards.symex->program;
    uint32_t entry = p->functions.at[at->function].block;
    bool reached = false;
    while (h->x->todo.n > base) {
        uint32_t block = h->x->todo.at[--h->x->todo.n];
        if (h->over || !is_new(h, level, block))
            continue;
        const struct dh_basic_block *b = &p->blocks.at[block];
        if (block_ends_path(h, at, block, b->inst + b->n_insts, root))
            continue;
        reached |= block == entry;
        push_preds(h, at, block);
    }
    return reached;
}

static bool back_from_end(struct history *h, const struct dh_call_path *at)
{
    const struct dh_program *p = h->x->guards.symex->program;
    const struct dh_function *f = &p->functions.at[at->function];
    size_t base = h->x->todo.n;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        if (p->insts.at[p->blocks.at[b].inst + p->blocks.at[b].n_insts - 1].op == DH_I_RETURN)
            dh_vec_push(&h->x->todo, b);
    return finish_level(h, at, base, ++h->levels, DH_NONE);
}

static void note_loop(struct history *h, uint32_t inst, unsigned before)
{
    struct dh_symex *w = h->x->guards.symex;
    for (unsigned n = before; n < h->n; n++) {
        uint32_t block = dh_program_block_of(w->program, h->found[n].inst);
        uint32_t function = w->program->blocks.at[block].function;
        uint32_t mine = dh_program_block_of(w->program, inst);
        const struct dh_cfg *flow = dh_symex_cfg(w, function);
        uint32_t loop = flow->loop.at[block - flow->first];
        bool same = w->program->blocks.at[mine].function == function;
        h->looped |= loop != DH_NONE && same && !dh_cfg_in_loop(flow, loop, mine - flow->first);
    }
}

static bool back_from(struct history *h, const struct dh_call_path *at, uint32_t inst, uint32_t root)
{
    const struct dh_program *p = h->x->guards.symex->program;
    uint32_t block = dh_program_block_of(p, inst);
    size_t base = h->x->todo.n;
    unsigned before = h->n;
    if (block_ends_path(h, at, block, inst, root))
        return false;
    push_preds(h, at, block);
    bool reached = finish_level(h, at, base, ++h->levels, root);
    note_loop(h, inst, before);
    return reached || block == p->functions.at[at->function].block;
}

/* ---- the object at work ---- */

/* The register or parameter that holds the object in the function. */
static uint32_t root_of(struct dh_symex *w, uint32_t function, dh_value v)
{
    const struct dh_value_numbering *x = &w->state->values;
    struct dh_term t = dh_value_term(&w->state->values, function, v);
    while (t.expr && x->exprs.at[t.expr].kind == DH_EXPR_INDEX)
        t.expr = x->exprs.at[t.expr].a;
    struct dh_expr e = x->exprs.at[t.expr];
    if (e.kind == DH_EXPR_PARAM)
        return e.a;
    if ((e.kind == DH_EXPR_REGISTER || e.kind == DH_EXPR_OBJECT) && e.a == function)
        return e.b;
    return e.kind == DH_EXPR_LOAD && e.c == function && e.b ? e.b - 1 : DH_NONE;
}

struct caller_step {
    uint32_t context, inst, root;
};

static void push_caller(struct history *h, struct caller_step *queue, unsigned *n, uint32_t caller, uint32_t call,
                        uint32_t param)
{
    struct dh_symex *w = h->x->guards.symex;
    uint32_t root = DH_NONE;
    for (unsigned k = 0; k < *n; k++)
        if (queue[k].context == caller && queue[k].inst == call)
            return;
    if (*n == MOST_CONTEXTS || caller == DH_NONE) {
        h->over = true;
        return;
    }
    const struct dh_inst *i = &w->program->insts.at[call];
    if (param != DH_NONE && i->op == DH_I_CALL && param + 1 < i->n_operands)
        root = root_of(w, w->contexts.at[caller].function, dh_operand(w->program, i, param + 1));
    queue[(*n)++] = (struct caller_step){caller, call, root};
}

static void push_callers(struct history *h, struct caller_step *queue, unsigned *n, const struct caller_step *at)
{
    struct dh_symex *w = h->x->guards.symex;
    const struct dh_context *c = &w->contexts.at[at->context];
    uint32_t param = at->root < w->program->functions.at[c->function].n_params ? at->root : DH_NONE;
    if (c->caller == DH_NONE || c->call == DH_NONE)
        h->start = true;
    else
        push_caller(h, queue, n, c->caller, c->call, param);
    uint32_t more = w->state->callers_of.n > at->context ? w->state->callers_of.at[at->context] : 0;
    for (; more; more = w->state->callers.at[more - 1].next)
        push_caller(h, queue, n, w->state->callers.at[more - 1].caller, w->state->callers.at[more - 1].call, param);
}

static dh_value address_of(const struct dh_symex *w, const struct dh_symex_event *e)
{
    const struct dh_inst *i = &w->program->insts.at[e->inst];
    uint32_t n = i->op == DH_I_MEMCPY && e->kind == DH_SYMEX_READ ? 1 : 0;
    return n < i->n_operands ? dh_operand(w->program, i, n) : DH_NONE;
}

/* The last accesses to these guards before the event, on every path to it. */
static void search_back(struct history *h, const struct dh_symex_event *e)
{
    struct dh_symex *w = h->x->guards.symex;
    struct caller_step queue[MOST_CONTEXTS];
    unsigned n = 0;
    bool many = false;
    for (unsigned k = 0; k < h->n_places; k++) {
        many |= !dh_symex_is_unique(w, h->places[k].node);
        h->about |= dh_guards_object_bit(h->places[k].node);
    }
    uint32_t root = many ? root_of(w, w->contexts.at[e->context].function, address_of(w, e)) : DH_NONE;
    dh_u64_set_clear(&h->x->seen);
    h->x->todo.n = 0;
    h->x->guards.n_paths = 0;
    queue[n++] = (struct caller_step){e->context, e->inst, root};
    for (unsigned k = 0; k < n && !h->over; k++) {
        struct dh_call_path at = {w->contexts.at[queue[k].context].function, DH_NONE, NULL, queue[k].context};
        if (back_from(h, &at, queue[k].inst, queue[k].root))
            push_callers(h, queue, &n, &queue[k]);
    }
}

static struct history search_from(struct dh_wait_order *x, const struct dh_symex_event *e,
                                  const struct dh_heap_cell *places, unsigned n, bool only_tests)
{
    struct history h = {.x = x, .places = places, .n_places = n, .only_tests = only_tests, .stop = DH_NONE};
    search_back(&h, e);
    return h;
}

/* ---- guards passed before an event ---- */

static bool all_are(const struct history *h, enum dh_guard_access_kind kind)
{
    for (unsigned n = 0; n < h->n; n++)
        if (h->found[n].kind != kind)
            return false;
    return h->n && !h->start && !h->over;
}

/* What holds after it: a semaphore that was awaited was greater than 0. */
static struct dh_guard_access test_of(const struct dh_guard_access *access)
{
    struct dh_guard_access test = *access;
    if (access->taking) {
        test.kind = DH_GUARD_TEST;
        test.relation = DH_CMP_GT;
        test.known = true;
        test.number = 0;
    }
    return test;
}

static bool same_test(const struct history *h)
{
    struct dh_guard_access test = h->n ? test_of(&h->found[0]) : (struct dh_guard_access){0};
    for (unsigned n = 1; n < h->n; n++) {
        struct dh_guard_access other = test_of(&h->found[n]);
        if (other.relation != test.relation || other.known != test.known || other.number != test.number)
            return false;
    }
    return h->n && !h->start && !h->over;
}

static bool one_change(const struct history *h)
{
    for (unsigned n = 1; n < h->n; n++)
        if (h->found[n].change != h->found[0].change || h->found[n].number != h->found[0].number)
            return false;
    return true;
}

static void find_passed(struct dh_wait_order *x, const struct dh_symex_event *e, struct dh_heap_cell at)
{
    struct dh_passed_guard passed = {.at = at};
    struct history last = search_from(x, e, &at, 1, false);
    if (last.over || !last.n)
        return;
    passed.claimed = all_are(&last, DH_GUARD_SET) && one_change(&last);
    passed.set = last.found[0];
    if (all_are(&last, DH_GUARD_TEST) || passed.claimed) {
        struct history tests = search_from(x, e, &at, 1, true);
        passed.entered = same_test(&tests);
        if (passed.entered)
            passed.test = test_of(&tests.found[0]);
        passed.looped = tests.looped;
    }
    if (passed.entered || passed.claimed)
        dh_vec_push(&x->passed, passed);
}

/* Events of one context between the same guards have passed the same ones. */
static struct dh_passed_guards_key key_of(struct dh_wait_order *x, const struct dh_symex_event *e)
{
    struct dh_symex *w = x->guards.symex;
    uint32_t first = w->program->blocks.at[dh_program_block_of(w->program, e->inst)].inst, inst = e->inst;
    while (inst > first && !dh_guards_involve(&x->guards, inst - 1))
        inst--;
    uint32_t root = root_of(w, w->contexts.at[e->context].function, address_of(w, e));
    return (struct dh_passed_guards_key){e->context, inst, root};
}

static struct dh_passed_guards passed_before(struct dh_wait_order *x, const struct dh_symex_event *e)
{
    struct dh_passed_guards_key key = key_of(x, e);
    uint32_t number = dh_key_map_number(&x->numbers, &key);
    if (number < x->answers.n)
        return x->answers.at[number];
    struct history any = {.x = x, .stop = DH_NONE};
    struct dh_passed_guards passed = {.first = (uint32_t)x->passed.n};
    search_back(&any, e);
    passed.place = (uint32_t)x->places.n;
    passed.n_places = any.n_guards;
    passed.all = !any.over && any.n_guards < PLACES;
    for (unsigned n = 0; n < any.n_guards; n++) {
        dh_vec_push(&x->places, any.tests[n]);
        find_passed(x, e, any.tests[n]);
    }
    passed.n = (uint32_t)x->passed.n - passed.first;
    dh_vec_push(&x->answers, passed);
    return passed;
}

/* The guard was neither set nor tested before the event. */
static bool is_first(struct dh_wait_order *x, const struct dh_symex_event *e, struct dh_heap_cell at)
{
    struct dh_passed_guards passed = passed_before(x, e);
    bool there = !passed.all || at.offset == DH_GUARD_WHOLE_OBJECT;
    for (uint32_t n = 0; n < passed.n_places && !there; n++)
        there = same_cell(x->places.at[passed.place + n], at);
    if (!there)
        return true;
    struct history before = search_from(x, e, &at, 1, false);
    return before.start && !before.n && !before.over;
}

/* ---- which thread satisfies the test ---- */

static bool has_edge(const struct dh_symex *w, uint32_t from, uint32_t to)
{
    const struct dh_heap_node *n = &w->points_to->graph.nodes.at[from];
    for (unsigned k = 0; k < n->n_edges; k++)
        if (dh_heap_graph_find(&w->points_to->graph, n->edges[k].to).node == to)
            return true;
    return false;
}

/* Threads of this kind change the guard in this manner only: each counts what it has done. */
static bool only_changes(struct dh_wait_order *x, uint32_t thread, struct dh_heap_cell at, enum dh_guard_change change)
{
    const struct dh_symex *w = x->guards.symex;
    for (uint32_t n = dh_guards_first_set(&x->guards, at); n < x->guards.n_set; n++) {
        const struct dh_symex_event *set = &w->events.at[x->guards.set[n]];
        struct dh_guard_access accesses[8];
        if (set->node != at.node || set->offset != at.offset)
            break;
        unsigned all = set->thread == thread ? dh_guards_values_set(&x->guards, x->guards.set[n], accesses, 8) : 0;
        for (unsigned k = 0; k < all; k++)
            if (accesses[k].change != change)
                return false;
    }
    return true;
}

/* Where there are many threads of one kind, the guard must belong to this object, or all of them must have counted. */
static bool covers(struct dh_wait_order *x, const struct dh_symex_event *e, const struct dh_passed_guard *passed,
                   enum dh_guard_change change)
{
    const struct dh_symex *w = x->guards.symex;
    if (w->threads.at[e->thread].unique)
        return true;
    if (!dh_symex_is_unique(w, passed->at.node))
        return passed->at.node == e->node || has_edge(w, passed->at.node, e->node) ||
               has_edge(w, e->node, passed->at.node);
    if ((change != DH_GUARD_INCREASED && change != DH_GUARD_DECREASED) ||
        !only_changes(x, e->thread, passed->at, change))
        return false;
    if (passed->looped && change == DH_GUARD_INCREASED)
        return true;
    if (passed->test.relation == DH_CMP_OTHER) /* a library says that all have */
        return true;
    bool zero = passed->test.known && passed->test.number <= 1;
    bool some = passed->test.relation == DH_CMP_NE || (passed->test.relation == DH_CMP_GT && zero) ||
                (passed->test.relation == DH_CMP_GE && zero);
    return !some;
}

/* Test and write are synchronised themselves. */
static bool is_synchronised(struct dh_wait_order *x, const struct dh_passed_guard *passed,
                            const struct dh_symex_event *set)
{
    uint32_t read = x->guards.reads[passed->test.inst];
    if (set->kind == DH_SYMEX_POST || passed->test.relation == DH_CMP_OTHER || set->flags & DH_SYMEX_ATOMIC)
        return passed->test.relation == DH_CMP_OTHER || passed->test.taking;
    return read && x->guards.locked[set->inst] == 1 &&
           dh_conflicts_argue(x->guards.symex, &x->guards.symex->events.at[read - 1], set, false) != DH_ARGUMENT_COUNT;
}

/* How a thread changes the guard so that the test may pass: bits by dh_guard_change. */
static unsigned changes_by(struct dh_wait_order *x, uint32_t thread, const struct dh_passed_guard *passed)
{
    const struct dh_symex *w = x->guards.symex;
    bool whole = passed->at.offset == DH_GUARD_WHOLE_OBJECT;
    unsigned changes = 0, tried = 0;
    for (uint32_t n = dh_guards_first_set(&x->guards, passed->at); n < x->guards.n_set && tried < MOST_SETS; n++) {
        const struct dh_symex_event *set = &w->events.at[x->guards.set[n]];
        struct dh_guard_access accesses[8];
        if (set->node != passed->at.node || (!whole && set->offset != passed->at.offset))
            break;
        if (set->thread != thread || (whole && set->kind != DH_SYMEX_POST))
            continue;
        tried++;
        unsigned all = dh_guards_values_set(&x->guards, x->guards.set[n], accesses, 8), fitting = 0;
        for (unsigned k = 0; k < all; k++)
            fitting |= dh_guard_may_satisfy(&accesses[k], &passed->test) ? 1u << accesses[k].change : 0;
        if (fitting & ~changes && is_synchronised(x, passed, set))
            changes |= fitting;
    }
    return changes;
}

/* The thread of `e` writes what the test waited for. */
static bool satisfies(struct dh_wait_order *x, const struct dh_symex_event *e, uint32_t number)
{
    struct dh_passed_guard *passed = &x->passed.at[number];
    if (!(passed->asked >> e->thread & 1)) {
        unsigned changes = changes_by(x, e->thread, passed);
        passed->asked |= (dh_thread_set)1 << e->thread;
        for (unsigned k = 0; k <= DH_GUARD_CHANGED; k++)
            passed->set_by[k] |= (dh_thread_set)(changes >> k & 1) << e->thread;
    }
    for (unsigned k = 0; k <= DH_GUARD_CHANGED; k++)
        if (passed->set_by[k] >> e->thread & 1 && covers(x, e, passed, (enum dh_guard_change)k))
            return true;
    return false;
}

/* Initial value of a global at this offset. */
static int64_t initial_value(const struct dh_symex *w, uint32_t global, struct dh_heap_cell at)
{
    const struct dh_program *p = w->program;
    const struct dh_global *g = &p->globals.at[global];
    struct dh_heap_cell begin = dh_heap_graph_find(&w->points_to->graph, w->points_to->globals[global]);
    int64_t number;
    for (uint32_t k = g->initial; k < g->initial + g->n_initials; k++)
        if (begin.offset + (int64_t)p->initials.at[k].offset == at.offset &&
            dh_value_int(p, p->initials.at[k].value, &number))
            return number;
    return 0;
}

static bool starts_above_one(const struct dh_symex *w, struct dh_heap_cell at)
{
    const struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t first = g->nodes.at[at.node].origin, o = first;
    for (unsigned n = 0; o != DH_NO_NODE && n < PLACES; n++) {
        if (g->origins.at[o].kind == DH_ORIGIN_GLOBAL && initial_value(w, g->origins.at[o].index, at) > 1)
            return true;
        o = g->origins.at[o].next;
        if (o == first)
            break;
    }
    return false;
}

/* A binary semaphore: nothing but 0 and 1 is ever assigned. */
static bool is_binary(struct dh_wait_order *x, struct dh_heap_cell at)
{
    const struct dh_symex *w = x->guards.symex;
    if (starts_above_one(w, at))
        return false;
    for (uint32_t n = dh_guards_first_set(&x->guards, at); n < x->guards.n_set; n++) {
        const struct dh_symex_event *set = &w->events.at[x->guards.set[n]];
        struct dh_guard_access accesses[8];
        if (set->node != at.node || set->offset != at.offset)
            break;
        unsigned all = dh_guards_values_set(&x->guards, x->guards.set[n], accesses, 8);
        for (unsigned k = 0; k < all; k++)
            if (accesses[k].change == DH_GUARD_CHANGED ||
                (accesses[k].change == DH_GUARD_ASSIGNED && accesses[k].number > 1))
                return false;
    }
    return true;
}

/* ---- rules ---- */

/* The last access to the guard is a test that was passed. */
static bool has_entered(const struct history *h, const struct dh_passed_guard *passed, bool from_start)
{
    for (unsigned n = 0; n < h->n; n++) {
        const struct dh_guard_access *access = &h->found[n];
        bool own = access->kind == DH_GUARD_SET && passed && passed->claimed && access->change == DH_GUARD_DECREASED;
        if (!passed || !same_cell(access->at, passed->at) || (access->kind != DH_GUARD_TEST && !own))
            return false;
    }
    return !h->over && (from_start || !h->start) && (h->n || h->start);
}

/* `b` waits for a guard that a's thread sets only after `a`, and a's thread does not come back before b's thread has
 * set another one. */
static bool is_ordered(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b,
                       uint32_t number)
{
    struct dh_passed_guard copy = x->passed.at[number], *in_b = &copy;
    if (!in_b->entered || !satisfies(x, a, number))
        return false;
    if ((!in_b->claimed || in_b->set.change == DH_GUARD_DECREASED) && is_first(x, a, in_b->at))
        return true;
    struct dh_passed_guards of_a = passed_before(x, a);
    for (uint32_t n = 0; n < of_a.n; n++) {
        struct dh_passed_guard in_a = x->passed.at[of_a.first + n];
        if (!in_a.entered)
            continue;
        if (same_cell(in_a.at, in_b->at)) {
            if (!in_a.claimed && !in_b->claimed && dh_guards_contradict(&in_a.test, &in_b->test))
                return true;
            continue;
        }
        struct dh_heap_cell both[] = {in_a.at, in_b->at};
        struct history ha = search_from(x, a, both, 2, false), hb = search_from(x, b, both, 2, false);
        if (has_entered(&ha, &in_a, true) && has_entered(&hb, in_b, false) && satisfies(x, b, of_a.first + n))
            return true;
    }
    return false;
}

static bool excludes(struct dh_wait_order *x, const struct dh_passed_guard *test, const struct dh_passed_guards *others)
{
    for (uint32_t n = 0; n < others->n; n++) {
        const struct dh_passed_guard *passed = &x->passed.at[others->first + n];
        if (!passed->claimed || !same_cell(passed->at, test->at) || !dh_guard_blocks(&passed->set, &test->test))
            continue;
        if (passed->set.change != DH_GUARD_DECREASED || is_binary(x, passed->at))
            return true;
    }
    return false;
}

/* Mutual exclusion: each has set what fails the other one's test. */
static bool exclude_each_other(struct dh_wait_order *x, const struct dh_passed_guards *a,
                               const struct dh_passed_guards *b)
{
    bool out = false;
    for (uint32_t n = 0; n < a->n && !out; n++)
        out = x->passed.at[a->first + n].entered && excludes(x, &x->passed.at[a->first + n], b);
    if (!out)
        return false;
    for (uint32_t n = 0; n < b->n; n++)
        if (x->passed.at[b->first + n].entered && excludes(x, &x->passed.at[b->first + n], a))
            return true;
    return false;
}

static bool is_ticket(const struct dh_passed_guard *w)
{
    return w->entered && !w->claimed && w->test.relation == DH_CMP_EQ && !w->test.known;
}

/* Ticket lock: both wait for their own number and have not released the next one. */
static bool by_ticket(struct dh_wait_order *x, const struct dh_passed_guards *a, const struct dh_passed_guards *b)
{
    for (uint32_t n = 0; n < a->n; n++)
        for (uint32_t k = 0; k < b->n; k++) {
            const struct dh_passed_guard *one = &x->passed.at[a->first + n], *other = &x->passed.at[b->first + k];
            if (same_cell(one->at, other->at) && is_ticket(one) && is_ticket(other))
                return true;
        }
    return false;
}

bool dh_wait_order_separates(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    struct dh_passed_guards of_a = passed_before(x, a), of_b = passed_before(x, b);
    if (!of_a.n && !of_b.n)
        return false;
    if (exclude_each_other(x, &of_a, &of_b) || by_ticket(x, &of_a, &of_b))
        return true;
    for (uint32_t n = 0; n < of_b.n; n++) {
        if (is_ordered(x, a, b, of_b.first + n))
            return true;
    }
    for (uint32_t n = 0; n < of_a.n; n++) {
        if (is_ordered(x, b, a, of_a.first + n))
            return true;
    }
    return false;
}

static bool follows_transfer(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    struct dh_passed_guards of_a = passed_before(x, a), of_b = passed_before(x, b);
    for (uint32_t n = 0; n < of_b.n; n++)
        for (uint32_t k = 0; k < of_a.n; k++) {
            const struct dh_passed_guard *test = &x->passed.at[of_b.first + n], *own = &x->passed.at[of_a.first + k];
            if (test->entered && own->claimed && same_cell(test->at, own->at) && test->at.node == a->node &&
                !dh_symex_is_unique(x->guards.symex, a->node) && dh_guard_may_satisfy(&own->set, &test->test))
                return true;
        }
    return false;
}

bool dh_wait_order_ends_ownership(struct dh_wait_order *x, const struct dh_symex_event *a,
                                  const struct dh_symex_event *b)
{
    return a->thread != b->thread && (follows_transfer(x, a, b) || follows_transfer(x, b, a));
}

bool dh_wait_order_keeps_turn(struct dh_wait_order *x, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    struct dh_heap_cell places[PLACES];
    struct dh_passed_guards of_a = passed_before(x, a);
    struct history h = {.x = x, .places = places, .stop = a->inst};
    if (a->context != b->context)
        return false;
    for (uint32_t n = 0; n < of_a.n && n < PLACES; n++)
        places[h.n_places++] = x->passed.at[of_a.first + n].at;
    if (a->inst != b->inst)
        search_back(&h, b);
    return !h.n && !h.over && !h.start;
}

/* ---- */

void dh_wait_order_init(struct dh_wait_order *x, struct dh_symex *w)
{
    *x = (struct dh_wait_order){.budget = ALL_BLOCKS, .numbers = DH_KEY_MAP(struct dh_passed_guards_key)};
    dh_guards_init(&x->guards, w);
}

void dh_wait_order_release(struct dh_wait_order *x)
{
    dh_guards_release(&x->guards);
    dh_key_map_release(&x->numbers);
    dh_vec_release(&x->answers);
    dh_u64_set_release(&x->seen);
    dh_vec_release(&x->passed);
    dh_vec_release(&x->places);
    dh_vec_release(&x->todo);
}
