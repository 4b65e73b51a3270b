#include "analysis/call_graph.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { MANY_TARGETS = 8 };

void dh_call_graph_init(struct dh_call_graph *c, const struct dh_program *p)
{
    *c = (struct dh_call_graph){.program = p};
    c->head = dh_xcalloc(p->insts.n, sizeof *c->head);
    memset(c->head, 0xff, p->insts.n * sizeof *c->head);
    c->insensitive = dh_xcalloc(p->insts.n, 1);
    c->scc = dh_xcalloc(p->functions.n, sizeof *c->scc);
    c->order = dh_xcalloc(p->functions.n, sizeof *c->order);
    c->scc_first = dh_xcalloc(p->functions.n + 1, sizeof *c->scc_first);
}

void dh_call_graph_release(struct dh_call_graph *c)
{
    free(c->head);
    free(c->insensitive);
    free(c->scc);
    free(c->order);
    free(c->scc_first);
    dh_vec_release(&c->targets);
}

uint32_t dh_inst_callee_operand(const struct dh_inst *i)
{
    switch (i->op) {
    case DH_I_CALL:
    case DH_I_REGISTER:
        return 0;
    case DH_I_CREATE:
        return 1;
    default:
        return DH_NONE;
    }
}

bool dh_call_graph_add_target(struct dh_call_graph *c, uint32_t inst, uint32_t function)
{
    for (uint32_t at = c->head[inst]; at != DH_NONE; at = c->targets.at[at].next)
        if (c->targets.at[at].function == function)
            return false;
    uint32_t id = (uint32_t)c->targets.n;
    dh_vec_push(&c->targets, (struct dh_call_target){function, c->head[inst]});
    c->head[inst] = id;
    return true;
}

#define DIRECT 0x80000000u

uint32_t dh_call_graph_first(const struct dh_call_graph *c, uint32_t inst)
{
    const struct dh_inst *i = &c->program->insts.at[inst];
    uint32_t callee = dh_inst_callee_operand(i);
    if (callee == DH_NONE || callee >= i->n_operands)
        return c->head[inst]; /* callbacks of foreign functions */
    uint32_t f = dh_value_function(c->program, dh_operand(c->program, i, callee));
    return f != DH_NONE ? f | DIRECT : c->head[inst];
}

bool dh_call_graph_next(const struct dh_call_graph *c, uint32_t inst, uint32_t *it, uint32_t *function)
{
    (void)inst;
    if (*it == DH_NONE)
        return false;
    if (*it & DIRECT) {
        *function = *it & ~DIRECT;
        *it = DH_NONE;
        return true;
    }
    *function = c->targets.at[*it].function;
    *it = c->targets.at[*it].next;
    return true;
}

/* ---- strongly connected components ---- */

struct edges {
    uint32_t *first; /* by function, one more */
    DH_VEC(uint32_t) to;
};

static bool is_call(const struct dh_inst *i)
{
    return i->op == DH_I_CALL || i->op == DH_I_FOREIGN;
}

static void function_edges(const struct dh_call_graph *c, struct edges *a, const struct dh_function *f,
                           bool with_insensitive)
{
    const struct dh_program *p = c->program;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_basic_block *block = &p->blocks.at[b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++) {
            if (!is_call(&p->insts.at[i]) || (c->insensitive[i] && !with_insensitive))
                continue;
            for (uint32_t it = dh_call_graph_first(c, i), to; dh_call_graph_next(c, i, &it, &to);)
                dh_vec_push(&a->to, to);
        }
    }
}

static void collect_edges(const struct dh_call_graph *c, struct edges *a, bool with_insensitive)
{
    size_t n = c->program->functions.n;
    a->first = dh_xcalloc(n + 1, sizeof *a->first);
    for (size_t f = 0; f < n; f++) {
        a->first[f] = (uint32_t)a->to.n;
        function_edges(c, a, &c->program->functions.at[f], with_insensitive);
    }
    a->first[n] = (uint32_t)a->to.n;
}

/* Tarjan's algorithm, without recursion. */
struct search {
    struct dh_call_graph *c;
    struct edges edges;
    uint32_t *number, *low, *next, *stack, *path;
    uint32_t counter, n_stack, n_path, n_order;
};

static void close_scc(struct search *s, uint32_t f)
{
    struct dh_call_graph *c = s->c;
    uint32_t member;
    c->scc_first[c->n_sccs] = s->n_order;
    do {
        member = s->stack[--s->n_stack];
        c->scc[member] = c->n_sccs;
        s->number[member] = DH_NONE;
        c->order[s->n_order++] = member;
    } while (member != f);
    c->n_sccs++;
}

