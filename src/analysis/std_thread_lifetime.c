#include "analysis/std_thread_lifetime.h"

#include "base/alloc.h"
#include "model/library_names.h"

#include <stdlib.h>
#include <string.h>

struct finder {
    struct dh_joins *j;
    struct dh_value_numbering *x;
    const struct dh_program *p;
    uint8_t *reached; /* by function: scratch */
    DH_VEC(uint32_t) todo;
    /* of the current object */
    uint32_t function, object;
    DH_VEC(uint32_t) uses, ends; /* calls that may start threads through it, and that destroy it */
};

static const char *name_of(const struct finder *f, uint32_t function)
{
    return dh_program_string(f->p, f->p->functions.at[function].name);
}

static uint32_t callee_of(const struct finder *f, const struct dh_inst *i)
{
    return i->op == DH_I_CALL ? dh_value_function(f->p, dh_operand(f->p, i, 0)) : DH_NONE;
}

/* ---- the whole program: no thread leaves its object ---- */

static bool leaves_threads(const struct finder *f, const struct dh_inst *i)
{
    uint32_t callee = callee_of(f, i);
    return callee == DH_NONE || !strstr(name_of(f, callee), "St6thread") ||
           dh_library_thread_role(name_of(f, callee)) != DH_THREAD_NONE;
}

static bool keeps_threads(const struct finder *f)
{
    for (size_t b = 0; b < f->p->blocks.n; b++) {
        const struct dh_basic_block *block = &f->p->blocks.at[b];
        bool own = !dh_is_library_function(name_of(f, block->function));
        for (uint32_t n = block->inst; n < block->inst + block->n_insts; n++) {
            const struct dh_inst *i = &f->p->insts.at[n];
            if (i->op == DH_I_DETACH || (own && !leaves_threads(f, i)))
                return false;
        }
    }
    return true;
}

/* ---- one local object ---- */

static bool mentions(const struct finder *f, const struct dh_inst *i, uint32_t reg)
{
    for (uint32_t n = 0; n < i->n_operands; n += i->op == DH_I_PHI ? 2 : 1) /* a phi names blocks, too */
        if (dh_operand(f->p, i, n) == reg)
            return true;
    return false;
}

/* What joining a thread does to its object. */
static bool is_joining(const struct finder *f, const struct dh_inst *i)
{
    bool access = i->op == DH_I_LOAD || (i->op == DH_I_STORE && dh_operand(f->p, i, 1) != f->object);
    return access && i->flags & DH_INST_LIBRARY && i->flags & DH_INST_SYNTHETIC;
}

static bool note_use(struct finder *f, uint32_t inst)
{
    const struct dh_inst *i = &f->p->insts.at[inst];
    uint32_t callee = callee_of(f, i);
    if (callee == DH_NONE)
        return is_joining(f, i);
    enum dh_thread_role role = i->n_operands > 1 && dh_operand(f->p, i, 1) == f->object
                                   ? dh_library_thread_role(name_of(f, callee))
                                   : DH_THREAD_NONE;
    for (uint32_t n = 2; n < i->n_operands; n++)
        if (dh_operand(f->p, i, n) == f->object)
            return false;
    if (role == DH_THREAD_STARTS)
        dh_vec_push(&f->uses, inst);
    if (role == DH_THREAD_DESTROYS)
        dh_vec_push(&f->ends, inst);
    return role != DH_THREAD_NONE;
}

static bool read_uses(struct finder *f)
{
    const struct dh_function *fn = &f->p->functions.at[f->function];
    f->uses.n = f->ends.n = 0;
    for (uint32_t b = fn->block; b < fn->block + fn->n_blocks; b++)
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++) {
            uint32_t inst = f->p->blocks.at[b].inst + n;
            if (mentions(f, &f->p->insts.at[inst], f->object) && !note_use(f, inst))
                return false;
        }
    return f->uses.n && f->ends.n;
}

/* ---- reachable functions ---- */

static bool is_use(const struct finder *f, uint32_t inst)
{
    for (size_t n = 0; n < f->uses.n; n++)
        if (f->uses.at[n] == inst)
            return true;
    return false;
}

/* Functions reachable from those in `todo`, except through the starts at the object. */
static void mark_reachable_functions(struct finder *f, bool but_uses)
{
    while (f->todo.n) {
        uint32_t at = f->todo.at[--f->todo.n];
        const struct dh_function *fn = &f->p->functions.at[at];
        if (f->reached[at])
            continue;
        f->reached[at] = 1;
        for (uint32_t b = fn->block; b < fn->block + fn->n_blocks; b++)
            for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++) {
                uint32_t inst = f->p->blocks.at[b].inst + n, callee = callee_of(f, &f->p->insts.at[inst]);
                if (callee != DH_NONE && !(but_uses && is_use(f, inst)))
                    dh_vec_push(&f->todo, callee);
            }
    }
}

