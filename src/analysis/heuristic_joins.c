#include "analysis/heuristic_joins.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { DEEDS_MAX = 256 };

/* A start or join in a function, or in a callee of it. */
struct op {
    uint32_t origin;        /* the create or join */
    uint32_t inst, block;   /* in this function */
    bool paired;            /* another operation of this function has the same handle */
    struct dh_heap_cell at; /* where the handle is kept, among the objects of this function; DH_NO_CELL: lost */
    uint32_t param;         /* join: the handle is this parameter, DH_NONE: it is not */
    bool picked;            /* the handle is an element with a variable index */
};

struct ops {
    DH_VEC(struct op) starts, joins;
};

/* A caller found that a join is one of these threads. */
struct match {
    uint32_t join, create, call; /* instructions; call: of the caller */
};

struct search {
    struct dh_heuristic_joins *e;
    struct dh_points_to *points_to;
    const struct dh_program *p;
    struct ops *of; /* by function */
    DH_VEC(struct match) matches;
};

/* ---- where a handle is kept ---- */

static const struct dh_inst *definition(const struct dh_program *p, uint32_t function, uint32_t reg)
{
    const struct dh_function *f = &p->functions.at[function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++)
            if (p->insts.at[i].result == reg)
                return &p->insts.at[i];
    return NULL;
}

static bool is_picked(const struct search *s, uint32_t function, dh_value address)
{
    for (int depth = 0; depth < 16 && dh_is_register(address); depth++) {
        const struct dh_inst *i = definition(s->p, function, address);
        if (!i || (i->op != DH_I_OFFSET && i->op != DH_I_COPY && i->op != DH_I_INDEX))
            return i && i->op == DH_I_PHI;
        if (i->op == DH_I_INDEX && dh_is_register(dh_operand(s->p, i, 1)))
            return true;
        address = dh_operand(s->p, i, 0);
    }
    return false;
}

/* A handle's value: from where it was loaded, or the parameter that it is. */
static void trace_value(struct search *s, uint32_t function, dh_value v, struct op *d)
{
    const struct dh_inst *i = NULL;
    uint32_t n_params = s->p->functions.at[function].n_params;
    d->at = DH_NO_CELL;
    d->param = DH_NONE;
    for (int depth = 0; depth < 16 && dh_is_register(v) && v >= n_params; depth++) {
        i = definition(s->p, function, v);
        if (!i || i->op != DH_I_COPY)
            break;
        v = dh_operand(s->p, i, 0);
    }
    if (dh_is_register(v) && v < n_params)
        d->param = v;
    else if (dh_is_register(v) && i && i->op == DH_I_LOAD) {
        d->at = dh_points_to_value(s->points_to, function, dh_operand(s->p, i, 0));
        d->picked = is_picked(s, function, dh_operand(s->p, i, 0));
    }
}

/* The callee's object as one of the caller: from parameters to arguments, edge by edge. */
static struct dh_heap_cell outwards(struct search *s, struct dh_heap_cell c, uint32_t callee, uint32_t caller,
                                    uint32_t call)
{
    struct dh_heap_graph *g = &s->points_to->graph;
    const struct dh_inst *i = &s->p->insts.at[call];
    DH_VEC(struct dh_heap_cell_pair) todo = {0};
    struct dh_heap_cell found = DH_NO_CELL;
    c = dh_heap_graph_find(g, c);
    if (c.node == DH_NO_NODE || g->nodes.at[c.node].flags & DH_NODE_GLOBAL)
        return c;
    dh_heap_graph_begin_clone(g);
    for (uint32_t n = 0; n < s->p->functions.at[callee].n_params && n + 1 < i->n_operands; n++)
        dh_vec_push(&todo,
                    ((struct dh_heap_cell_pair){dh_points_to_value(s->points_to, callee, n),
                                                dh_points_to_value(s->points_to, caller, dh_operand(s->p, i, n + 1))}));
    if (i->result != DH_NONE)
        dh_vec_push(&todo, ((struct dh_heap_cell_pair){s->points_to->returns[callee],
                                                       dh_points_to_value(s->points_to, caller, i->result)}));
    while (todo.n && found.node == DH_NO_NODE) {
        struct dh_heap_cell theirs = dh_heap_graph_find(g, todo.at[--todo.n].a),
                            mine = dh_heap_graph_find(g, todo.at[todo.n].b);
        if (theirs.node == DH_NO_NODE || mine.node == DH_NO_NODE || g->nodes.at[theirs.node].mark == g->mark)
            continue;
        struct dh_heap_node *node = &g->nodes.at[theirs.node];
        node->mark = g->mark;
        if (theirs.node == c.node)
            found = dh_heap_graph_find(g, dh_heap_cell_at(mine, c.offset - theirs.offset));
        for (unsigned k = 0; k < node->n_edges; k++)
            dh_vec_push(&todo,
                        ((struct dh_heap_cell_pair){
                            node->edges[k].to, dh_heap_graph_find_pointee(
                                                   g, dh_heap_cell_at(mine, node->edges[k].offset - theirs.offset))}));
    }
    dh_vec_release(&todo);
    return found;
}

