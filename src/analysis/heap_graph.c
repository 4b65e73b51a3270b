#include "analysis/heap_graph.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { POINTER_BYTES = 8 };

void dh_heap_graph_init(struct dh_heap_graph *g)
{
    *g = (struct dh_heap_graph){.mark = 1};
}

void dh_heap_graph_release(struct dh_heap_graph *g)
{
    for (size_t i = 0; i < g->nodes.n; i++) {
        free(g->nodes.at[i].edges);
        free(g->nodes.at[i].folds);
    }
    dh_vec_release(&g->nodes);
    dh_vec_release(&g->origins);
    dh_vec_release(&g->pending);
}

uint32_t dh_heap_graph_add_node(struct dh_heap_graph *g, uint32_t flags)
{
    uint32_t id = (uint32_t)g->nodes.n;
    dh_vec_push(&g->nodes, (struct dh_heap_node){.parent = id, .flags = flags, .origin = DH_NO_NODE});
    return id;
}

void dh_heap_graph_add_origin(struct dh_heap_graph *g, uint32_t node, enum dh_origin_kind kind, uint32_t index)
{
    uint32_t id = (uint32_t)g->origins.n;
    uint32_t rep = dh_heap_graph_find(g, (struct dh_heap_cell){node, 0}).node;
    dh_vec_push(&g->origins, (struct dh_heap_origin){.kind = kind, .index = index, .node = node, .next = id});
    struct dh_heap_node *n = &g->nodes.at[rep];
    if (n->origin == DH_NO_NODE) {
        n->origin = id;
    } else {
        struct dh_heap_origin *first = &g->origins.at[n->origin];
        g->origins.at[id].next = first->next;
        first->next = id;
    }
}

/* ---- union-find ---- */

static uint32_t find_node(struct dh_heap_graph *g, uint32_t id, int32_t *distance)
{
    int32_t sum = 0;
    uint32_t at = id;
    while (g->nodes.at[at].parent != at) {
        sum += g->nodes.at[at].distance;
        at = g->nodes.at[at].parent;
    }
    *distance = sum;
    /* Path compression. */
    while (id != at) {
        struct dh_heap_node *n = &g->nodes.at[id];
        uint32_t next = n->parent;
        int32_t own = n->distance;
        n->parent = at;
        n->distance = sum;
        sum -= own;
        id = next;
    }
    return at;
}

struct dh_heap_cell dh_heap_graph_find(struct dh_heap_graph *g, struct dh_heap_cell c)
{
    int32_t distance;
    if (c.node == DH_NO_NODE)
        return c;
    uint32_t node = find_node(g, c.node, &distance);
    if (g->nodes.at[node].flags & DH_NODE_COLLAPSED)
        return (struct dh_heap_cell){node, 0};
    return (struct dh_heap_cell){node, c.offset + distance};
}

/* Elements are folded onto the first one; an unbounded fold that starts at offset 0 or less covers negative offsets,
 * too. */
static int32_t fold_offset(const struct dh_heap_node *n, int32_t offset)
{
    if (n->flags & DH_NODE_COLLAPSED)
        return 0;
    for (unsigned i = 0; i < n->n_folds; i++) {
        const struct dh_array_fold *f = &n->folds[i];
        if (f->length ? offset < f->start || offset >= f->start + f->length : offset < f->start && f->start > 0)
            continue;
        int32_t rest = (offset - f->start) % f->stride;
        offset = f->start + (rest < 0 ? rest + f->stride : rest);
    }
    return offset;
}

static void defer_unify(struct dh_heap_graph *g, struct dh_heap_cell a, struct dh_heap_cell b)
{
    dh_vec_push(&g->pending, (struct dh_heap_cell_pair){a, b});
}

/* ---- edges ---- */

