#include "analysis/use_after_free.h"

#include "analysis/thread_escape.h"
#include "base/alloc.h"

#include <stdlib.h>

/* Objects that go, in classes: a node has one by chance, and those of all objects that callers hand in for it. */
typedef uint64_t classes;
enum { CLASSES = 61 };
#define ENDED ((classes)1 << 62)  /* gone with a thread; nobody looks when */
#define KNOWN ((classes)1 << 63)  /* some object of the program is meant */
#define LOADED ((classes)1 << 61) /* pointers to it lie in memory */

struct search {
    struct dh_symex *w;
    const struct dh_program *p;
    classes *of_node;
    classes *entry, *exit; /* by function: what may be gone when it begins, when it is over */
    classes *end;          /* by block */
    classes by_threads;    /* what threads that were started may have freed */
    uint8_t *late;         /* dh_lifetime_hazard, by instruction */
    bool moved, judging;
};

static void add_classes(struct search *s, classes *to, classes more)
{
    s->moved |= more & ~*to;
    *to |= more;
}

/* ---- which objects go ---- */

static bool is_known(const struct dh_heap_node *n)
{
    return n->origin != DH_NO_NODE || n->flags & (DH_NODE_STACK | DH_NODE_HEAP | DH_NODE_EXPOSED);
}

static bool ends_with_thread(const struct search *s, const struct dh_heap_node *n, const uint8_t *ending)
{
    const struct dh_heap_graph *g = &s->w->points_to->graph;
    uint32_t at = n->origin;
    if (at == DH_NO_NODE)
        return n->flags & DH_NODE_STACK;
    do {
        const struct dh_heap_origin *o = &g->origins.at[at];
        if (o->kind == DH_ORIGIN_GLOBAL && s->p->globals.at[o->index].flags & DH_GLOBAL_TLS)
            return true;
        if (o->kind == DH_ORIGIN_SLOT && ending[dh_inst_function(s->p, dh_program_block_of(s->p, o->index))])
            return true;
        at = o->next;
    } while (at != n->origin);
    return false;
}

static void classify(struct search *s, const uint8_t *ending)
{
    struct dh_heap_graph *g = &s->w->points_to->graph;
    uint8_t *confined = dh_find_thread_confined(s->w->points_to);
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const struct dh_heap_node *node = &g->nodes.at[n];
        if (node->parent != n)
            continue;
        s->of_node[n] |= is_known(node) ? KNOWN : 0;
        for (unsigned k = 0; k < node->n_edges; k++)
            s->of_node[dh_heap_graph_find(g, node->edges[k].to).node] |= LOADED;
        if (node->flags & DH_NODE_FREED)
            /* What is suspected depends on it: not base/hash.h, which may change. */
            s->of_node[n] |= (classes)1 << (n * 0x9e3779b9u >> 8) % CLASSES;
        if (node->flags & DH_NODE_GLOBAL && !confined[n] && ends_with_thread(s, node, ending))
            s->of_node[n] |= ENDED;
    }
    free(confined);
}

/* Words and environment that the system gave the program. */
static void know_arguments(struct search *s, const struct dh_common_instance *main)
{
    struct dh_heap_graph *g = &s->w->points_to->graph;
    for (uint32_t n = 0; n < s->p->functions.at[main->function].n_params; n++) {
        struct dh_heap_cell all = dh_heap_graph_find(g, s->w->points_to->cells.at[main->cells + n]);
        for (unsigned k = 0; all.node != DH_NO_NODE && k < g->nodes.at[all.node].n_edges; k++)
            s->of_node[dh_heap_graph_find(g, g->nodes.at[all.node].edges[k].to).node] |= KNOWN;
        if (all.node != DH_NO_NODE)
            s->of_node[all.node] |= KNOWN;
    }
}