/* In a caller: what the function's parameters point to. */
static bool is_handed_in(struct search *s, uint32_t function, const struct op *d)
{
    struct dh_heap_graph *g = &s->points_to->graph;
    DH_VEC(uint32_t) todo = {0};
    bool found = d->param != DH_NONE;
    dh_heap_graph_begin_clone(g);
    for (uint32_t n = 0; n < s->p->functions.at[function].n_params && d->at.node != DH_NO_NODE; n++)
        dh_vec_push(&todo, dh_points_to_value(s->points_to, function, n).node);
    while (todo.n && !found) {
        uint32_t at = dh_heap_graph_find(g, (struct dh_heap_cell){todo.at[--todo.n], 0}).node;
        if (at == DH_NO_NODE || g->nodes.at[at].mark == g->mark || g->nodes.at[at].flags & DH_NODE_GLOBAL)
            continue;
        g->nodes.at[at].mark = g->mark;
        found = at == d->at.node;
        for (unsigned k = 0; k < g->nodes.at[at].n_edges; k++)
            dh_vec_push(&todo, g->nodes.at[at].edges[k].to.node);
    }
    dh_vec_release(&todo);
    return found;
}

static bool same_place(struct search *s, const struct op *a, const struct op *b)
{
    struct dh_heap_cell x = dh_points_to_fold_cell(s->points_to, a->at),
                        y = dh_points_to_fold_cell(s->points_to, b->at);
    if (x.node == DH_NO_NODE || x.node != y.node)
        return false;
    if (x.offset == y.offset || s->points_to->graph.nodes.at[x.node].flags & DH_NODE_COLLAPSED)
        return true;
    /* Elements of an array of handles are one location. */
    const struct dh_heap_node *n = &s->points_to->graph.nodes.at[x.node];
    for (unsigned k = 0; k < n->n_folds; k++)
        if ((x.offset - y.offset) % n->folds[k].stride == 0)
            return true;
    return false;
}

/* ---- what a function does with threads ---- */

static bool is_known(const struct op *all, size_t n, const struct op *d)
{
    for (size_t k = 0; k < n; k++)
        if (all[k].origin == d->origin && all[k].inst == d->inst && all[k].at.node == d->at.node &&
            all[k].at.offset == d->at.offset) /* one call may store it in either of two locations: vectors grow */
            return true;
    return n >= DEEDS_MAX;
}

static void note_inst(struct search *s, uint32_t function, uint32_t inst, uint32_t block)
{
    const struct dh_inst *i = &s->p->insts.at[inst];
    struct op d = {.origin = inst, .inst = inst, .block = block, .param = DH_NONE};
    if (i->op == DH_I_CREATE) {
        d.at = dh_points_to_value(s->points_to, function, dh_operand(s->p, i, 0));
        d.picked = is_picked(s, function, dh_operand(s->p, i, 0));
        dh_vec_push(&s->of[function].starts, d);
    } else if (i->op == DH_I_JOIN && !(i->flags & DH_INST_TIMED)) {
        trace_value(s, function, dh_operand(s->p, i, 0), &d);
        dh_vec_push(&s->of[function].joins, d);
    }
}

/* An operation of a callee as one of the caller; false: the caller knows nothing about it. */
static bool told_here(struct search *s, struct op *d, uint32_t callee, uint32_t caller, uint32_t call)
{
    const struct dh_inst *i = &s->p->insts.at[call];
    bool local = d->at.node != DH_NO_NODE;
    if (d->param != DH_NONE) {
        if (d->param + 1 < i->n_operands)
            trace_value(s, caller, dh_operand(s->p, i, d->param + 1), d);
    } else {
        d->at = outwards(s, d->at, callee, caller, call);
    }
    d->inst = call;
    d->paired = false;
    return !local || d->at.node != DH_NO_NODE;
}