/* The edge whose pointer overlaps one at `offset`; otherwise where to insert a new one. */
static unsigned edge_place(const struct dh_heap_node *n, int32_t offset, bool *there)
{
    unsigned low = 0, high = n->n_edges;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (n->edges[mid].offset + POINTER_BYTES <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    *there = low < n->n_edges && n->edges[low].offset < offset + POINTER_BYTES;
    return low;
}

static void set_global(struct dh_heap_graph *g, uint32_t node);

static void put_edge(struct dh_heap_graph *g, uint32_t node, int32_t offset, struct dh_heap_cell to)
{
    struct dh_heap_node *n = &g->nodes.at[node];
    bool there;
    offset = fold_offset(n, offset);
    unsigned at = edge_place(n, offset, &there);
    if (there) {
        defer_unify(g, n->edges[at].to, to);
        return;
    }
    if (n->n_edges == UINT16_MAX) {
        defer_unify(g, n->edges[0].to, to);
        return;
    }
    if (n->n_edges == n->cap_edges) {
        n->cap_edges = n->cap_edges ? 2 * n->cap_edges : 2;
        DH_GROW_ARRAY(n->edges, n->cap_edges);
    }
    memmove(n->edges + at + 1, n->edges + at, (n->n_edges - at) * sizeof *n->edges);
    n->edges[at] = (struct dh_heap_edge){offset, to};
    n->n_edges++;
    if (n->flags & DH_NODE_GLOBAL)
        set_global(g, to.node);
}

/* After folds changed: insert all edges again. */
static void refold_edges(struct dh_heap_graph *g, uint32_t node)
{
    struct dh_heap_node *n = &g->nodes.at[node];
    struct dh_heap_edge *old = n->edges;
    unsigned count = n->n_edges;
    n->edges = NULL;
    n->n_edges = 0;
    n->cap_edges = 0;
    for (unsigned i = 0; i < count; i++)
        put_edge(g, node, old[i].offset, old[i].to);
    free(old);
}

/* ---- nodes reachable from globals ---- */

static void set_global(struct dh_heap_graph *g, uint32_t id)
{
    DH_VEC(uint32_t) todo = {0};
    dh_vec_push(&todo, id);
    while (todo.n) {
        uint32_t rep = dh_heap_graph_find(g, (struct dh_heap_cell){todo.at[--todo.n], 0}).node;
        struct dh_heap_node *n = &g->nodes.at[rep];
        if (n->flags & DH_NODE_GLOBAL)
            continue;
        n->flags |= DH_NODE_GLOBAL;
        for (unsigned i = 0; i < n->n_edges; i++)
            dh_vec_push(&todo, n->edges[i].to.node);
    }
    dh_vec_release(&todo);
}

/* ---- folds ---- */

static int32_t greatest_common_divisor(int32_t a, int32_t b)
{
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void drop_fold(struct dh_heap_node *n, unsigned at)
{
    n->n_folds--;
    memmove(n->folds + at, n->folds + at + 1, (n->n_folds - at) * sizeof *n->folds);
}

static bool folds_overlap(const struct dh_array_fold *a, const struct dh_array_fold *b)
{
    bool a_before = a->length && a->start + a->length <= b->start;
    bool b_before = b->length && b->start + b->length <= a->start;
    return !a_before && !b_before;
}

/* One fold that does what both did. */
static struct dh_array_fold join_folds(const struct dh_array_fold *a, const struct dh_array_fold *b)
{
    struct dh_array_fold both = {.stride = greatest_common_divisor(a->stride, b->stride)};
    both.start = a->start < b->start ? a->start : b->start;
    if (a->length && b->length) {
        int32_t a_end = a->start + a->length, b_end = b->start + b->length;
        both.length = (a_end > b_end ? a_end : b_end) - both.start;
    }
    return both;
}

static bool inside_element(const struct dh_array_fold *small, const struct dh_array_fold *big)
{
    if (small->length)
        return (small->start - big->start) % big->stride + small->length <= big->stride;
    return big->stride % small->stride == 0;
}

/* Strides are multiples of a pointer's size, so are their greatest common divisors: overlapping folds can always be
 * joined. */
static void insert_fold(struct dh_heap_node *n, struct dh_array_fold f)
{
    for (unsigned i = 0; i < n->n_folds;) {
        const struct dh_array_fold *e = &n->folds[i];
        const struct dh_array_fold *big = e->stride >= f.stride ? e : &f, *small = big == e ? &f : e;
        if (!folds_overlap(e, &f) || (e->stride != f.stride && inside_element(small, big))) {
            i++;
            continue;
        }
        f = join_folds(e, &f);
        drop_fold(n, i);
        i = 0;
    }
    while (n->n_folds == DH_FOLDS_MAX) {
        f = join_folds(&n->folds[n->n_folds - 1], &f);
        drop_fold(n, n->n_folds - 1u);
    }
    if (!n->folds)
        n->folds = dh_xcalloc(DH_FOLDS_MAX, sizeof *n->folds);
    unsigned at = 0;
    while (at < n->n_folds && n->folds[at].stride > f.stride)
        at++;
    memmove(n->folds + at + 1, n->folds + at, (n->n_folds - at) * sizeof *n->folds);
    n->folds[at] = f;
    n->n_folds++;
}

static bool has_fold(const struct dh_heap_node *n, const struct dh_array_fold *f)
{
    for (unsigned i = 0; i < n->n_folds; i++) {
        const struct dh_array_fold *e = &n->folds[i];
        bool from = e->start <= f->start;
        bool to = !e->length || (f->length && e->start + e->length >= f->start + f->length);
        if (e->stride == f->stride && from && to)
            return true;
    }
    return false;
}

static void add_fold(struct dh_heap_graph *g, uint32_t node, struct dh_array_fold f)
{
    struct dh_heap_node *n = &g->nodes.at[node];
    /* Elements that do not keep pointers aligned hold none, and accesses carry their own stride. */
    if (n->flags & DH_NODE_COLLAPSED || f.stride % POINTER_BYTES || has_fold(n, &f))
        return;
    g->unions++;
    insert_fold(n, f);
    refold_edges(g, node);
}

static void unify_pending(struct dh_heap_graph *g);

void dh_heap_graph_fold_array(struct dh_heap_graph *g, struct dh_heap_cell c, int64_t stride, uint64_t count)
{
    if (c.node == DH_NO_NODE)
        return;
    c = dh_heap_graph_find(g, c);
    if (stride < 0)
        stride = -stride;
    if (stride == 0 || stride > INT32_MAX / 4 || c.offset > INT32_MAX / 4)
        return;
    uint64_t length = count && count < INT32_MAX / 4 ? count * (uint64_t)stride : 0;
    add_fold(g, c.node,
             (struct dh_array_fold){c.offset, (int32_t)stride, length < INT32_MAX / 4 ? (int32_t)length : 0});
    unify_pending(g);
}

/* ---- unification ---- */

void dh_heap_graph_collapse(struct dh_heap_graph *g, uint32_t node)
{
    node = dh_heap_graph_find(g, (struct dh_heap_cell){node, 0}).node;
    struct dh_heap_node *n = &g->nodes.at[node];
    if (n->flags & DH_NODE_COLLAPSED)
        return;
    n->flags |= DH_NODE_COLLAPSED;
    n->n_folds = 0;
    g->unions++;
    refold_edges(g, node);
    unify_pending(g);
}

static void join_origins(struct dh_heap_graph *g, struct dh_heap_node *into, const struct dh_heap_node *from)
{
    if (from->origin == DH_NO_NODE)
        return;
    if (into->origin == DH_NO_NODE) {
        into->origin = from->origin;
        return;
    }
    struct dh_heap_origin *a = &g->origins.at[into->origin], *b = &g->origins.at[from->origin];
    uint32_t next = a->next;
    a->next = b->next;
    b->next = next;
}

/* `from` is unified into `into`, at `distance`. */
static void absorb(struct dh_heap_graph *g, uint32_t into, uint32_t from, int32_t distance)
{
    struct dh_heap_node *w = &g->nodes.at[into], *l = &g->nodes.at[from];
    struct dh_heap_edge *edges = l->edges;
    struct dh_array_fold *folds = l->folds;
    unsigned n_edges = l->n_edges, n_folds = l->n_folds;
    bool newly_global = (l->flags & DH_NODE_GLOBAL) && !(w->flags & DH_NODE_GLOBAL);
    join_origins(g, w, l);
    w->flags |= l->flags & ~(uint32_t)DH_NODE_GLOBAL;
    l->parent = into;
    l->distance = distance;
    l->edges = NULL;
    l->folds = NULL;
    l->n_edges = 0;
    l->n_folds = 0;
    l->cap_edges = 0;
    if (newly_global)
        set_global(g, into);
    for (unsigned i = 0; i < n_folds; i++) {
        folds[i].start += distance;
        add_fold(g, into, folds[i]);
    }
    for (unsigned i = 0; i < n_edges; i++)
        put_edge(g, into, edges[i].offset + distance, edges[i].to);
    free(edges);
    free(folds);
}

static void unify_now(struct dh_heap_graph *g, struct dh_heap_cell a, struct dh_heap_cell b)
{
    a = dh_heap_graph_find(g, a);
    b = dh_heap_graph_find(g, b);
    if (a.node == b.node) {
        int32_t low = a.offset < b.offset ? a.offset : b.offset, gap = a.offset + b.offset - 2 * low;
        if (gap)
            add_fold(g, a.node, (struct dh_array_fold){low, gap, 0});
        return;
    }
    g->unions++;
    bool collapsed = (g->nodes.at[a.node].flags | g->nodes.at[b.node].flags) & DH_NODE_COLLAPSED;
    if (collapsed) {
        dh_heap_graph_collapse(g, a.node);
        dh_heap_graph_collapse(g, b.node);
        a = dh_heap_graph_find(g, a);
        b = dh_heap_graph_find(g, b);
    }
    if (g->nodes.at[a.node].n_edges < g->nodes.at[b.node].n_edges) {
        struct dh_heap_cell t = a;
        a = b;
        b = t;
    }
    if (a.node != b.node)
        absorb(g, a.node, b.node, a.offset - b.offset);
}

/* A worklist instead of recursion: chains of unifications may be long. */
static void unify_pending(struct dh_heap_graph *g)
{
    if (g->busy)
        return;
    g->busy = true;
    while (g->pending.n) {
        struct dh_heap_cell_pair p = g->pending.at[--g->pending.n];
        unify_now(g, p.a, p.b);
    }
    g->busy = false;
}

void dh_heap_graph_unify(struct dh_heap_graph *g, struct dh_heap_cell a, struct dh_heap_cell b)
{
    if (a.node == DH_NO_NODE || b.node == DH_NO_NODE)
        return;
    defer_unify(g, a, b);
    unify_pending(g);
}

void dh_heap_graph_add_flags(struct dh_heap_graph *g, struct dh_heap_cell c, uint32_t flags)
{
    if (c.node == DH_NO_NODE)
        return;
    c = dh_heap_graph_find(g, c);
    if (flags & DH_NODE_GLOBAL)
        set_global(g, c.node);
    g->nodes.at[c.node].flags |= flags;
}

/* ---- pointers in objects ---- */

struct dh_heap_cell dh_heap_graph_find_pointee(struct dh_heap_graph *g, struct dh_heap_cell c)
{
    if (c.node == DH_NO_NODE)
        return c;
    c = dh_heap_graph_find(g, c);
    const struct dh_heap_node *n = &g->nodes.at[c.node];
    bool there;
    unsigned at = edge_place(n, fold_offset(n, c.offset), &there);
    return there ? dh_heap_graph_find(g, n->edges[at].to) : DH_NO_CELL;
}

struct dh_heap_cell dh_heap_graph_get_pointee(struct dh_heap_graph *g, struct dh_heap_cell c)
{
    struct dh_heap_cell to = dh_heap_graph_find_pointee(g, c);
    if (to.node != DH_NO_NODE || c.node == DH_NO_NODE)
        return to;
    to = (struct dh_heap_cell){dh_heap_graph_add_node(g, 0), 0};
    dh_heap_graph_add_edge(g, c, to);
    return dh_heap_graph_find(g, to);
}

void dh_heap_graph_add_edge(struct dh_heap_graph *g, struct dh_heap_cell from, struct dh_heap_cell to)
{
    if (from.node == DH_NO_NODE || to.node == DH_NO_NODE)
        return;
    from = dh_heap_graph_find(g, from);
    put_edge(g, from.node, from.offset, to);
    unify_pending(g);
}

static void copy_edges(struct dh_heap_graph *g, struct dh_heap_cell from, struct dh_heap_cell to, uint64_t length)
{
    from = dh_heap_graph_find(g, from);
    for (unsigned i = 0; i < g->nodes.at[from.node].n_edges; i++) {
        struct dh_heap_edge e = g->nodes.at[from.node].edges[i];
        bool collapsed = g->nodes.at[from.node].flags & DH_NODE_COLLAPSED;
        int64_t at = (int64_t)e.offset - from.offset;
        if (collapsed)
            at = 0;
        else if (length && (at < 0 || at >= (int64_t)length))
            continue;
        struct dh_heap_cell mine = dh_heap_graph_get_pointee(g, dh_heap_cell_at(to, at));
        dh_heap_graph_unify(g, mine, e.to);
        from = dh_heap_graph_find(g, from);
    }
}

bool dh_heap_graph_unify_content(struct dh_heap_graph *g, struct dh_heap_cell a, struct dh_heap_cell b, uint64_t length)
{
    uint64_t before = g->unions;
    size_t nodes = g->nodes.n;
    if (a.node == DH_NO_NODE || b.node == DH_NO_NODE)
        return false;
    copy_edges(g, a, b, length);
    copy_edges(g, b, a, length);
    return g->unions != before || g->nodes.n != nodes;
}

/* ---- clones ---- */

void dh_heap_graph_begin_clone(struct dh_heap_graph *g)
{
    g->mark++;
}

struct dh_heap_cell dh_heap_graph_find_image(struct dh_heap_graph *g, struct dh_heap_cell from)
{
    from = dh_heap_graph_find(g, from);
    if (from.node == DH_NO_NODE)
        return from;
    const struct dh_heap_node *n = &g->nodes.at[from.node];
    if (n->flags & DH_NODE_GLOBAL)
        return from;
    if (n->mark != g->mark)
        return DH_NO_CELL;
    return dh_heap_graph_find(g, (struct dh_heap_cell){n->image, n->image_distance + from.offset});
}

static void clone_origins(struct dh_heap_graph *g, uint32_t from, uint32_t to)
{
    enum { MANY = 64 };
    uint32_t first = g->nodes.at[from].origin;
    if (first == DH_NO_NODE)
        return;
    uint32_t at = first;
    unsigned count = 0;
    do {
        struct dh_heap_origin o = g->origins.at[at];
        dh_heap_graph_add_origin(g, to, o.kind, o.index);
        at = o.next;
    } while (at != first && ++count < MANY);
}

static void clone_self(struct dh_heap_graph *g, uint32_t from, struct dh_heap_cell to, int32_t distance)
{
    dh_heap_graph_add_flags(g, to, g->nodes.at[from].flags & ~(uint32_t)(DH_NODE_GLOBAL | DH_NODE_COLLAPSED));
    if (g->nodes.at[from].flags & DH_NODE_COLLAPSED)
        dh_heap_graph_collapse(g, to.node);
    for (unsigned i = 0; i < g->nodes.at[from].n_folds; i++) {
        struct dh_array_fold f = g->nodes.at[from].folds[i];
        dh_heap_graph_fold_array(g, (struct dh_heap_cell){to.node, f.start + distance}, f.stride,
                                 f.length ? (uint64_t)(f.length / f.stride) : 0);
    }
    clone_origins(g, from, to.node);
}

void dh_heap_graph_clone(struct dh_heap_graph *g, struct dh_heap_cell from, struct dh_heap_cell to,
                         dh_heap_graph_clone_observer *observer, void *self)
{
    DH_VEC(struct dh_heap_cell_pair) todo = {0};
    dh_vec_push(&todo, (struct dh_heap_cell_pair){from, to});
    while (todo.n) {
        struct dh_heap_cell f = dh_heap_graph_find(g, todo.at[--todo.n].a), t = todo.at[todo.n].b;
        if (f.node == DH_NO_NODE || t.node == DH_NO_NODE)
            continue;
        struct dh_heap_cell image = dh_heap_graph_find_image(g, f);
        if (image.node != DH_NO_NODE) {
            dh_heap_graph_unify(g, image, t);
            continue;
        }
        t = dh_heap_graph_find(g, t);
        struct dh_heap_node *n = &g->nodes.at[f.node];
        n->mark = g->mark;
        n->image = t.node;
        n->image_distance = t.offset - f.offset;
        clone_self(g, f.node, t, t.offset - f.offset);
        if (observer)
            observer(self, f.node, (struct dh_heap_cell){t.node, t.offset - f.offset});
        unsigned n_edges = g->nodes.at[f.node].n_edges;
        for (unsigned i = 0; i < n_edges; i++) {
            struct dh_heap_edge e = g->nodes.at[f.node].edges[i];
            struct dh_heap_cell at = {t.node, t.offset - f.offset + e.offset};
            struct dh_heap_cell mine = dh_heap_graph_get_pointee(g, at);
            dh_vec_push(&todo, (struct dh_heap_cell_pair){e.to, mine});
        }
    }
    dh_vec_release(&todo);
}
