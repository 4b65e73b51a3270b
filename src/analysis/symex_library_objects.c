/* Objects of the C++ library and what they own. Heuristics, all of them: accesses inside a library object are
 * attributed to the call (ir/model_library_objects.c); an object that the library constructs or destroys is not shared.
 */
#include "analysis/symex_internal.h"
#include "model/library_names.h"

void dh_symex_classify_functions(struct dh_symex *w)
{
    for (size_t n = 0; n < w->program->functions.n && !w->strict; n++) {
        const char *name = dh_program_string(w->program, w->program->functions.at[n].name);
        enum dh_library_class class = dh_library_class_of_member(name);
        w->state->library[n] = class == DH_LIBRARY_OWNER      ? DH_ROLE_OWNING_OBJECT
                               : dh_library_is_object(class)  ? DH_ROLE_LIBRARY_OBJECT
                               : dh_is_library_function(name) ? DH_ROLE_LIBRARY
                                                              : DH_ROLE_PROGRAM;
        w->state->has_library |= w->state->library[n] != DH_ROLE_PROGRAM;
    }
}

/* The first parameter, or a part of what it points to. */
static bool is_in_first_param(struct dh_symex_step *t, dh_value v)
{
    const struct dh_value_numbering *x = &t->w->state->values;
    uint32_t root = dh_value_term(&t->w->state->values, t->f->function, v).expr;
    root = dh_expr_base(x, root);
    return root && x->exprs.at[root].kind == DH_EXPR_PARAM && x->exprs.at[root].a == 0;
}

void dh_symex_enter_library_object(struct dh_symex_step *t, uint32_t target, uint32_t first,
                                   struct dh_symex_activation *callee)
{
    const struct dh_symex_state *s = t->w->state;
    bool construction = t->w->program->functions.at[target].flags & DH_FUNCTION_CONSTRUCTION;
    bool by_library = s->library[t->f->function] != DH_ROLE_PROGRAM && s->library[target] == DH_ROLE_PROGRAM;
    callee->in_library_object = s->library[target] >= DH_ROLE_LIBRARY_OBJECT ||
                                (s->library[target] == DH_ROLE_LIBRARY && t->f->in_library_object);
    callee->under_construction =
        (construction && by_library) || (t->f->under_construction && first < t->i->n_operands &&
                                         is_in_first_param(t, dh_operand(t->w->program, t->i, first)));
}

static bool is_slot(struct dh_symex *w, uint32_t function, dh_value v)
{
    uint32_t inst = dh_is_register(v) ? dh_symex_definitions(w, function)[v] : DH_NONE;
    return inst != DH_NONE && w->program->insts.at[inst].op == DH_I_SLOT;
}

bool dh_symex_is_library_access(struct dh_symex_step *t, dh_value address)
{
    const struct dh_value_numbering *x = &t->w->state->values;
    uint32_t made = DH_INST_LIBRARY | DH_INST_SYNTHETIC;
    if (!t->w->state->has_library || (t->i->flags & made) != made)
        return false;
    uint32_t root = dh_value_term(&t->w->state->values, t->f->function, address).expr;
    return root && x->exprs.at[root].kind == DH_EXPR_OBJECT && is_slot(t->w, t->f->function, x->exprs.at[root].b);
}

/* ---- elements ---- */

static uint32_t callee_of(const struct dh_program *p, const struct dh_inst *i)
{
    return i->op == DH_I_CALL && i->n_operands > 1 ? dh_value_function(p, dh_operand(p, i, 0)) : DH_NONE;
}

/* The container of an iterator that a call returns, or stores into `slot`. */
static dh_value iterated(struct dh_symex *w, uint32_t function, const struct dh_inst *i, dh_value slot)
{
    const struct dh_program *p = w->program;
    if (i->op == DH_I_STORE && dh_operand(p, i, 0) == slot && dh_is_register(dh_operand(p, i, 1))) {
        uint32_t inst = dh_symex_definitions(w, function)[dh_operand(p, i, 1)];
        const struct dh_inst *from = inst == DH_NONE ? NULL : &p->insts.at[inst];
        uint32_t callee = from ? callee_of(p, from) : DH_NONE;
        return callee != DH_NONE && w->state->library[callee] >= DH_ROLE_LIBRARY_OBJECT ? dh_operand(p, from, 1)
                                                                                        : DH_NONE;
    }
    uint32_t callee = callee_of(p, i);
    bool into = callee != DH_NONE && w->state->library[callee] >= DH_ROLE_LIBRARY_OBJECT && i->n_operands > 2 &&
                dh_operand(p, i, 1) == slot;
    return into ? dh_operand(p, i, 2) : DH_NONE;
}