static void note_call(struct search *s, uint32_t function, uint32_t inst, uint32_t block)
{
    struct ops *mine = &s->of[function];
    const struct dh_call_graph *c = &s->points_to->calls;
    for (uint32_t it = dh_call_graph_first(c, inst), callee; dh_call_graph_next(c, inst, &it, &callee);) {
        const struct ops *theirs = &s->of[callee];
        for (size_t n = 0; callee != function && n < theirs->starts.n; n++) {
            struct op d = theirs->starts.at[n];
            told_here(s, &d, callee, function, inst);
            d.block = block;
            if (!is_known(mine->starts.at, mine->starts.n, &d))
                dh_vec_push(&mine->starts, d);
        }
        for (size_t n = 0; callee != function && n < theirs->joins.n; n++) {
            struct op d = theirs->joins.at[n];
            /* No caller keeps handles in an object of the callee's own. */
            bool ours = told_here(s, &d, callee, function, inst);
            d.block = block;
            if (ours && !is_known(mine->joins.at, mine->joins.n, &d))
                dh_vec_push(&mine->joins, d);
        }
    }
}

/* ---- pairs ---- */

static void pair(struct search *s, const struct op *start, const struct op *join)
{
    struct dh_heuristic_join e = {join->inst, join->block, start->origin, start->block};
    if (start->inst != join->inst)
        dh_vec_push(&s->e->all, e);
    if (start->inst != join->inst && join->inst != join->origin)
        dh_vec_push(&s->matches, ((struct match){join->origin, start->origin, join->inst}));
}

static bool lies_between(const struct op *a, const struct op *d, const struct op *b)
{
    return a->block == d->block && d->block == b->block && a->inst < d->inst && d->inst < b->inst;
}

/* The next start overwrites the handle, with no join before that: this thread cannot be joined. */
static bool is_overwritten(struct search *s, const struct ops *mine, const struct op *start)
{
    struct dh_heap_cell x = dh_points_to_fold_cell(s->points_to, start->at);
    const struct dh_heap_node *n = x.node == DH_NO_NODE ? NULL : &s->points_to->graph.nodes.at[x.node];
    if (!n || n->n_folds || n->flags & DH_NODE_COLLAPSED)
        return false;
    for (size_t a = 0; a < mine->starts.n; a++) {
        const struct op *next = &mine->starts.at[a];
        struct dh_heap_cell y = dh_points_to_fold_cell(s->points_to, next->at);
        bool joined = false;
        if (next->block != start->block || next->inst <= start->inst || y.node != x.node || y.offset != x.offset)
            continue;
        for (size_t b = 0; b < mine->joins.n; b++)
            joined |= lies_between(start, &mine->joins.at[b], next);
        if (!joined)
            return true;
    }
    return false;
}

/* Threads that were started into one element after the other are joined by name, `join(all[0]); join(all[1])`. */
static bool is_by_name(struct search *s, const struct op *start, const struct op *join)
{
    uint32_t node = dh_points_to_fold_cell(s->points_to, start->at).node;
    return start->picked && start->inst == start->origin && !join->picked && join->inst == join->origin &&
           node != DH_NO_NODE && dh_points_to_fold_cell(s->points_to, join->at).node == node;
}

/* Only after the last of these joins all of them have ended. */
static bool is_last_by_name(struct search *s, const struct ops *mine, const struct op *start, const struct op *join)
{
    for (size_t b = 0; b < mine->joins.n; b++)
        if (mine->joins.at[b].inst > join->inst && is_by_name(s, start, &mine->joins.at[b]))
            return false;
    return true;
}

static void match_one(struct search *s, struct ops *mine, struct op *start, struct op *join)
{
    bool by_name = is_by_name(s, start, join);
    if (!by_name && !same_place(s, start, join))
        return;
    start->paired = join->paired = true;
    if (!by_name || is_last_by_name(s, mine, start, join))
        pair(s, start, join);
}

static void match_exactly(struct search *s, struct ops *mine)
{
    for (size_t a = 0; a < mine->starts.n; a++) {
        if (is_overwritten(s, mine, &mine->starts.at[a])) {
            mine->starts.at[a].paired = true;
            continue;
        }
        for (size_t b = 0; b < mine->joins.n; b++)
            match_one(s, mine, &mine->starts.at[a], &mine->joins.at[b]);
    }
}

