/* Contexts of functions: what a summary's objects are bound to. */
#include "analysis/symex_internal.h"

static struct dh_heap_graph *graph_of(struct dh_symex *w)
{
    return &w->points_to->graph;
}

/* ---- interfaces: what callers can hand in or get back ---- */

static void add_reachable(struct dh_symex *w, struct dh_scc_interface *in, struct dh_heap_cell from)
{
    struct dh_heap_graph *g = graph_of(w);
    DH_VEC(uint32_t) todo = {0};
    if (from.node != DH_NO_NODE)
        dh_vec_push(&todo, from.node);
    while (todo.n) {
        uint32_t at = dh_heap_graph_find(g, (struct dh_heap_cell){todo.at[--todo.n], 0}).node;
        const struct dh_heap_node *n = &g->nodes.at[at];
        if (n->flags & DH_NODE_GLOBAL || w->state->interface_number[at] != DH_NONE)
            continue;
        w->state->interface_number[at] = (uint32_t)in->nodes.n;
        dh_vec_push(&in->nodes, at);
        for (unsigned k = 0; k < n->n_edges; k++)
            dh_vec_push(&todo, n->edges[k].to.node);
    }
    dh_vec_release(&todo);
}

void dh_symex_find_interfaces(struct dh_symex *w)
{
    struct dh_points_to *s = w->points_to;
    memset(w->state->interface_number, 0xff, s->graph.nodes.n * sizeof *w->state->interface_number);
    for (uint32_t group = 0; group < s->calls.n_sccs; group++)
        for (uint32_t n = s->calls.scc_first[group]; n < s->calls.scc_first[group + 1]; n++) {
            uint32_t f = s->calls.order[n];
            for (uint32_t k = 0; k < w->program->functions.at[f].n_params; k++)
                add_reachable(w, &w->state->interfaces[group], dh_points_to_value(s, f, k));
            add_reachable(w, &w->state->interfaces[group], dh_heap_graph_find(&s->graph, s->returns[f]));
        }
}

/* ---- binding ---- */

struct dh_symex_binding dh_symex_binding_of(struct dh_symex *w, const struct dh_symex_activation *f,
                                            struct dh_heap_cell c)
{
    if (c.node == DH_NO_NODE)
        return (struct dh_symex_binding){DH_NO_NODE, 0};
    if (graph_of(w)->nodes.at[c.node].flags & DH_NODE_GLOBAL)
        return (struct dh_symex_binding){c.node, 0};
    uint32_t number = w->state->interface_number[c.node];
    if (number == DH_NONE || number >= f->n_bindings)
        return (struct dh_symex_binding){DH_NO_NODE, 0};
    return w->state->bindings.at[f->binding + number];
}

struct dh_heap_cell dh_symex_bound_cell(struct dh_symex *w, const struct dh_symex_activation *f, struct dh_heap_cell c)
{
    c = dh_heap_graph_find(graph_of(w), c);
    struct dh_symex_binding b = dh_symex_binding_of(w, f, c);
    if (b.node == DH_NO_NODE)
        return DH_NO_CELL;
    return dh_heap_graph_find(graph_of(w), (struct dh_heap_cell){b.node, c.offset + b.distance});
}

static bool is_told_apart(const struct dh_symex *w, uint32_t node)
{
    uint32_t flags = node == DH_NO_NODE ? 0 : w->points_to->graph.nodes.at[node].flags;
    return flags & (DH_NODE_SHARED | DH_NODE_SYNC_OBJECT | DH_NODE_EXPOSED | (w->strict ? 0 : DH_NODE_ATOMIC));
}

static bool keeps_all(const struct dh_symex *w)
{
    return w->cache == DH_CACHE_WORST || w->cache == DH_CACHE_UNCLIPPED;
}

