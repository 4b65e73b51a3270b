#include "analysis/thread_escape.h"
#include "base/alloc.h"

#include <stdlib.h>

/* Origins of memory that may be confined to one thread. */
enum source { SOURCE_STACK = 1, SOURCE_STORAGE = 2, SOURCE_HEAP = 4, SOURCE_OTHER = 8 };

static enum source source_of(const struct dh_program *p, const struct dh_heap_origin *o)
{
    if (o->kind == DH_ORIGIN_SLOT)
        return SOURCE_STACK;
    if (o->kind == DH_ORIGIN_ALLOC)
        return SOURCE_HEAP;
    bool own = o->kind == DH_ORIGIN_GLOBAL && p->globals.at[o->index].flags & DH_GLOBAL_TLS;
    return own ? SOURCE_STORAGE : SOURCE_OTHER;
}

static unsigned sources_of(const struct dh_points_to *s, const struct dh_heap_node *n)
{
    const struct dh_heap_graph *g = &s->graph;
    unsigned all = 0;
    uint32_t at = n->origin;
    if (at == DH_NO_NODE)
        return SOURCE_OTHER;
    do {
        all |= source_of(s->program, &g->origins.at[at]);
        at = g->origins.at[at].next;
    } while (at != n->origin);
    return all;
}

/* The end of a thread hands its own data to the destructor, in the same thread. */
static bool is_for_another(const struct dh_points_to *s, const struct dh_common_instance *in)
{
    if (in->inst == DH_NONE)
        return false;
    const struct dh_inst *i = &s->program->insts.at[in->inst];
    return i->op != DH_I_REGISTER || i->extra != DH_ROOT_KEY_DESTRUCTOR;
}

/* Arguments of threads and handlers are known to two threads. */
static void drop_arguments(struct dh_points_to *s, uint8_t *confined)
{
    for (size_t i = 0; i < s->instances.n; i++) {
        const struct dh_common_instance *in = &s->instances.at[i];
        uint32_t n_params = s->program->functions.at[in->function].n_params;
        for (uint32_t k = 0; is_for_another(s, in) && k <= n_params; k++) {
            struct dh_heap_cell c = dh_heap_graph_find(&s->graph, s->cells.at[in->cells + k]);
            if (c.node != DH_NO_NODE)
                confined[c.node] = 0;
        }
    }
}

/* What is reachable from an escaped object escapes, too. */
static bool drop_reachable(struct dh_heap_graph *g, uint8_t *confined)
{
    bool moved = false;
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const struct dh_heap_node *node = &g->nodes.at[n];
        if (node->parent != n || !(node->flags & DH_NODE_GLOBAL) || confined[n])
            continue;
        for (unsigned k = 0; k < node->n_edges; k++) {
            uint32_t to = dh_heap_graph_find(g, node->edges[k].to).node;
            moved |= to != DH_NO_NODE && confined[to];
            if (to != DH_NO_NODE)
                confined[to] = 0;
        }
    }
    return moved;
}

/* A heap object is confined by being reachable from confined storage: one that is reachable from no stack object or
 * thread-local variable is left to symbolic execution. */
static bool add_reachable(struct dh_points_to *s, uint8_t *confined)
{
    struct dh_heap_graph *g = &s->graph;
    bool moved = false;
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const struct dh_heap_node *node = &g->nodes.at[n];
        for (unsigned k = 0; confined[n] && k < node->n_edges; k++) {
            uint32_t to = dh_heap_graph_find(g, node->edges[k].to).node;
            if (to == DH_NO_NODE || confined[to] ||
                g->nodes.at[to].flags & (DH_NODE_EXPOSED | DH_NODE_INT_ARITHMETIC) ||
                sources_of(s, &g->nodes.at[to]) & SOURCE_OTHER)
                continue;
            confined[to] = 1;
            moved = true;
        }
    }
    return moved;
}

uint8_t *dh_find_thread_confined(struct dh_points_to *s)
{
    struct dh_heap_graph *g = &s->graph;
    uint8_t *confined = dh_xcalloc(g->nodes.n + 1, 1);
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const struct dh_heap_node *node = &g->nodes.at[n];
        confined[n] = node->parent == n && !(node->flags & DH_NODE_EXPOSED) &&
                      !(sources_of(s, node) & (SOURCE_HEAP | SOURCE_OTHER));
    }
    while (add_reachable(s, confined))
        ;
    drop_arguments(s, confined);
    while (drop_reachable(g, confined))
        ;
    return confined;
}
