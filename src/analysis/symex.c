/* Symbolic execution: abstract threads and the two passes over the program. */
#include "analysis/atomic_barriers.h"
#include "analysis/atomic_sync.h"
#include "analysis/std_thread_lifetime.h"
#include "analysis/symex_internal.h"
#include "base/alloc.h"

#define STEPS_MAX 400000000ull

void dh_symex_init(struct dh_symex *w, struct dh_points_to *s)
{
    const struct dh_program *p = s->program;
    *w = (struct dh_symex){.program = p, .points_to = s, .max_steps = STEPS_MAX};
    w->allocations = dh_xcalloc(s->graph.nodes.n, 1);
    w->multiply_referenced = dh_xcalloc(s->graph.nodes.n, 1);
    struct dh_symex_state *t = w->state = dh_xcalloc(1, sizeof *t);
    dh_value_numbering_init(&t->values, p);
    dh_lock_pair_order_init(&t->pairs, p);
    dh_vec_push(&w->loops, (struct dh_element_loop){0});
    t->allocation_count = dh_xcalloc(s->graph.nodes.n, 1);
    t->summaries = dh_xcalloc(p->functions.n, sizeof *t->summaries);
    t->interfaces = dh_xcalloc(s->calls.n_sccs, sizeof *t->interfaces);
    t->interface_number = dh_xcalloc(s->graph.nodes.n, sizeof *t->interface_number);
    t->accessed = dh_xcalloc(s->graph.nodes.n, sizeof *t->accessed);
    t->cfgs = dh_xcalloc(p->functions.n, sizeof *t->cfgs);
    t->defined = dh_xcalloc(p->functions.n, sizeof *t->defined);
    t->reached_from = dh_xcalloc(p->functions.n, sizeof *t->reached_from);
    t->returned_params = dh_xcalloc(p->functions.n, sizeof *t->returned_params);
    t->cleanups = dh_xcalloc(p->functions.n, sizeof *t->cleanups);
    t->create_count = dh_xcalloc(DH_ABSTRACT_THREADS_MAX, sizeof *t->create_count);
    t->n_activations = dh_xcalloc(p->functions.n, sizeof *t->n_activations);
    t->library = dh_xcalloc(p->functions.n, 1);
    t->widened = dh_xcalloc(p->functions.n, sizeof *t->widened);
    t->handles = dh_xcalloc(DH_ABSTRACT_THREADS_MAX, sizeof *t->handles);
    dh_atomic_sync_init(&t->atomics, w);
}

static void forget_activations(struct dh_symex *w)
{
    struct dh_symex_state *s = w->state;
    for (size_t n = 0; n < s->activations.n; n++)
        free(s->activations.at[n]);
    s->activations.n = s->bindings.n = 0;
    for (size_t n = 0; n < w->program->functions.n; n++) {
        s->n_activations[n] = 0;
        for (size_t t = 0; s->widened[n] && t < DH_ABSTRACT_THREADS_MAX; t++)
            free(s->widened[n][t]);
        free(s->widened[n]);
        s->widened[n] = NULL;
    }
    dh_index_clear(&s->activation_index);
}

void dh_symex_release(struct dh_symex *w)
{
    struct dh_symex_state *s = w->state;
    forget_activations(w);
    for (size_t f = 0; f < w->program->functions.n; f++) {
        if (s->cfgs[f])
            dh_cfg_release(s->cfgs[f]);
        free(s->cfgs[f]);
        free(s->defined[f]);
        free(s->reached_from[f]);
        free(s->cleanups[f]);
    }
    for (uint32_t g = 0; g < w->points_to->calls.n_sccs; g++)
        dh_vec_release(&s->interfaces[g].nodes);
    void *all[] = {s->summaries,   s->interfaces,          s->interface_number, s->accessed,      s->cfgs,
                   s->cleanups,    s->returned_params,     s->defined,          s->create_count,  s->handles,
                   w->allocations, w->multiply_referenced, s->allocation_count, s->n_activations, s->widened,
                   s->library,     s->reached_from};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        free(all[n]);
    dh_atomic_sync_release(&s->atomics);
    free(s->atomic_barriers);
    dh_value_numbering_release(&s->values);
    dh_joins_release(&s->joins);
    dh_heuristic_joins_release(&s->ends);
    dh_vec_release(&s->activations);
    dh_index_release(&s->activation_index);
    dh_index_release(&s->lockset_index);
    dh_index_release(&s->event_index);
    dh_lock_pair_order_release(&s->pairs);
    dh_vec_release(&s->bindings);
    dh_vec_release(&s->callers);
    dh_vec_release(&s->callers_of);
    dh_vec_release(&s->barriers);
    dh_vec_release(&s->unstable);
    dh_vec_release(&s->queue);
    dh_vec_release(&s->deferred);
    dh_vec_release(&w->threads);
    dh_vec_release(&w->events);
    dh_vec_release(&w->held);
    dh_vec_release(&w->locksets);
    dh_vec_release(&w->orders);
    dh_vec_release(&w->contexts);
    dh_vec_release(&w->loops);
    dh_vec_release(&w->event_contexts);
    dh_vec_release(&w->context_calls);
    free(s);
}

