#include "detect/online_scc.h"

#include "base/alloc.h"
#include "base/vec.h"

#include <stdlib.h>

typedef DH_VEC(uint32_t) numbers;

/* A vertex, or the component of all that were merged into it. Lists may name vertices that were merged since. */
struct vertex {
    uint32_t parent;                           /* itself: the representative */
    uint32_t alive;                            /* vertices of the component */
    bool merged;                               /* others lead to it */
    uint64_t order, forward, backward, listed; /* numbers of the searches that visited it */
    numbers out, in;
};

struct dh_online_scc {
    DH_VEC(struct vertex) at;
    numbers unused, ahead, behind; /* ahead: reached from the end of the edge; behind: reaching its beginning */
    DH_VEC(uint64_t) orders;
    uint64_t search, last_order;
};

struct dh_online_scc *dh_online_scc_new(void)
{
    struct dh_online_scc *g = DH_NEW(struct dh_online_scc);
    return g;
}

static uint32_t find_component(struct dh_online_scc *g, uint32_t v)
{
    while (g->at.at[v].parent != v)
        v = g->at.at[v].parent = g->at.at[g->at.at[v].parent].parent;
    return v;
}

uint32_t dh_online_scc_add_vertex(struct dh_online_scc *g)
{
    uint32_t v = g->unused.n ? g->unused.at[--g->unused.n] : (uint32_t)g->at.n;
    if (v == g->at.n)
        dh_vec_push(&g->at, (struct vertex){0});
    g->at.at[v] = (struct vertex){.parent = v, .alive = 1, .order = ++g->last_order};
    return v;
}

bool dh_online_scc_same(struct dh_online_scc *g, uint32_t a, uint32_t b)
{
    return find_component(g, a) == find_component(g, b);
}

static bool names(struct dh_online_scc *g, const numbers *list, uint32_t v)
{
    for (size_t i = 0; i < list->n; i++)
        if (find_component(g, list->at[i]) == v)
            return true;
    return false;
}

static bool has_edge(struct dh_online_scc *g, uint32_t a, uint32_t b)
{
    const struct vertex *x = &g->at.at[a], *y = &g->at.at[b];
    return x->out.n < y->in.n ? names(g, &x->out, b) : names(g, &y->in, a);
}

/* All that can be reached from `from` up to the order `limit`. */
static void search_forward(struct dh_online_scc *g, uint32_t from, uint64_t limit)
{
    g->ahead.n = 0;
    g->at.at[from].forward = g->search;
    dh_vec_push(&g->ahead, from);
    for (size_t i = 0; i < g->ahead.n; i++)
        for (size_t k = 0; k < g->at.at[g->ahead.at[i]].out.n; k++) {
            uint32_t v = find_component(g, g->at.at[g->ahead.at[i]].out.at[k]);
            if (g->at.at[v].forward == g->search || g->at.at[v].order > limit)
                continue;
            g->at.at[v].forward = g->search;
            dh_vec_push(&g->ahead, v);
        }
}

static void search_backward(struct dh_online_scc *g, uint32_t from, uint64_t limit)
{
    g->behind.n = 0;
    g->at.at[from].backward = g->search;
    dh_vec_push(&g->behind, from);
    for (size_t i = 0; i < g->behind.n; i++)
        for (size_t k = 0; k < g->at.at[g->behind.at[i]].in.n; k++) {
            uint32_t v = find_component(g, g->at.at[g->behind.at[i]].in.at[k]);
            if (g->at.at[v].backward == g->search || g->at.at[v].order < limit)
                continue;
            g->at.at[v].backward = g->search;
            dh_vec_push(&g->behind, v);
        }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The positions in the order that the visited vertices share among them. */
static void collect_orders(struct dh_online_scc *g)
{
    g->orders.n = 0;
    for (size_t i = 0; i < g->behind.n; i++)
        dh_vec_push(&g->orders, g->at.at[g->behind.at[i]].order);
    for (size_t i = 0; i < g->ahead.n; i++)
        if (g->at.at[g->ahead.at[i]].backward != g->search)
            dh_vec_push(&g->orders, g->at.at[g->ahead.at[i]].order);
    qsort(g->orders.at, g->orders.n, sizeof *g->orders.at, by_value);
}

static int by_order(const void *a, const void *b, void *arg)
{
    const struct dh_online_scc *g = arg;
    return by_value(&g->at.at[*(const uint32_t *)a].order, &g->at.at[*(const uint32_t *)b].order);
}

/* Leaves only what is not on the cycle, in its old order. */
static void drop_cycle(struct dh_online_scc *g, numbers *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        const struct vertex *v = &g->at.at[list->at[i]];
        if (v->forward != g->search || v->backward != g->search)
            list->at[n++] = list->at[i];
    }
    list->n = n;
    qsort_r(list->at, n, sizeof *list->at, by_order, g);
}