/* Side by side through a callee's summary and what its caller has for it. */
static void hand_down(struct search *s, struct dh_heap_cell theirs, struct dh_heap_cell mine)
{
    struct dh_heap_graph *g = &s->w->points_to->graph;
    DH_VEC(struct dh_heap_cell_pair) todo = {0};
    dh_vec_push(&todo, (struct dh_heap_cell_pair){theirs, mine});
    while (todo.n) {
        struct dh_heap_cell_pair p = todo.at[--todo.n];
        p.a = dh_heap_graph_find(g, p.a);
        p.b = dh_heap_graph_find(g, p.b);
        if (p.a.node == DH_NO_NODE || p.b.node == DH_NO_NODE || g->nodes.at[p.a.node].flags & DH_NODE_GLOBAL ||
            g->nodes.at[p.a.node].mark == g->mark)
            continue;
        g->nodes.at[p.a.node].mark = g->mark;
        s->of_node[p.a.node] |= s->of_node[p.b.node];
        for (unsigned k = 0; k < g->nodes.at[p.a.node].n_edges; k++) {
            struct dh_heap_edge e = g->nodes.at[p.a.node].edges[k];
            dh_vec_push(&todo, (struct dh_heap_cell_pair){
                                   e.to, dh_heap_graph_find_pointee(g, dh_heap_cell_at(p.b, e.offset - p.a.offset))});
        }
    }
    dh_vec_release(&todo);
}

static void hand_to_instance(struct search *s, const struct dh_common_instance *in)
{
    struct dh_points_to *points_to = s->w->points_to;
    uint32_t n_params = s->p->functions.at[in->function].n_params;
    dh_heap_graph_begin_clone(&points_to->graph);
    for (uint32_t n = 0; n < n_params; n++)
        hand_down(s, dh_points_to_value(points_to, in->function, n), points_to->cells.at[in->cells + n]);
    hand_down(s, points_to->returns[in->function], points_to->cells.at[in->cells + n_params]);
}

static void hand_to_callees(struct search *s, uint32_t caller, uint32_t inst)
{
    struct dh_points_to *points_to = s->w->points_to;
    const struct dh_inst *i = &s->p->insts.at[inst];
    if (i->op != DH_I_CALL || points_to->calls.insensitive[inst])
        return;
    for (uint32_t it = dh_call_graph_first(&points_to->calls, inst), to;
         dh_call_graph_next(&points_to->calls, inst, &it, &to);) {
        dh_heap_graph_begin_clone(&points_to->graph);
        for (uint32_t n = 0; n < s->p->functions.at[to].n_params && n + 1 < i->n_operands; n++)
            hand_down(s, dh_points_to_value(points_to, to, n),
                      dh_points_to_value(points_to, caller, dh_operand(s->p, i, n + 1)));
        if (i->result != DH_NONE)
            hand_down(s, points_to->returns[to], dh_points_to_value(points_to, caller, i->result));
    }
}

/* Callers first. */
static void hand_all(struct search *s)
{
    const struct dh_points_to *points_to = s->w->points_to;
    for (size_t t = 0; t < s->w->threads.n; t++)
        if (s->w->threads.at[t].kind == DH_ROOT_MAIN)
            know_arguments(s, &points_to->instances.at[s->w->threads.at[t].instance]);
    for (size_t n = 0; n < points_to->instances.n; n++)
        hand_to_instance(s, &points_to->instances.at[n]);
    for (size_t n = s->p->functions.n; n-- > 0;) {
        const struct dh_function *f = &s->p->functions.at[points_to->calls.order[n]];
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
            for (uint32_t k = 0; k < s->p->blocks.at[b].n_insts; k++)
                hand_to_callees(s, points_to->calls.order[n], s->p->blocks.at[b].inst + k);
    }
}

/* ---- when they go ---- */

static classes accessed(struct search *s, uint32_t function, const struct dh_inst *i, uint32_t operand)
{
    struct dh_heap_cell c = dh_points_to_value(s->w->points_to, function, dh_operand(s->p, i, operand));
    return c.node == DH_NO_NODE ? 0 : s->of_node[c.node];
}

static void enter(struct search *s, uint32_t inst, classes gone, classes *left)
{
    const struct dh_call_graph *c = &s->w->points_to->calls;
    for (uint32_t it = dh_call_graph_first(c, inst), to; dh_call_graph_next(c, inst, &it, &to);) {
        add_classes(s, &s->entry[to], gone);
        *left |= s->exit[to];
    }
}