bool dh_symex_is_unique(const struct dh_symex *w, uint32_t node)
{
    const struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t first = g->nodes.at[node].origin, at = first;
    unsigned globals = 0, others = 0;
    if (first == DH_NO_NODE)
        return false;
    do {
        const struct dh_heap_origin *o = &g->origins.at[at];
        if (o->kind == DH_ORIGIN_GLOBAL)
            globals += w->program->globals.at[o->index].flags & DH_GLOBAL_TLS ? 2 : 1;
        else if (o->kind != DH_ORIGIN_FUNCTION)
            others = 1;
        at = o->next;
    } while (at != first);
    return globals + (others ? w->allocations[node] : 0) == 1 && (!others || w->allocations[node]);
}

static const struct dh_symex_event *events_to_sort;
static int compare_places(const void *a, const void *b)
{
    const struct dh_symex_event *x = &events_to_sort[*(const uint32_t *)a], *y = &events_to_sort[*(const uint32_t *)b];
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

void dh_symex_sort_by_place(const struct dh_symex *w, uint32_t *events, size_t n)
{
    events_to_sort = w->events.at;
    if (n)
        qsort(events, n, sizeof *events, compare_places);
}

/* ---- threads ---- */

static void add_thread(struct dh_symex *w, struct dh_abstract_thread t)
{
    if (w->threads.n == DH_ABSTRACT_THREADS_MAX) {
        w->incomplete = true; /* the last one stands for the rest */
        w->threads.at[DH_ABSTRACT_THREADS_MAX - 1].unique = false;
        return;
    }
    t.joined_at_start = t.joined_at_start_heuristic = ~(dh_thread_set)0;
    t.owner = DH_THREAD_OWNER_UNKNOWN;
    dh_vec_push(&w->threads, t);
}

static bool is_sequential(uint32_t kind)
{
    return kind == DH_ROOT_CONSTRUCTOR || kind == DH_ROOT_DESTRUCTOR || kind == DH_ROOT_EXIT;
}

static bool runs_once(uint32_t kind)
{
    return kind == DH_ROOT_MAIN || is_sequential(kind);
}

/* A handler that is registered in several places is one thread that may run at any time. */
static bool is_registered(struct dh_symex *w, uint32_t kind, uint32_t function)
{
    for (size_t n = 0; n < w->threads.n; n++)
        if (w->threads.at[n].kind == kind && w->threads.at[n].function == function && kind != DH_ROOT_COUNT) {
            w->threads.at[n].inst = DH_NONE;
            w->threads.at[n].unique = false;
            return true;
        }
    return false;
}

static void find_threads(struct dh_symex *w)
{
    struct dh_points_to *s = w->points_to;
    for (size_t n = 0; n < w->program->roots.n; n++) {
        const struct dh_root *r = &w->program->roots.at[n];
        if (w->program->functions.at[r->function].n_blocks)
            add_thread(w, (struct dh_abstract_thread){.kind = r->kind,
                                                      .inst = DH_NONE,
                                                      .function = r->function,
                                                      .instance = s->common_instance[r->function],
                                                      .unique = runs_once(r->kind),
                                                      .sequential = is_sequential(r->kind)});
    }
    for (size_t n = 0; n < s->instances.n; n++) {
        const struct dh_common_instance *in = &s->instances.at[n];
        if (in->inst == DH_NONE || !w->program->functions.at[in->function].n_blocks)
            continue;
        const struct dh_inst *i = &w->program->insts.at[in->inst];
        uint32_t kind = i->op == DH_I_REGISTER ? i->extra : DH_ROOT_COUNT;
        if (!is_registered(w, kind, in->function))
            add_thread(w, (struct dh_abstract_thread){.kind = kind,
                                                      .inst = in->inst,
                                                      .function = in->function,
                                                      .instance = (uint32_t)n,
                                                      .sequential = is_sequential(kind)});
    }
}

/* ---- the two passes ---- */

static void run_thread(struct dh_symex *w, uint32_t thread)
{
    const struct dh_abstract_thread *t = &w->threads.at[thread];
    struct dh_symex_activation wanted = {.function = t->function, .thread = thread};
    if (t->instance == DH_NONE)
        return;
    dh_symex_bind_instance(w, &w->points_to->instances.at[t->instance], &wanted);
    wanted.in = (struct dh_state){
        .reached = true, .phase = 1, .joined = ~(dh_thread_set)0, .joined_heuristic = ~(dh_thread_set)0};
    bool own = w->state->second_pass && (t->own_argument || t->unique) && t->kind == DH_ROOT_COUNT;
    for (uint32_t n = 0; own && n < w->program->functions.at[t->function].n_params && n < DH_ATTRIBUTES_MAX; n++)
        wanted.attributes[n] = DH_ARG_OWN;
    struct dh_symex_activation *f = dh_symex_get_activation(w, &wanted, DH_NONE, DH_NONE);
    if (f->status == DH_ACTIVATION_NEW)
        dh_symex_run_function(w, f);
    while (w->state->deferred.n) {
        f = w->state->deferred.at[--w->state->deferred.n];
        if (f->status == DH_ACTIVATION_NEW)
            dh_symex_run_function(w, f);
    }
}

static void run_pass(struct dh_symex *w)
{
    uint8_t done[DH_ABSTRACT_THREADS_MAX] = {0};
    struct dh_symex_state *s = w->state;
    forget_activations(w);
    memset(s->create_count, 0, DH_ABSTRACT_THREADS_MAX * sizeof *s->create_count);
    memset(s->allocation_count, 0, w->points_to->graph.nodes.n);
    w->contexts.n = 0;
    w->n_widened = 0;
    w->n_pruned = w->n_cached = 0;
    w->steps = 0;
    w->n_threads_left = 0;
    s->queue.n = 0;
    for (size_t n = 0; n < w->threads.n; n++) {
        w->threads.at[n].own_argument = w->threads.at[n].own_argument || !s->second_pass;
        if (w->threads.at[n].inst == DH_NONE)
            dh_vec_push(&s->queue, (uint32_t)n);
    }
    for (size_t n = 0; n < s->queue.n; n++) {
        uint32_t t = s->queue.at[n];
        bool left = !done[t] && dh_time_limit_over(w->limit);
        w->n_threads_left += left;
        w->incomplete |= left;
        if (!done[t] && !left)
            run_thread(w, t);
        done[t] = 1;
    }
    memcpy(w->allocations, s->allocation_count, w->points_to->graph.nodes.n);
}

static int by_place(const void *a, const void *b)
{
    const struct dh_heap_cell *p = a, *q = b;
    if (p->node != q->node)
        return p->node < q->node ? -1 : 1;
    return (p->offset > q->offset) - (p->offset < q->offset);
}

/* A handler that is registered once may still run in several threads at once. For signal handlers this is rare: only
 * proofs consider it. */
static bool may_be_unique(const struct dh_symex *w, uint32_t kind)
{
    return kind == DH_ROOT_COUNT || is_sequential(kind) || (kind == DH_ROOT_SIGNAL_HANDLER && !w->strict);
}

static void apply_first_pass(struct dh_symex *w)
{
    for (size_t n = 0; n < w->threads.n; n++)
        if (w->threads.at[n].inst != DH_NONE)
            w->threads.at[n].unique = w->state->create_count[n] == 1 && may_be_unique(w, w->threads.at[n].kind);
    if (w->state->unstable.n)
        qsort(w->state->unstable.at, w->state->unstable.n, sizeof *w->state->unstable.at, by_place);
}

/* The first pass only prepares the second, which is to have most of the time. */
static void run_first_pass(struct dh_symex *w)
{
    struct dh_time_limit whole = w->limit ? *w->limit : (struct dh_time_limit){0};
    uint64_t now = dh_time_limit_now();
    if (whole.at_ns > now)
        w->limit->at_ns = now + (whole.at_ns - now) / 3;
    run_pass(w);
    if (w->limit)
        *w->limit = whole;
}

void dh_symex_run(struct dh_symex *w)
{
    struct dh_symex_state *s = w->state;
    dh_symex_classify_functions(w);
    const struct dh_call_graph *c = &w->points_to->calls;
    for (size_t n = 0; n < w->program->functions.n; n++)
        dh_function_terms(&s->values, c->order[n]);
    dh_joins_find(&s->joins, &s->values, c->order);
    dh_std_thread_find_joins(&s->joins, &s->values);
    dh_heuristic_joins_find(&s->ends, w->points_to);
    dh_symex_find_interfaces(w);
    find_threads(w);
    dh_symex_find_shared(w);
    dh_symex_summarise_functions(w);
    run_first_pass(w);
    apply_first_pass(w);
    dh_atomic_sync_index_uses(&s->atomics);
    s->atomic_barriers = dh_atomic_barriers_find(w);
    dh_symex_find_shared(w);
    dh_symex_summarise_functions(w);
    s->second_pass = true;
    dh_symex_intern_lockset(w, NULL, 0);
    run_pass(w);
}
