/* Objects of the C++ library and what they own. Customs, all of them: what the library does inside of its objects is
 * put down to who uses them (ir/model_library_objects.c); what it makes or destroys, nobody else has. */
#include "analysis/symex_internal.h"
#include "model/library_names.h"

void dh_walk_find_library(struct dh_walk *w)
{
    for (size_t n = 0; n < w->program->functions.n && !w->strict; n++) {
        const char *name = dh_program_string(w->program, w->program->functions.at[n].name);
        enum dh_library_class class = dh_library_class_of(name);
        w->state->library[n] = class == DH_LIBRARY_HOLDER    ? DH_WALK_OWNER
                               : dh_library_is_object(class) ? DH_WALK_OBJECT
                               : dh_is_of_library(name)      ? DH_WALK_LIBRARY
                                                             : DH_WALK_OWN;
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
    callee->inside = s->library[target] >= DH_WALK_OBJECT || (s->library[target] == DH_WALK_LIBRARY && t->f->inside);
    callee->owners = (construction && by_library) || (t->f->owners && first < t->i->n_operands &&
                                                      is_of_first(t, dh_operand(t->w->program, t->i, first)));
}

static bool is_slot(struct dh_walk *w, uint32_t function, dh_value v)
{
    uint32_t inst = dh_is_register(v) ? dh_walk_defined(w, function)[v] : DH_NONE;
    return inst != DH_NONE && w->program->insts.at[inst].op == DH_I_SLOT;
}

bool dh_walk_is_own_work(struct dh_step *t, dh_value address)
{
    const struct dh_exprs *x = &t->w->state->exprs;
    uint32_t made = DH_INST_LIBRARY | DH_INST_MADE;
    if (!t->w->state->has_library || (t->i->flags & made) != made)
        return false;
    uint32_t root = dh_exprs_value(&t->w->state->exprs, t->f->function, address).expr;
    return root && x->exprs.at[root].kind == DH_EXPR_OBJECT && is_slot(t->w, t->f->function, x->exprs.at[root].b);
}

/* ---- elements ---- */

static uint32_t callee_of(const struct dh_program *p, const struct dh_inst *i)
{
    return i->op == DH_I_CALL && i->n_operands > 1 ? dh_value_function(p, dh_operand(p, i, 0)) : DH_NONE;
}

/* The object that a call of one of its functions is about, if its result is an iterator: itself, or put into `slot`. */
static dh_value iterated(struct dh_walk *w, uint32_t function, const struct dh_inst *i, dh_value slot)
{
    const struct dh_program *p = w->program;
    if (i->op == DH_I_STORE && dh_operand(p, i, 0) == slot && dh_is_register(dh_operand(p, i, 1))) {
        uint32_t inst = dh_walk_defined(w, function)[dh_operand(p, i, 1)];
        const struct dh_inst *from = inst == DH_NONE ? NULL : &p->insts.at[inst];
        uint32_t callee = from ? callee_of(p, from) : DH_NONE;
        return callee != DH_NONE && w->state->library[callee] >= DH_WALK_OBJECT ? dh_operand(p, from, 1) : DH_NONE;
    }
    uint32_t callee = callee_of(p, i);
    bool into = callee != DH_NONE && w->state->library[callee] >= DH_WALK_OBJECT && i->n_operands > 2 &&
                dh_operand(p, i, 1) == slot;
    return into ? dh_operand(p, i, 2) : DH_NONE;
}

/* An iterator lies in a variable: over which object it goes, by who puts it there. */
dh_value dh_walk_iterated(struct dh_walk *w, uint32_t function, dh_value slot)
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

dh_value dh_walk_source(struct dh_walk *w, uint32_t function, const struct dh_inst *i)
{
    const struct dh_program *p = w->program;
    uint32_t callee = callee_of(p, i), made = DH_INST_LIBRARY | DH_INST_MADE;
    if (i->op == DH_I_OFFSET || i->op == DH_I_COPY || i->op == DH_I_INDEX ||
        (i->op == DH_I_LOAD && (i->flags & made) == made))
        return dh_operand(p, i, 0);
    if (callee == DH_NONE || w->state->library[callee] == DH_WALK_OWN)
        return DH_NONE;
    dh_value object = dh_operand(p, i, 1);
    if (w->state->library[callee] == DH_WALK_LIBRARY && is_slot(w, function, object))
        return dh_walk_iterated(w, function, object);
    return object;
}

/* ---- what only one can get at ---- */

static bool is_private(struct dh_step *t, dh_value v)
{
    struct dh_walk *w = t->w;
    struct dh_cell at = dh_walk_place(w, t->f, dh_shapes_value(w->shapes, t->f->function, v));
    return at.node == DH_NO_NODE || !(w->shapes->graph.nodes.at[at.node].flags & DH_NODE_SHARED);
}

/* One of these gives a reference to what an object owns. Who asks for the bare pointer may keep it. */
static bool gives_owned(struct dh_walk *w, const struct dh_inst *i)
{
    uint32_t callee = callee_of(w->program, i);
    if (callee == DH_NONE || w->state->library[callee] != DH_WALK_OWNER)
        return i->op == DH_I_LOAD;
    const char *name = dh_program_string(w->program, w->program->functions.at[callee].name);
    return !strstr(name, "10unique_ptrI") || !(strstr(name, "E3getEv") || strstr(name, "E7releaseEv"));
}

/* By custom, what a container or unique_ptr owns is reached through it alone, and this one is a variable that nobody
 * else knows. */
bool dh_walk_is_sole(struct dh_step *t, dh_value v)
{
    enum { DEEPEST = 12 };
    struct dh_walk *w = t->w;
    const uint32_t *defined = dh_walk_defined(w, t->f->function);
    uint32_t n_params = w->program->functions.at[t->f->function].n_params;
    bool owned = false;
    for (int depth = 0; depth < DEEPEST && w->state->has_library && dh_is_register(v); depth++) {
        if (v < n_params)
            return (v < DH_ATTRIBUTES_MAX && t->f->attributes[v] & DH_ARG_SOLE) || (owned && is_private(t, v));
        if (defined[v] == DH_NONE)
            return false;
        const struct dh_inst *i = &w->program->insts.at[defined[v]];
        if (i->op == DH_I_SLOT)
            return owned && is_private(t, v);
        dh_value from = dh_walk_source(w, t->f->function, i);
        owned |= from != DH_NONE && gives_owned(w, i);
        v = from;
    }
    return false;
}

uint32_t dh_walk_object_flags(struct dh_step *t, dh_value address)
{
    uint32_t flags = t->f->owners && is_of_first(t, address) ? DH_EVENT_OWNERS : 0;
    return flags | (t->w->state->recording && dh_walk_is_sole(t, address) ? DH_EVENT_SOLE : 0);
}