/* Side by side through the callee's summary and the caller's objects. `caller` NULL: the objects are global. */
static void bind_from(struct dh_symex *w, const struct dh_symex_activation *caller, struct dh_symex_activation *callee,
                      struct dh_heap_cell theirs, struct dh_heap_cell mine)
{
    struct dh_heap_graph *g = graph_of(w);
    DH_VEC(struct dh_heap_cell_pair) todo = {0};
    dh_vec_push(&todo, (struct dh_heap_cell_pair){theirs, mine});
    while (todo.n) {
        struct dh_heap_cell_pair p = todo.at[--todo.n];
        p.a = dh_heap_graph_find(g, p.a);
        p.b = dh_heap_graph_find(g, p.b);
        if (p.a.node == DH_NO_NODE || p.b.node == DH_NO_NODE || g->nodes.at[p.a.node].flags & DH_NODE_GLOBAL)
            continue;
        uint32_t number = w->state->interface_number[p.a.node];
        if (number == DH_NONE || g->nodes.at[p.a.node].mark == g->mark)
            continue;
        g->nodes.at[p.a.node].mark = g->mark;
        struct dh_symex_binding *b = &w->state->bindings.at[callee->binding + number];
        struct dh_heap_cell at = caller ? dh_symex_bound_cell(w, caller, p.b) : p.b;
        if (at.node == DH_NO_NODE && keeps_all(w))
            at = p.b;
        if (w->cache == DH_CACHE_BEST && !is_told_apart(w, at.node))
            continue;
        if (at.node != DH_NO_NODE)
            *b = (struct dh_symex_binding){at.node, at.offset - p.a.offset};
        for (unsigned k = 0; k < g->nodes.at[p.a.node].n_edges; k++) {
            struct dh_heap_edge e = g->nodes.at[p.a.node].edges[k];
            struct dh_heap_cell to = dh_heap_graph_find_pointee(g, dh_heap_cell_at(p.b, e.offset - p.a.offset));
            if (to.node != DH_NO_NODE)
                dh_vec_push(&todo, (struct dh_heap_cell_pair){e.to, to});
        }
    }
    dh_vec_release(&todo);
}

static void open_bindings(struct dh_symex *w, struct dh_symex_activation *f)
{
    uint32_t group = w->points_to->calls.group[f->function];
    f->binding = (uint32_t)w->state->bindings.n;
    f->own_bindings = true;
    f->n_bindings = (uint32_t)w->state->interfaces[group].nodes.n;
    for (uint32_t n = 0; n < f->n_bindings; n++)
        dh_vec_push(&w->state->bindings, (struct dh_symex_binding){DH_NO_NODE, 0});
    dh_heap_graph_begin_clone(graph_of(w));
}

/* Objects that are not shared are nobody's business: contexts that differ only there are one. */
static void close_bindings(struct dh_symex *w, struct dh_symex_activation *f)
{
    for (uint32_t n = 0; n < f->n_bindings; n++) {
        struct dh_symex_binding *b = &w->state->bindings.at[f->binding + n];
        if (!keeps_all(w) && !is_told_apart(w, b->node))
            *b = (struct dh_symex_binding){DH_NO_NODE, 0};
    }
}

void dh_symex_bind_call(struct dh_symex *w, const struct dh_symex_activation *caller, const struct dh_inst *call,
                        uint32_t first, struct dh_symex_activation *callee)
{
    struct dh_points_to *s = w->points_to;
    if (s->calls.group[callee->function] == s->calls.group[caller->function]) {
        callee->binding = caller->binding;
        callee->n_bindings = caller->n_bindings;
        callee->own_bindings = false;
        return;
    }
    open_bindings(w, callee);
    for (uint32_t n = 0; n < w->program->functions.at[callee->function].n_params; n++)
        if (first + n < call->n_operands)
            bind_from(w, caller, callee, dh_points_to_value(s, callee->function, n),
                      dh_points_to_value(s, caller->function, dh_operand(w->program, call, first + n)));
    if (call->result != DH_NONE)
        bind_from(w, caller, callee, s->returns[callee->function],
                  dh_points_to_value(s, caller->function, call->result));
    close_bindings(w, callee);
}