static void reach_afresh(struct finder *f, bool but_uses)
{
    memset(f->reached, 0, f->p->functions.n);
    mark_reachable_functions(f, but_uses);
}

static void add_behind_pointers(struct finder *f)
{
    for (uint32_t n = 0; n < f->p->functions.n; n++)
        if (f->p->functions.at[n].flags & DH_FUNCTION_ADDRESS_TAKEN)
            dh_vec_push(&f->todo, n);
}

/* The function may be re-entered by the same thread while the object is alive. */
static bool may_recur(struct finder *f)
{
    const struct dh_function *fn = &f->p->functions.at[f->function];
    add_behind_pointers(f);
    for (uint32_t b = fn->block; b < fn->block + fn->n_blocks; b++)
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++) {
            uint32_t callee = callee_of(f, &f->p->insts.at[f->p->blocks.at[b].inst + n]);
            if (callee != DH_NONE)
                dh_vec_push(&f->todo, callee);
        }
    reach_afresh(f, false);
    return f->reached[f->function];
}

static void add_entries(struct finder *f)
{
    add_behind_pointers(f);
    for (size_t n = 0; n < f->p->roots.n; n++)
        dh_vec_push(&f->todo, f->p->roots.at[n].function);
    for (uint32_t n = 0; n < f->p->functions.n; n++)
        if (f->p->functions.at[n].flags & DH_FUNCTION_EXPORTED)
            dh_vec_push(&f->todo, n);
}

/* ---- points ---- */

static void add_points(struct finder *f, uint32_t create)
{
    uint32_t always = dh_expr_number(f->x, (struct dh_expr){.kind = DH_EXPR_INT});
    for (size_t n = 0; n < f->ends.n; n++)
        dh_vec_push(&f->j->points, ((struct dh_joined_point){.function = f->function,
                                                             .inst = f->ends.at[n],
                                                             .create = create,
                                                             .handle = always,
                                                             .contained = true,
                                                             .any_way = true}));
}

/* Thread starts that happen through this object only. */
static void judge(struct finder *f)
{
    uint8_t *others = dh_xcalloc(f->p->functions.n + 1, 1);
    add_entries(f);
    reach_afresh(f, true);
    memcpy(others, f->reached, f->p->functions.n);
    for (size_t n = 0; n < f->uses.n; n++)
        dh_vec_push(&f->todo, callee_of(f, &f->p->insts.at[f->uses.at[n]]));
    reach_afresh(f, false);
    for (size_t b = 0; b < f->p->blocks.n; b++) {
        const struct dh_basic_block *block = &f->p->blocks.at[b];
        for (uint32_t n = block->inst; n < block->inst + block->n_insts; n++)
            if (f->p->insts.at[n].op == DH_I_CREATE && f->reached[block->function] && !others[block->function])
                add_points(f, n);
    }
    free(others);
}

static void look_at(struct finder *f, uint32_t function)
{
    const struct dh_function *fn = &f->p->functions.at[function];
    f->function = function;
    for (uint32_t b = fn->block; b < fn->block + fn->n_blocks; b++)
        for (uint32_t n = 0; n < f->p->blocks.at[b].n_insts; n++) {
            const struct dh_inst *i = &f->p->insts.at[f->p->blocks.at[b].inst + n];
            f->object = i->result;
            if (i->op == DH_I_SLOT && read_uses(f) && !may_recur(f))
                judge(f);
        }
}

static bool has_thread_objects(const struct dh_program *p)
{
    for (uint32_t n = 0; n < p->functions.n; n++)
        if (dh_library_thread_role(dh_program_string(p, p->functions.at[n].name)) == DH_THREAD_STARTS)
            return true;
    return false;
}

void dh_std_thread_find_joins(struct dh_joins *j, struct dh_value_numbering *x)
{
    struct finder f = {.j = j, .x = x, .p = x->program};
    if (!has_thread_objects(f.p) || !keeps_threads(&f))
        return;
    f.reached = dh_xcalloc(f.p->functions.n + 1, 1);
    for (uint32_t n = 0; n < f.p->functions.n; n++)
        look_at(&f, n);
    free(f.reached);
    dh_vec_release(&f.todo);
    dh_vec_release(&f.uses);
    dh_vec_release(&f.ends);
}