static void append(numbers *to, numbers *from)
{
    for (size_t i = 0; i < from->n; i++)
        dh_vec_push(to, from->at[i]);
    dh_vec_release(from);
}

static void merge(struct dh_online_scc *g, uint32_t into, uint32_t v)
{
    struct vertex *x = &g->at.at[into], *y = &g->at.at[v];
    y->parent = into;
    x->merged = true;
    x->alive += y->alive;
    append(&x->out, &y->out);
    append(&x->in, &y->in);
}

/* Each neighbour once, and none of the component itself. */
static void tidy(struct dh_online_scc *g, uint32_t v, numbers *list)
{
    size_t n = 0;
    g->search++;
    for (size_t i = 0; i < list->n; i++) {
        uint32_t other = find_component(g, list->at[i]);
        if (other == v || g->at.at[other].listed == g->search)
            continue;
        g->at.at[other].listed = g->search;
        list->at[n++] = other;
    }
    list->n = n;
}

/* The edge from `a` to `b` goes against the order: what leads to `a` comes first, then what `b` leads to; vertices in
 * both sets become one component. */
static void repair(struct dh_online_scc *g, uint32_t a, uint32_t b)
{
    g->search++;
    search_forward(g, b, g->at.at[a].order);
    search_backward(g, a, g->at.at[b].order);
    bool cycle = g->at.at[a].forward == g->search;
    collect_orders(g);
    for (size_t i = 0; cycle && i < g->behind.n; i++)
        if (g->behind.at[i] != a && g->at.at[g->behind.at[i]].forward == g->search)
            merge(g, a, g->behind.at[i]);
    drop_cycle(g, &g->behind);
    drop_cycle(g, &g->ahead);
    for (size_t i = 0; i < g->behind.n; i++)
        g->at.at[g->behind.at[i]].order = g->orders.at[i];
    if (cycle)
        g->at.at[a].order = g->orders.at[g->behind.n];
    for (size_t i = 0; i < g->ahead.n; i++)
        g->at.at[g->ahead.at[i]].order = g->orders.at[g->orders.n - g->ahead.n + i];
    if (!cycle)
        return;
    tidy(g, a, &g->at.at[a].out);
    tidy(g, a, &g->at.at[a].in);
}

void dh_online_scc_add_edge(struct dh_online_scc *g, uint32_t from, uint32_t to)
{
    uint32_t a = find_component(g, from), b = find_component(g, to);
    if (a == b || has_edge(g, a, b))
        return;
    dh_vec_push(&g->at.at[a].out, b);
    dh_vec_push(&g->at.at[b].in, a);
    if (g->at.at[a].order >= g->at.at[b].order)
        repair(g, a, b);
}

static void leave(struct dh_online_scc *g, numbers *list, uint32_t v)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (find_component(g, list->at[i]) != v)
            list->at[n++] = list->at[i];
    list->n = n;
}

/* Numbers of vertices with merged ones are not reused. */
void dh_online_scc_remove(struct dh_online_scc *g, uint32_t vertex)
{
    uint32_t v = find_component(g, vertex);
    struct vertex *x = &g->at.at[v];
    if (--x->alive)
        return;
    for (size_t i = 0; i < x->out.n; i++)
        leave(g, &g->at.at[find_component(g, x->out.at[i])].in, v);
    for (size_t i = 0; i < x->in.n; i++)
        leave(g, &g->at.at[find_component(g, x->in.at[i])].out, v);
    dh_vec_release(&x->out);
    dh_vec_release(&x->in);
    if (v == vertex && !x->merged)
        dh_vec_push(&g->unused, v);
}

void dh_online_scc_free(struct dh_online_scc *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->at.n; i++) {
        dh_vec_release(&g->at.at[i].out);
        dh_vec_release(&g->at.at[i].in);
    }
    dh_vec_release(&g->at);
    dh_vec_release(&g->unused);
    dh_vec_release(&g->ahead);
    dh_vec_release(&g->behind);
    dh_vec_release(&g->orders);
    free(g);
}