void dh_symex_bind_instance(struct dh_symex *w, const struct dh_common_instance *in, struct dh_symex_activation *callee)
{
    struct dh_points_to *s = w->points_to;
    uint32_t n_params = w->program->functions.at[in->function].n_params;
    open_bindings(w, callee);
    for (uint32_t n = 0; n < n_params; n++)
        bind_from(w, NULL, callee, dh_points_to_value(s, in->function, n), s->cells.at[in->cells + n]);
    bind_from(w, NULL, callee, s->returns[in->function], s->cells.at[in->cells + n_params]);
    close_bindings(w, callee);
}

bool dh_symex_binds_shared(struct dh_symex *w, const struct dh_symex_activation *f)
{
    uint32_t group = w->points_to->calls.group[f->function];
    for (uint32_t n = 0; n < f->n_bindings; n++) {
        const struct dh_symex_binding *b = &w->state->bindings.at[f->binding + n];
        uint32_t own = graph_of(w)->nodes.at[w->state->interfaces[group].nodes.at[n]].flags;
        if (b->node != DH_NO_NODE && own & DH_NODE_ACCESSED && graph_of(w)->nodes.at[b->node].flags & DH_NODE_SHARED)
            return true;
    }
    return false;
}

/* ---- one frame for each context ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t hash_frame(const struct dh_symex *w, const struct dh_symex_activation *f)
{
    uint64_t h = mix(f->function, f->thread * 16u + f->owners * 8u + f->inside * 4u + f->multi * 2u + f->unwinding);
    for (unsigned n = 0; n < DH_ATTRIBUTES_MAX; n++)
        h = mix(h, (uint64_t)f->attributes[n] << 16 | f->loops[n]);
    for (uint32_t n = 0; n < f->n_bindings; n++) {
        const struct dh_symex_binding *b = &w->state->bindings.at[f->binding + n];
        h = mix(h, (uint64_t)b->node << 32 | (uint32_t)b->distance);
    }
    for (unsigned n = 0; n < f->in.n_locks; n++) {
        const struct dh_symex_lock *l = &f->in.locks[n];
        h = mix(h, (uint64_t)l->node << 32 | l->expr);
        h = mix(h, (uint64_t)(uint32_t)l->offset << 32 | (uint64_t)l->mode << 31 | l->index);
        h = mix(h, (uint64_t)l->again << 32 | l->via);
        h = mix(h,
                (uint64_t)l->made << 56 ^ (uint64_t)l->pending << 48 ^ (uint64_t)l->test << 40 ^ (uint64_t)l->number);
    }
    h = mix(h, f->from);
    h = mix(h, f->in.started);
    h = mix(h, f->in.joined);
    h = mix(h, f->in.ended);
    h = mix(h, f->in.phase);
    h = mix(h, f->in.alone);
    return mix(h, f->in.ignoring);
}

static bool same_locks(const struct dh_state *a, const struct dh_state *b)
{
    if (a->n_locks != b->n_locks)
        return false;
    for (unsigned n = 0; n < a->n_locks; n++) {
        const struct dh_symex_lock *p = &a->locks[n], *q = &b->locks[n];
        if (p->node != q->node || p->offset != q->offset || p->expr != q->expr || p->mode != q->mode ||
            p->index != q->index || p->via != q->via || p->again != q->again || !dh_symex_lock_same_kind(p, q))
            return false;
    }
    return true;
}

static bool same_frame(const struct dh_symex *w, const struct dh_symex_activation *a,
                       const struct dh_symex_activation *b)
{
    const struct dh_symex_binding *all = w->state->bindings.at;
    bool same = a->function == b->function && a->thread == b->thread && a->multi == b->multi &&
                a->unwinding == b->unwinding && a->inside == b->inside && a->owners == b->owners &&
                a->n_bindings == b->n_bindings && a->from == b->from && a->in.started == b->in.started &&
                a->in.joined == b->in.joined && a->in.ended == b->in.ended && a->in.phase == b->in.phase &&
                a->in.alone == b->in.alone && a->in.ignoring == b->in.ignoring &&
                memcmp(a->attributes, b->attributes, sizeof a->attributes) == 0 &&
                memcmp(a->loops, b->loops, sizeof a->loops) == 0 && same_locks(&a->in, &b->in);
    for (uint32_t n = 0; same && a->binding != b->binding && n < a->n_bindings; n++)
        same = all[a->binding + n].node == all[b->binding + n].node &&
               all[a->binding + n].distance == all[b->binding + n].distance;
    return same;
}

static void grow_frames(struct dh_symex *w)
{
    struct dh_symex_state *s = w->state;
    s->frame_mask = s->frame_mask ? 2 * s->frame_mask + 1 : 1023;
    free(s->frame_slot);
    s->frame_slot = calloc(s->frame_mask + 1, sizeof *s->frame_slot);
    if (!s->frame_slot)
        abort();
    for (uint32_t n = 0; n < s->frames.n; n++) {
        size_t at = hash_frame(w, s->frames.at[n]) & s->frame_mask;
        while (s->frame_slot[at])
            at = (at + 1) & s->frame_mask;
        s->frame_slot[at] = n + 1;
    }
}

static void note_caller(struct dh_symex *w, uint32_t context, uint32_t caller, uint32_t call)
{
    struct dh_symex_state *s = w->state;
    const struct dh_context *c = &w->contexts.at[context];
    if (!s->recording || caller == DH_NONE || (c->caller == caller && c->call == call))
        return;
    while (s->callers_of.n <= context)
        dh_vec_push(&s->callers_of, 0);
    unsigned n = 0;
    for (uint32_t k = s->callers_of.at[context]; k; k = s->callers.at[k - 1].next)
        if ((s->callers.at[k - 1].caller == caller && s->callers.at[k - 1].call == call) || ++n > DH_CALLERS_MAX)
            return;
    if (n == DH_CALLERS_MAX)
        caller = call = DH_NONE; /* and others */
    dh_vec_push(&s->callers, ((struct dh_context_caller){caller, call, s->callers_of.at[context]}));
    s->callers_of.at[context] = (uint32_t)s->callers.n;
}

