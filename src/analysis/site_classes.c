#include "analysis/site_classes.h"

#include "analysis/symex_internal.h"
#include "base/alloc.h"

#include <stdlib.h>

enum class { GLOBAL, SHARED_RW, CONFLICT_OBJECT, CONFLICT_SITE, HEAP, HEAP_ARRAY, HEAP_SHARED, HEAP_CONFLICT, CLASSES };

static const char *const names[CLASSES] = {"global", "shared_rw",  "conflict",    "conflict_site",
                                           "heap",   "heap_array", "heap_shared", "heap_conflict"};

struct classes {
    struct dh_symex *w;
    uint32_t *of_inst; /* bits of enum class */
    struct per_node {
        bool written, conflicting;
    } *nodes;
};

/* ---- accesses ---- */

static unsigned addresses(const struct dh_inst *i)
{
    bool one = i->op == DH_I_LOAD || i->op == DH_I_STORE || i->op == DH_I_CAS || i->op == DH_I_RMW;
    return i->op == DH_I_MEMCPY ? 2 : one;
}

static void look_at(struct classes *c, const struct dh_symex_activation *f, uint32_t inst)
{
    const struct dh_program *p = c->w->program;
    const struct dh_inst *i = &p->insts.at[inst];
    for (unsigned n = 0; n < addresses(i); n++) {
        struct dh_heap_cell at =
            dh_symex_bound_cell(c->w, f, dh_points_to_value(c->w->points_to, f->function, dh_operand(p, i, n)));
        if (at.node != DH_NO_NODE && c->w->points_to->graph.nodes.at[at.node].flags & DH_NODE_GLOBAL)
            c->of_inst[inst] |= 1u << GLOBAL;
    }
}

static void look_at_frames(struct classes *c)
{
    const struct dh_program *p = c->w->program;
    for (size_t n = 0; n < c->w->state->activations.n; n++) {
        const struct dh_symex_activation *frame = c->w->state->activations.at[n];
        const struct dh_function *f = &p->functions.at[frame->function];
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
            for (uint32_t i = 0; i < p->blocks.at[b].n_insts; i++)
                look_at(c, frame, p->blocks.at[b].inst + i);
    }
}

static void look_at_events(struct classes *c, const struct dh_conflicts *found)
{
    const struct dh_symex *w = c->w;
    for (size_t i = 0; i < w->events.n; i++)
        if (w->events.at[i].kind == DH_SYMEX_WRITE && !(w->events.at[i].flags & DH_SYMEX_FRESH))
            c->nodes[w->events.at[i].node].written = true;
    for (size_t i = 0; i < found->found.n; i++) {
        const struct dh_conflict *x = &found->found.at[i];
        c->nodes[x->node].conflicting = true;
        c->of_inst[w->events.at[x->first].inst] |= 1u << CONFLICT_SITE;
        c->of_inst[w->events.at[x->second].inst] |= 1u << CONFLICT_SITE;
    }
    for (size_t i = 0; i < w->events.n; i++) {
        const struct dh_symex_event *e = &w->events.at[i];
        if (e->kind > DH_SYMEX_WRITE)
            continue;
        c->of_inst[e->inst] |= 1u << GLOBAL; /* the walk has events of shared objects only */
        c->of_inst[e->inst] |= (uint32_t)c->nodes[e->node].written << SHARED_RW;
        c->of_inst[e->inst] |= (uint32_t)c->nodes[e->node].conflicting << CONFLICT_OBJECT;
    }
}

/* ---- allocations ---- */

static void look_at_object(struct classes *c, uint32_t node)
{
    const struct dh_heap_graph *g = &c->w->points_to->graph;
    const struct dh_heap_node *n = &g->nodes.at[node];
    uint32_t bits = 1u << HEAP | (uint32_t)(n->n_folds > 0) << HEAP_ARRAY |
                    (uint32_t)((n->flags & DH_NODE_SHARED) != 0) << HEAP_SHARED |
                    (uint32_t)c->nodes[node].conflicting << HEAP_CONFLICT;
    uint32_t first = n->origin, at = first;
    for (bool again = first != DH_NO_NODE; again; again = at != first) {
        const struct dh_heap_origin *o = &g->origins.at[at];
        if (o->kind == DH_ORIGIN_ALLOC)
            c->of_inst[o->index] |= bits;
        at = o->next;
    }
}

/* ---- telling ---- */

static void print_class(struct dh_str *out, const struct classes *c, enum class class)
{
    const struct dh_program *p = c->w->program;
    bool first = true;
    dh_str_addf(out, "%s\"%s\":[", class ? "," : "{", names[class]);
    for (size_t i = 0; i < p->insts.n; i++) {
        if (!(c->of_inst[i] >> class & 1) || p->insts.at[i].site == DH_NO_SITE)
            continue;
        dh_str_addf(out, "%s%u", first ? "" : ",", p->insts.at[i].site);
        first = false;
    }
    dh_str_add(out, "]");
}

void dh_site_classes_print(struct dh_str *out, const struct dh_conflicts *found)
{
    struct classes c = {.w = found->symex};
    const struct dh_heap_graph *g = &c.w->points_to->graph;
    c.of_inst = dh_xcalloc(c.w->program->insts.n, sizeof *c.of_inst);
    c.nodes = dh_xcalloc(g->nodes.n, sizeof *c.nodes);
    look_at_events(&c, found);
    look_at_frames(&c);
    for (uint32_t n = 0; n < g->nodes.n; n++)
        if (g->nodes.at[n].parent == n)
            look_at_object(&c, n);
    for (int n = 0; n < CLASSES; n++)
        print_class(out, &c, (enum class)n);
    dh_str_add(out, "}");
    free(c.of_inst);
    free(c.nodes);
}
