/* Objects of the C++ library and what they own. Customs, all of them: what the library does inside of its objects is
 * put down to who uses them (ir/model_objects.c); what it makes or destroys, nobody else has. */
#include "analysis/walk_internal.h"
#include "model/library_names.h"

void dh_walk_find_library(struct dh_walk *w)
{
    for (size_t n = 0; n < w->program->functions.n && !w->strict; n++) {
        const char *name = dh_program_string(w->program, w->program->functions.at[n].name);
        enum dh_library_class class = dh_library_class_of(name);
        bool object = class == DH_LIBRARY_HOLDER || class == DH_LIBRARY_INLINE;
        w->state->library[n] = object ? DH_WALK_OBJECT : dh_is_of_library(name) ? DH_WALK_LIBRARY : DH_WALK_OWN;
        w->state->has_library |= w->state->library[n] != DH_WALK_OWN;
    }
}

/* The first parameter, or a part of what it points to. */
static bool is_of_first(struct dh_step *t, dh_value v)
{
    const struct dh_exprs *x = &t->w->state->exprs;
    uint32_t root = dh_exprs_value(&t->w->state->exprs, t->f->function, v).expr;
    while (root && x->exprs.at[root].kind == DH_EXPR_INDEX)
        root = x->exprs.at[root].a;
    return root && x->exprs.at[root].kind == DH_EXPR_PARAM && x->exprs.at[root].a == 0;
}

void dh_walk_objects(struct dh_step *t, uint32_t target, uint32_t first, struct dh_frame *callee)
{
    const struct dh_walk_state *s = t->w->state;
    bool construction = t->w->program->functions.at[target].flags & DH_FUNCTION_CONSTRUCTION;
    bool by_library = s->library[t->f->function] != DH_WALK_OWN && s->library[target] == DH_WALK_OWN;
    callee->inside = s->library[target] == DH_WALK_OBJECT || (s->library[target] == DH_WALK_LIBRARY && t->f->inside);
    callee->owners = (construction && by_library) || (t->f->owners && first < t->i->n_operands &&
                                                      is_of_first(t, dh_operand(t->w->program, t->i, first)));
}

uint32_t dh_walk_object_flags(struct dh_step *t, dh_value address)
{
    return t->f->owners && is_of_first(t, address) ? DH_EVENT_OWNERS : 0;
}