struct dh_symex_activation *dh_symex_get_activation(struct dh_symex *w, const struct dh_symex_activation *wanted,
                                                    uint32_t caller, uint32_t call)
{
    struct dh_symex_state *s = w->state;
    if (2 * s->frames.n >= s->frame_mask)
        grow_frames(w);
    size_t at = hash_frame(w, wanted) & s->frame_mask;
    for (; s->frame_slot[at]; at = (at + 1) & s->frame_mask) {
        struct dh_symex_activation *f = s->frames.at[s->frame_slot[at] - 1];
        if (!same_frame(w, f, wanted))
            continue;
        /* Forget the bindings that were made for the question. */
        if (wanted->own_bindings && wanted->binding + wanted->n_bindings == s->bindings.n)
            s->bindings.n = wanted->binding;
        note_caller(w, f->context, caller, call);
        return f;
    }
    struct dh_symex_activation *f = malloc(sizeof *f);
    if (!f)
        abort();
    *f = *wanted;
    f->status = DH_ACTIVATION_NEW;
    f->called = false;
    f->context = (uint32_t)w->contexts.n;
    dh_vec_push(&w->contexts, (struct dh_context){f->function, caller, call, f->thread});
    s->frame_slot[at] = (uint32_t)s->frames.n + 1;
    dh_vec_push(&s->frames, f);
    s->contexts_of[f->function]++;
    return f;
}
