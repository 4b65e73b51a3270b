#include "analysis/statistics.h"

#include "analysis/symex_internal.h"
#include "base/alloc.h"

#include <stdlib.h>

enum sort { CLASS, INSTANCE, ARRAY, SORTS, NEITHER = SORTS };

/* Objects of one sort. */
struct objects {
    unsigned global, shared, unique, own_thread, own_object, rw, conflicting;
};

struct measures {
    const struct dh_conflicts *c;
    const struct dh_symex *w;
    struct per_node {
        uint32_t events, writes, own;
        bool conflicting;
    } *nodes;
    struct objects objects[SORTS];
    unsigned allocs[3], accesses[3]; /* of objects with events, that are written and shared, that are in conflict */
    DH_VEC(uint64_t) pairs;          /* object and instruction */
    DH_VEC(uint32_t) sizes;          /* events of each object */
};

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* ---- objects ---- */

/* Constants, functions and what the library keeps are no objects of the program. */
static enum sort sort_of(const struct measures *m, uint32_t node, unsigned *allocs)
{
    const struct dh_heap_graph *g = &m->w->points_to->graph;
    const struct dh_program *p = m->w->program;
    uint32_t first = g->nodes.at[node].origin, at = first;
    bool global = false;
    *allocs = 0;
    for (bool again = first != DH_NO_NODE; again; again = at != first) {
        const struct dh_heap_origin *o = &g->origins.at[at];
        bool variable = o->kind == DH_ORIGIN_GLOBAL &&
                        !(p->globals.at[o->index].flags & (DH_GLOBAL_CONSTANT | DH_GLOBAL_HIDDEN | DH_GLOBAL_VTABLE));
        global |= variable;
        *allocs += variable || o->kind == DH_ORIGIN_ALLOC || o->kind == DH_ORIGIN_SLOT;
        at = o->next;
    }
    if (!*allocs)
        return NEITHER;
    return g->nodes.at[node].n_folds ? ARRAY : global ? CLASS : INSTANCE;
}

static void count_object(struct measures *m, uint32_t node)
{
    const struct dh_heap_node *n = &m->w->points_to->graph.nodes.at[node];
    const struct per_node *e = &m->nodes[node];
    unsigned allocs;
    enum sort sort = sort_of(m, node, &allocs);
    if (sort == NEITHER)
        return;
    struct objects *o = &m->objects[sort];
    bool shared = n->flags & DH_NODE_SHARED, rw = shared && e->writes;
    o->global += (n->flags & DH_NODE_GLOBAL) != 0;
    o->shared += shared;
    o->unique += (n->flags & DH_NODE_GLOBAL) && dh_symex_is_unique(m->w, node);
    o->own_thread += shared && e->events && e->own == e->events;
    o->own_object += shared && n->flags & DH_NODE_HEAP && !m->w->multiply_referenced[node];
    o->rw += rw;
    o->conflicting += e->conflicting;
    if (e->events)
        dh_vec_push(&m->sizes, e->events);
    m->allocs[0] += e->events ? allocs : 0;
    m->allocs[1] += rw ? allocs : 0;
    m->allocs[2] += e->conflicting ? allocs : 0;
}

static void count_events(struct measures *m)
{
    uint32_t own = DH_SYMEX_OWN | DH_SYMEX_OWN_REACHED | DH_SYMEX_OWN_NEAR | DH_SYMEX_ALLOCATED_HERE;
    for (size_t i = 0; i < m->w->events.n; i++) {
        const struct dh_symex_event *e = &m->w->events.at[i];
        if (e->kind > DH_SYMEX_WRITE)
            continue;
        struct per_node *n = &m->nodes[e->node];
        n->events++;
        n->writes += e->kind == DH_SYMEX_WRITE && !(e->flags & DH_SYMEX_FRESH);
        n->own += (e->flags & own) != 0;
        dh_vec_push(&m->pairs, (uint64_t)e->node << 32 | e->inst);
    }
    for (size_t i = 0; i < m->c->found.n; i++)
        m->nodes[m->c->found.at[i].node].conflicting = true;
    if (m->pairs.n)
        qsort(m->pairs.at, m->pairs.n, sizeof *m->pairs.at, by_number);
    for (size_t i = 0; i < m->pairs.n; i++) {
        uint32_t node = (uint32_t)(m->pairs.at[i] >> 32);
        if (i && m->pairs.at[i] == m->pairs.at[i - 1])
            continue;
        bool shared = m->w->points_to->graph.nodes.at[node].flags & DH_NODE_SHARED;
        m->accesses[0]++;
        m->accesses[1] += shared && m->nodes[node].writes;
    }
}

/* ---- conflicts ---- */

struct fields {
    unsigned classes[4], n, most, accesses;
};