static void judge_operand(struct search *s, uint32_t function, uint32_t inst, uint32_t operand, classes gone)
{
    classes all = accessed(s, function, &s->p->insts.at[inst], operand);
    s->late[inst] |= all & gone ? DH_HAZARD_FREED : 0;
    s->late[inst] |= all & ENDED || !(all & KNOWN) ? DH_HAZARD_THREAD_ENDED : 0;
    s->late[inst] |= (all & (KNOWN | LOADED)) == LOADED ? DH_HAZARD_UNKNOWN_POINTER : 0;
}

static void judge(struct search *s, uint32_t function, uint32_t inst, classes gone)
{
    const struct dh_inst *i = &s->p->insts.at[inst];
    if (dh_inst_class(i) != DH_CLASS_MEMORY || i->op == DH_I_FENCE)
        return;
    judge_operand(s, function, inst, 0, gone);
    if (i->op == DH_I_MEMCPY)
        judge_operand(s, function, inst, 1, gone);
}

static classes step(struct search *s, uint32_t function, uint32_t inst, classes gone)
{
    const struct dh_inst *i = &s->p->insts.at[inst];
    classes left = 0;
    if (s->judging)
        judge(s, function, inst, gone);
    switch (i->op) {
    case DH_I_FREE:
    case DH_I_REALLOC:
        return gone | (accessed(s, function, i, 0) & ~(KNOWN | LOADED | ENDED));
    case DH_I_CALL:
    case DH_I_FOREIGN:
        enter(s, inst, gone, &left);
        return gone | left;
    case DH_I_CREATE:
    case DH_I_REGISTER:
        enter(s, inst, gone, &left);
        add_classes(s, &s->by_threads, left);
        return gone | s->by_threads;
    case DH_I_JOIN:
        return gone | s->by_threads;
    default:
        return gone;
    }
}

static void flow(struct search *s, uint32_t function)
{
    const struct dh_function *f = &s->p->functions.at[function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_basic_block *block = &s->p->blocks.at[b];
        classes gone = b == f->block ? s->entry[function] : 0;
        for (uint32_t k = 0; k < block->n_preds; k++)
            gone |= s->end[dh_predecessors(s->p, block)[k]];
        for (uint32_t n = block->inst; n < block->inst + block->n_insts; n++)
            gone = step(s, function, n, gone);
        add_classes(s, &s->end[b], gone);
        add_classes(s, &s->exit[function], gone);
    }
}

/* What constructors free is gone when the others begin. */
static void flow_from_constructors(struct search *s)
{
    const struct dh_symex *w = s->w;
    for (size_t c = 0; c < w->threads.n; c++)
        for (size_t t = 0; t < w->threads.n && w->threads.at[c].kind == DH_ROOT_CONSTRUCTOR; t++)
            add_classes(s, &s->entry[w->threads.at[t].function], s->exit[w->threads.at[c].function]);
}

static void flow_all(struct search *s)
{
    do {
        s->moved = false;
        for (size_t n = 0; n < s->p->functions.n; n++)
            flow(s, s->w->points_to->calls.order[n]);
        flow_from_constructors(s);
    } while (s->moved);
}

uint8_t *dh_use_after_free_find(struct dh_symex *w, const uint8_t *ending)
{
    const struct dh_program *p = w->program;
    struct search s = {.w = w, .p = p};
    s.of_node = dh_xcalloc(w->points_to->graph.nodes.n + 1, sizeof *s.of_node);
    s.entry = dh_xcalloc(p->functions.n + 1, sizeof *s.entry);
    s.exit = dh_xcalloc(p->functions.n + 1, sizeof *s.exit);
    s.end = dh_xcalloc(p->blocks.n + 1, sizeof *s.end);
    s.late = dh_xcalloc(p->insts.n + 1, sizeof *s.late);
    classify(&s, ending);
    hand_all(&s);
    flow_all(&s);
    s.judging = true;
    flow_all(&s);
    free(s.of_node);
    free(s.entry);
    free(s.exit);
    free(s.end);
    return s.late;
}