static bool is_global(const struct search *s, const struct op *d)
{
    return d->at.node != DH_NO_NODE && s->points_to->graph.nodes.at[d->at.node].flags & DH_NODE_GLOBAL;
}

/* Handles that were moved, or joined where no store of a handle is known. */
static void match_rest(struct search *s, uint32_t function)
{
    struct ops *mine = &s->of[function];
    for (size_t a = 0; a < mine->starts.n; a++) {
        const struct op *start = &mine->starts.at[a];
        for (size_t b = 0; b < mine->joins.n && !start->paired && !is_handed_in(s, function, start); b++) {
            const struct op *join = &mine->joins.at[b];
            if (!join->paired && !is_handed_in(s, function, join) && !(is_global(s, start) && is_global(s, join)))
                pair(s, start, join);
        }
    }
}

static void do_function(struct search *s, uint32_t function)
{
    const struct dh_function *f = &s->p->functions.at[function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = s->p->blocks.at[b].inst; i < s->p->blocks.at[b].inst + s->p->blocks.at[b].n_insts; i++) {
            if (s->p->insts.at[i].op == DH_I_CALL)
                note_call(s, function, i, b - f->block);
            else
                note_inst(s, function, i, b - f->block);
        }
    match_exactly(s, &s->of[function]);
    match_rest(s, function);
}

/* ---- functions that only join ---- */

static bool is_matched(const struct search *s, uint32_t call, uint32_t join, uint32_t create)
{
    for (size_t n = 0; n < s->matches.n; n++) {
        const struct match *m = &s->matches.at[n];
        if (m->call == call && m->join == join && m->create == create)
            return true;
    }
    return false;
}

/* All callers of the joining function join these threads: so they have ended inside of it, too, as in a destructor
 * after its joins. */
static void end_inside(struct search *s)
{
    enum { MOST = 512 };
    for (size_t n = 0; n < s->matches.n && s->matches.n <= MOST; n++) {
        const struct match *m = &s->matches.at[n];
        uint32_t block = dh_program_block_of(s->p, m->join);
        bool always = true;
        for (size_t k = 0; k < s->matches.n && always; k++)
            always = s->matches.at[k].join != m->join || is_matched(s, s->matches.at[k].call, m->join, m->create);
        if (always)
            dh_vec_push(&s->e->all, ((struct dh_heuristic_join){
                                        m->join, block - s->p->functions.at[s->p->blocks.at[block].function].block,
                                        m->create, DH_NONE}));
    }
}

static const struct dh_program *program_of_ends;
static uint32_t function_of(const struct dh_heuristic_join *e)
{
    return program_of_ends->blocks.at[dh_program_block_of(program_of_ends, e->inst)].function;
}

static int by_function(const void *a, const void *b)
{
    const struct dh_heuristic_join *x = a, *y = b;
    uint32_t f = function_of(x), g = function_of(y);
    if (f != g)
        return f < g ? -1 : 1;
    return x->inst != y->inst ? (x->inst < y->inst ? -1 : 1) : (x->create > y->create) - (x->create < y->create);
}

static void sort(struct search *s)
{
    struct dh_heuristic_joins *e = s->e;
    size_t at = 0;
    program_of_ends = s->p;
    if (e->all.n)
        qsort(e->all.at, e->all.n, sizeof *e->all.at, by_function);
    e->first = dh_xcalloc(s->p->functions.n + 1, sizeof *e->first);
    for (uint32_t f = 0; f < s->p->functions.n; f++) {
        e->first[f] = (uint32_t)at;
        while (at < e->all.n && function_of(&e->all.at[at]) == f)
            at++;
    }
    e->first[s->p->functions.n] = (uint32_t)at;
}

void dh_heuristic_joins_find(struct dh_heuristic_joins *e, struct dh_points_to *points_to)
{
    struct search s = {.e = e, .points_to = points_to, .p = points_to->program};
    s.of = dh_xcalloc(s.p->functions.n, sizeof *s.of);
    for (size_t n = 0; n < s.p->functions.n; n++)
        do_function(&s, points_to->calls.order[n]);
    end_inside(&s);
    sort(&s);
    dh_vec_release(&s.matches);
    for (size_t n = 0; n < s.p->functions.n; n++) {
        dh_vec_release(&s.of[n].starts);
        dh_vec_release(&s.of[n].joins);
    }
    free(s.of);
}

void dh_heuristic_joins_release(struct dh_heuristic_joins *e)
{
    dh_vec_release(&e->all);
    free(e->first);
}
