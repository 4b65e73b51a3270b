#include "analysis/confined.h"

#include <stdlib.h>

static bool only_slots(const struct dh_graph *g, const struct dh_node *n)
{
    uint32_t at = n->origin;
    if (at == DH_NO_NODE)
        return false;
    do {
        if (g->origins.at[at].kind != DH_ORIGIN_SLOT)
            return false;
        at = g->origins.at[at].next;
    } while (at != n->origin);
    return true;
}

/* What a thread or a handler is given is known to two. */
static void drop_given(struct dh_shapes *s, uint8_t *confined)
{
    for (size_t i = 0; i < s->instances.n; i++) {
        const struct dh_instance *in = &s->instances.at[i];
        uint32_t n_params = s->program->functions.at[in->function].n_params;
        for (uint32_t k = 0; in->inst != DH_NONE && k <= n_params; k++) {
            struct dh_cell c = dh_graph_find(&s->graph, s->cells.at[in->cells + k]);
            if (c.node != DH_NO_NODE)
                confined[c.node] = 0;
        }
    }
}

/* What hangs on something that is not confined is not, either. */
static bool drop_reachable(struct dh_graph *g, uint8_t *confined)
{
    bool moved = false;
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const struct dh_node *node = &g->nodes.at[n];
        if (node->parent != n || !(node->flags & DH_NODE_GLOBAL) || confined[n])
            continue;
        for (unsigned k = 0; k < node->n_edges; k++) {
            uint32_t to = dh_graph_find(g, node->edges[k].to).node;
            moved |= to != DH_NO_NODE && confined[to];
            if (to != DH_NO_NODE)
                confined[to] = 0;
        }
    }
    return moved;
}

uint8_t *dh_confined_find(struct dh_shapes *s)
{
    struct dh_graph *g = &s->graph;
    uint8_t *confined = calloc(g->nodes.n + 1, 1);
    if (!confined)
        abort();
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        const struct dh_node *node = &g->nodes.at[n];
        confined[n] = node->parent == n && !(node->flags & DH_NODE_EXPOSED) && only_slots(g, node);
    }
    drop_given(s, confined);
    while (drop_reachable(g, confined))
        ;
    return confined;
}
