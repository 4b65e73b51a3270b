#include "analysis/alias_filter.h"

#include "analysis/points_to_andersen.h"

/* Which operand of an instruction is the event's address; DH_NONE: none, or unknown. */
static uint32_t address_of(const struct dh_inst *i, uint32_t kind)
{
    switch (i->op) {
    case DH_I_MEMCPY:
        return kind == DH_SYMEX_READ;
    case DH_I_LOAD:
    case DH_I_STORE:
    case DH_I_RMW:
    case DH_I_CAS:
    case DH_I_MEMSET:
    case DH_I_REALLOC:
    case DH_I_FREE:
    case DH_I_CREATE:
        return 0;
    case DH_I_WAIT:
        return DH_NONE;
    default:
        return dh_inst_class(i) == DH_CLASS_SYNC ? 0 : DH_NONE;
    }
}

static bool find_pointed(const struct dh_symex *w, uint32_t inst, uint32_t kind, uint32_t size,
                         struct dh_pointer_range *to)
{
    const struct dh_program *p = w->program;
    uint32_t at = inst < p->insts.n ? address_of(&p->insts.at[inst], kind) : DH_NONE;
    if (at == DH_NONE || at >= p->insts.at[inst].n_operands)
        return false;
    *to = (struct dh_pointer_range){p->blocks.at[dh_program_block_of(p, inst)].function,
                                    dh_operand(p, &p->insts.at[inst], at), size};
    return true;
}

/* Several objects were merged, or offsets are lost. */
static bool is_united(const struct dh_symex *w, uint32_t node)
{
    const struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t origin = g->nodes.at[node].origin;
    return g->nodes.at[node].flags & DH_NODE_COLLAPSED ||
           (origin != DH_NO_NODE && g->origins.at[origin].next != origin);
}

bool dh_events_never_alias(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    struct dh_pointer_range x, y;
    return w->andersen && is_united(w, a->node) && find_pointed(w, a->inst, a->kind, a->size, &x) &&
           find_pointed(w, b->inst, b->kind, b->size, &y) && dh_andersen_never_alias(w->andersen, &x, &y);
}

bool dh_node_is_library_state(const struct dh_symex *w, uint32_t node)
{
    const struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t first = g->nodes.at[node].origin, at = first;
    if (first == DH_NO_NODE)
        return false;
    do {
        const struct dh_heap_origin *o = &g->origins.at[at];
        if (o->kind != DH_ORIGIN_GLOBAL || !(w->program->globals.at[o->index].flags & DH_GLOBAL_HIDDEN))
            return false;
        at = o->next;
    } while (at != first);
    return true;
}
