/* Objects that own the std::thread which works on them: `thread = std::thread([this] { run(); })`. Such an object
 * owns one thread at a time, so two threads of that kind work on different objects. Heuristic: the thread may access
 * others' objects, and a detached one may not have ended. */
#include "analysis/symex_internal.h"

#include "base/str.h"

static const char *name_of(const struct dh_program *p, const struct dh_inst *i)
{
    uint32_t callee = i->op == DH_I_CALL && i->n_operands > 2 ? dh_value_function(p, dh_operand(p, i, 0)) : DH_NONE;
    return callee == DH_NONE ? "" : dh_program_string(p, p->functions.at[callee].name);
}

/* At a constant offset of what the first parameter points to. */
static bool is_member(struct dh_symex_step *t, dh_value v)
{
    struct dh_term a = dh_value_term(&t->w->state->values, t->f->function, v);
    struct dh_expr e = t->w->state->values.exprs.at[a.expr];
    return a.expr && a.exact && e.kind == DH_EXPR_PARAM && e.a == 0;
}

static bool is_this(struct dh_symex_step *t, dh_value v)
{
    struct dh_term a = dh_value_term(&t->w->state->values, t->f->function, v);
    return !a.offset && is_member(t, v);
}

/* The new thread object is a member, or moved into one. */
static bool becomes_member(struct dh_symex_step *t, dh_value thread)
{
    const struct dh_program *p = t->w->program;
    const struct dh_function *f = &p->functions.at[t->f->function];
    if (is_member(t, thread))
        return true;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t n = p->blocks.at[b].inst; n < p->blocks.at[b].inst + p->blocks.at[b].n_insts; n++) {
            const struct dh_inst *i = &p->insts.at[n];
            if (strcmp(name_of(p, i), "_ZNSt6threadaSEOS_") == 0 && dh_operand(p, i, 2) == thread)
                return is_member(t, dh_operand(p, i, 1));
        }
    return false;
}

/* `this` is stored in one of the variables passed to the thread: a closure, or an argument of its function. */
static bool is_passed_this(struct dh_symex_step *t)
{
    const struct dh_program *p = t->w->program;
    const struct dh_function *f = &p->functions.at[t->f->function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t n = p->blocks.at[b].inst; n < p->blocks.at[b].inst + p->blocks.at[b].n_insts; n++) {
            const struct dh_inst *i = &p->insts.at[n];
            for (uint32_t k = 2; i->op == DH_I_STORE && k < t->i->n_operands; k++)
                if (dh_operand(p, i, 0) == dh_operand(p, t->i, k) && is_this(t, dh_operand(p, i, 1)))
                    return true;
        }
    return false;
}

void dh_symex_note_thread_owner(struct dh_symex_step *t, uint32_t target)
{
    struct dh_symex *w = t->w;
    const char *name = dh_program_string(w->program, w->program->functions.at[target].name);
    if (!t->records || w->state->library[t->f->function] != DH_ROLE_PROGRAM || !w->state->has_library ||
        !(dh_starts_with(name, "_ZNSt6threadC1I") || dh_starts_with(name, "_ZNSt6threadC2I")) || t->i->n_operands < 3)
        return;
    struct dh_heap_cell at = dh_symex_bound_cell(w, t->f, dh_points_to_value(w->points_to, t->f->function, 0));
    bool owned = becomes_member(t, dh_operand(w->program, t->i, 1)) && is_passed_this(t);
    for (size_t n = 0; n < w->threads.n; n++) {
        struct dh_abstract_thread *th = &w->threads.at[n];
        if (!(w->state->summaries[target].starts >> n & 1))
            continue;
        th->owner = owned && (th->owner == at.node || th->owner == DH_THREAD_OWNER_UNKNOWN) ? at.node : DH_NO_NODE;
    }
}