/* The container that an iterator in a local variable iterates over, by what is stored there. */
dh_value dh_symex_iterated_container(struct dh_symex *w, uint32_t function, dh_value slot)
{
    const struct dh_program *p = w->program;
    const struct dh_function *f = &p->functions.at[function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t n = p->blocks.at[b].inst; n < p->blocks.at[b].inst + p->blocks.at[b].n_insts; n++) {
            dh_value object = iterated(w, function, &p->insts.at[n], slot);
            if (object != DH_NONE)
                return object;
        }
    return DH_NONE;
}

dh_value dh_symex_address_source(struct dh_symex *w, uint32_t function, const struct dh_inst *i)
{
    const struct dh_program *p = w->program;
    uint32_t callee = callee_of(p, i), made = DH_INST_LIBRARY | DH_INST_SYNTHETIC;
    if (i->op == DH_I_OFFSET || i->op == DH_I_COPY || i->op == DH_I_INDEX ||
        (i->op == DH_I_LOAD && (i->flags & made) == made))
        return dh_operand(p, i, 0);
    if (callee == DH_NONE || w->state->library[callee] == DH_ROLE_PROGRAM)
        return DH_NONE;
    dh_value object = dh_operand(p, i, 1);
    if (w->state->library[callee] == DH_ROLE_LIBRARY && is_slot(w, function, object))
        return dh_symex_iterated_container(w, function, object);
    return object;
}

/* ---- sole ownership ---- */

static bool is_private(struct dh_symex_step *t, dh_value v)
{
    struct dh_symex *w = t->w;
    struct dh_heap_cell at = dh_symex_bound_cell(w, t->f, dh_points_to_value(w->points_to, t->f->function, v));
    return at.node == DH_NO_NODE || !(w->points_to->graph.nodes.at[at.node].flags & DH_NODE_SHARED);
}

/* Returns a reference to what an object owns. A raw pointer may be kept elsewhere. */
static bool returns_owned(struct dh_symex *w, const struct dh_inst *i)
{
    uint32_t callee = callee_of(w->program, i);
    if (callee == DH_NONE || w->state->library[callee] != DH_ROLE_OWNING_OBJECT)
        return i->op == DH_I_LOAD;
    const char *name = dh_program_string(w->program, w->program->functions.at[callee].name);
    return !strstr(name, "10unique_ptrI") || !(strstr(name, "E3getEv") || strstr(name, "E7releaseEv"));
}

/* Heuristic: what a container or unique_ptr owns is reached through it alone, and this one is a variable that has
 * not escaped. */
bool dh_symex_is_solely_owned(struct dh_symex_step *t, dh_value v)
{
    enum { DEEPEST = 12 };
    struct dh_symex *w = t->w;
    const uint32_t *defined = dh_symex_definitions(w, t->f->function);
    uint32_t n_params = w->program->functions.at[t->f->function].n_params;
    bool owned = false;
    for (int depth = 0; depth < DEEPEST && w->state->has_library && dh_is_register(v); depth++) {
        if (v < n_params)
            return (v < DH_ATTRIBUTES_MAX && t->f->attributes[v] & DH_ARG_SOLELY_OWNED) || (owned && is_private(t, v));
        if (defined[v] == DH_NONE)
            return false;
        const struct dh_inst *i = &w->program->insts.at[defined[v]];
        if (i->op == DH_I_SLOT)
            return owned && is_private(t, v);
        dh_value from = dh_symex_address_source(w, t->f->function, i);
        owned |= from != DH_NONE && returns_owned(w, i);
        v = from;
    }
    return false;
}

uint32_t dh_symex_library_object_flags(struct dh_symex_step *t, dh_value address)
{
    uint32_t flags = t->f->under_construction && is_in_first_param(t, address) ? DH_SYMEX_CONSTRUCTION : 0;
    return flags | (t->w->state->second_pass && dh_symex_is_solely_owned(t, address) ? DH_SYMEX_SOLELY_OWNED : 0);
}