static int by_place(const void *a, const void *b)
{
    const struct dh_conflict *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Accesses of a field: the instructions of its conflicts, each once. */
static unsigned count_accesses(const struct measures *m, const struct dh_conflict *all, size_t n)
{
    uint64_t *insts = dh_xcalloc(2 * n, sizeof *insts);
    unsigned different = 0;
    for (size_t i = 0; i < n; i++) {
        insts[2 * i] = m->w->events.at[all[i].first].inst;
        insts[2 * i + 1] = m->w->events.at[all[i].second].inst;
    }
    qsort(insts, 2 * n, sizeof *insts, by_number);
    for (size_t i = 0; i < 2 * n; i++)
        different += !i || insts[i] != insts[i - 1];
    free(insts);
    return different;
}

static struct fields count_fields(struct measures *m)
{
    struct fields f = {.n = 0};
    size_t n = m->c->found.n;
    struct dh_conflict *all = dh_xcalloc(n, sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = m->c->found.at[i];
    qsort(all, n, sizeof *all, by_place);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_place(&all[i], &all[end]) == 0; end++)
            ;
        unsigned accesses = count_accesses(m, &all[i], end - i);
        f.n++;
        f.classes[all[i].class]++;
        f.accesses += accesses;
        f.most = accesses > f.most ? accesses : f.most;
    }
    m->accesses[2] = f.accesses;
    free(all);
    return f;
}

/* ---- the walk ---- */

static unsigned reached(const struct dh_symex *w, size_t *insts)
{
    const struct dh_program *p = w->program;
    uint8_t *seen = dh_xcalloc(p->functions.n, 1);
    unsigned n = 0;
    *insts = 0;
    for (size_t i = 0; i < w->state->activations.n; i++) {
        uint32_t f = w->state->activations.at[i]->function;
        if (seen[f])
            continue;
        seen[f] = 1;
        n++;
        for (uint32_t b = 0; b < p->functions.at[f].n_blocks; b++)
            *insts += p->blocks.at[p->functions.at[f].block + b].n_insts;
    }
    free(seen);
    return n;
}

static void print_objects(struct dh_str *out, const char *name, const struct objects *o)
{
    dh_str_addf(
        out,
        ",\"%s\":{\"global\":%u,\"shared\":%u,\"unique\":%u,\"thread\":%u,\"object\":%u,\"rw\":%u,\"conflict\":%u}",
        name, o->global, o->shared, o->unique, o->own_thread, o->own_object, o->rw, o->conflicting);
}

static void print_counts(struct dh_str *out, const char *name, const unsigned *three)
{
    dh_str_addf(out, ",\"%s\":[%u,%u,%u]", name, three[0], three[1], three[2]);
}

static void print_sizes(struct dh_str *out, struct measures *m)
{
    uint64_t sum = 0;
    size_t n = m->sizes.n;
    if (n)
        qsort(m->sizes.at, n, sizeof *m->sizes.at, by_size);
    for (size_t i = 0; i < n; i++)
        sum += m->sizes.at[i];
    dh_str_addf(out, ",\"uses\":{\"objects\":%zu,\"max\":%u,\"average\":%.1f,\"median\":%u}", n,
                n ? m->sizes.at[n - 1] : 0, n ? (double)sum / (double)n : 0.0, n ? m->sizes.at[n / 2] : 0);
}

void dh_statistics_print(struct dh_str *out, const struct dh_conflicts *c)
{
    struct measures m = {.c = c, .w = c->symex};
    const struct dh_symex *w = c->symex;
    const struct dh_heap_graph *g = &w->points_to->graph;
    size_t insts, created = 0;
    unsigned functions = reached(w, &insts);
    m.nodes = dh_xcalloc(g->nodes.n, sizeof *m.nodes);
    count_events(&m);
    for (uint32_t n = 0; n < g->nodes.n; n++)
        if (g->nodes.at[n].parent == n)
            count_object(&m, n);
    struct fields f = count_fields(&m);
    for (size_t n = 0; n < w->threads.n; n++)
        created += w->threads.at[n].kind == DH_ROOT_COUNT || w->threads.at[n].kind == DH_ROOT_MAIN;
    dh_str_addf(out, "{\"functions\":%u,\"instructions\":%zu,\"user_threads\":%zu,\"other_threads\":%zu,\"nodes\":%zu",
                functions, insts, created, w->threads.n - created, g->nodes.n);
    dh_str_addf(out, ",\"merged\":%u,\"contexts\":%zu,\"clipped\":%llu,\"cached\":%llu,\"steps\":%llu,\"events\":%zu",
                w->n_widened, w->state->activations.n, (unsigned long long)w->n_pruned, (unsigned long long)w->n_cached,
                (unsigned long long)w->steps, w->events.n);
    print_objects(out, "class", &m.objects[CLASS]);
    print_objects(out, "instance", &m.objects[INSTANCE]);
    print_objects(out, "array", &m.objects[ARRAY]);
    print_counts(out, "allocs", m.allocs);
    print_counts(out, "accesses", m.accesses);
    print_sizes(out, &m);
    dh_str_addf(out,
                ",\"fields\":{\"no-read\":%u,\"lock-not-unique\":%u,\"all-writes-locked\":%u,\"other\":%u,\"n\":%u,"
                "\"max\":%u,\"average\":%.1f}",
                f.classes[0], f.classes[1], f.classes[2], f.classes[3], f.n, f.most,
                f.n ? (double)f.accesses / f.n : 0.0);
    dh_str_addf(out, ",\"put_aside\":{\"fresh\":%llu,\"start\":%llu,\"join\":%llu,\"pairs\":%llu}}",
                (unsigned long long)c->by_argument[DH_ARGUMENT_FRESH],
                (unsigned long long)c->by_argument[DH_ARGUMENT_START],
                (unsigned long long)c->by_argument[DH_ARGUMENT_JOIN], (unsigned long long)c->pairs);
    free(m.nodes);
    dh_vec_release(&m.pairs);
    dh_vec_release(&m.sizes);
}