static void push_function(struct search *s, uint32_t f)
{
    s->number[f] = s->low[f] = ++s->counter;
    s->next[f] = s->edges.first[f];
    s->stack[s->n_stack++] = f;
    s->path[s->n_path++] = f;
}

static void find_sccs_from(struct search *s, uint32_t root)
{
    push_function(s, root);
    while (s->n_path) {
        uint32_t f = s->path[s->n_path - 1];
        if (s->next[f] < s->edges.first[f + 1]) {
            uint32_t to = s->edges.to.at[s->next[f]++];
            if (!s->number[to])
                push_function(s, to);
            else if (s->number[to] != DH_NONE && s->number[to] < s->low[f])
                s->low[f] = s->number[to];
            continue;
        }
        s->n_path--;
        if (s->low[f] == s->number[f])
            close_scc(s, f);
        else if (s->low[f] < s->low[s->path[s->n_path - 1]])
            s->low[s->path[s->n_path - 1]] = s->low[f];
    }
}

static void find_sccs(struct dh_call_graph *c, bool with_insensitive)
{
    size_t n = c->program->functions.n;
    struct search s = {.c = c};
    collect_edges(c, &s.edges, with_insensitive);
    uint32_t *room = dh_xcalloc(5 * n, sizeof *room);
    s.number = room;
    s.low = room + n;
    s.next = room + 2 * n;
    s.stack = room + 3 * n;
    s.path = room + 4 * n;
    c->n_sccs = 0;
    for (size_t f = 0; f < n; f++)
        if (!s.number[f])
            find_sccs_from(&s, (uint32_t)f);
    c->scc_first[c->n_sccs] = s.n_order;
    free(room);
    free(s.edges.first);
    dh_vec_release(&s.edges.to);
}

/* Whether the object is a part of what the caller's first parameter points to. */
static bool is_own_part(const struct dh_program *p, uint32_t function, dh_value v)
{
    const struct dh_function *f = &p->functions.at[function];
    for (int depth = 0; depth < 16 && dh_is_register(v) && v >= f->n_params; depth++) {
        const struct dh_inst *found = NULL;
        for (uint32_t b = f->block; b < f->block + f->n_blocks && !found; b++)
            for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++)
                if (p->insts.at[i].result == v)
                    found = &p->insts.at[i];
        if (!found || (found->op != DH_I_OFFSET && found->op != DH_I_COPY && found->op != DH_I_INDEX))
            return found && found->op == DH_I_PHI;
        v = dh_operand(p, found, 0);
    }
    return v == 0;
}

/* A destructor that destroys an owned object of its own kind (the child of a tree). Followed like a direct call,
 * unification would merge that owner with every other owner of such objects, and with the objects that these lie in. */
static bool destroys_owned(const struct dh_call_graph *c, const struct dh_inst *i, uint32_t function)
{
    const struct dh_program *p = c->program;
    uint32_t to = i->op == DH_I_CALL ? dh_value_function(p, dh_operand(p, i, 0)) : DH_NONE;
    if (to == DH_NONE || i->n_operands < 2 || c->scc[to] != c->scc[function])
        return false;
    const struct dh_function *f = &p->functions.at[to];
    return f->n_blocks && f->flags & DH_FUNCTION_CONSTRUCTION && strchr(dh_program_string(p, f->source), '~') &&
           !is_own_part(p, function, dh_operand(p, i, 1));
}

static void find_insensitive(struct dh_call_graph *c)
{
    const struct dh_program *p = c->program;
    for (size_t b = 0; b < p->blocks.n; b++) {
        const struct dh_basic_block *block = &p->blocks.at[b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++) {
            if (is_call(&p->insts.at[i]) && destroys_owned(c, &p->insts.at[i], block->function))
                c->insensitive[i] = 1;
            if (!is_call(&p->insts.at[i]) || c->head[i] == DH_NONE)
                continue;
            unsigned count = 0;
            for (uint32_t it = c->head[i], to; dh_call_graph_next(c, i, &it, &to); count++)
                if (c->scc[to] == c->scc[block->function])
                    c->insensitive[i] = 1;
            if (count > MANY_TARGETS)
                c->insensitive[i] = 1;
        }
    }
}

void dh_call_graph_order(struct dh_call_graph *c)
{
    find_sccs(c, true);
    find_insensitive(c);
    find_sccs(c, false);
}
