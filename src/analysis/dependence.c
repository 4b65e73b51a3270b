/* Data dependence by a fixed point over registers, control dependence by post-dominators, both over sets of sources. */
#include "analysis/dependence.h"

#include "base/alloc.h"
#include "model/library_names.h"

enum { STEPS_MAX = 192, KEPT_MAX = 64, CONTROLS_MAX = 200000 };

/* ---- sets ---- */

bool dh_sources_have(const struct dh_sources *s, uint32_t source)
{
    for (unsigned n = 0; n < s->n; n++)
        if (s->at[n] == source)
            return true;
    return false;
}

static bool add_source(struct dh_sources *s, uint32_t source)
{
    if (dh_sources_have(s, source))
        return false;
    if (s->n == DH_SOURCES_MAX) {
        s->more = true;
        return false;
    }
    s->at[s->n++] = source;
    return true;
}

static bool add_sources(struct dh_sources *into, const struct dh_sources *from)
{
    bool moved = false;
    for (unsigned n = 0; n < from->n; n++)
        moved |= add_source(into, from->at[n]);
    return moved;
}

static bool add_value_sources(struct dh_dependence *r, struct dh_sources *into, dh_value v)
{
    return dh_is_register(v) && v < r->registers.n && add_sources(into, &r->registers.at[v]);
}

static uint32_t params_of(const struct dh_dependence *r, const struct dh_sources *s)
{
    uint32_t bits = 0;
    for (unsigned n = 0; n < s->n; n++)
        if (s->at[n] < r->n_params && s->at[n] < 32)
            bits |= 1u << s->at[n];
    return bits;
}

/* ---- init, release ---- */

void dh_dependence_init(struct dh_dependence *r, struct dh_symex *w, const uint8_t *hot)
{
    *r = (struct dh_dependence){.symex = w, .hot = hot};
    r->functions = dh_xcalloc(w->program->functions.n + 1, sizeof *r->functions);
}

void dh_dependence_release(struct dh_dependence *r)
{
    for (size_t f = 0; f < r->symex->program->functions.n; f++)
        dh_vec_release(&r->functions[f].steps);
    free(r->functions);
    dh_vec_release(&r->steps);
    dh_vec_release(&r->step_of);
    dh_vec_release(&r->registers);
    dh_vec_release(&r->blocks);
    dh_vec_release(&r->controls);
}

static uint32_t first_inst(const struct dh_program *p, uint32_t function)
{
    return p->blocks.at[p->functions.at[function].block].inst;
}

static uint32_t inst_end(const struct dh_program *p, uint32_t function)
{
    const struct dh_function *f = &p->functions.at[function];
    const struct dh_basic_block *last = &p->blocks.at[f->block + f->n_blocks - 1];
    return last->inst + last->n_insts;
}

/* ---- steps ---- */

static bool push_step(struct dh_dependence *r, const struct dh_dependent_access *s)
{
    if (r->steps.n == STEPS_MAX) {
        r->incomplete = true;
        return false;
    }
    dh_vec_push(&r->steps, *s);
    return true;
}

static void add_own_step(struct dh_dependence *r, uint32_t inst, uint32_t operand, uint32_t traits)
{
    const struct dh_program *p = r->symex->program;
    dh_value v = dh_operand(p, &p->insts.at[inst], operand);
    struct dh_dependent_access s = {.inst = inst,
                                    .point = inst,
                                    .traits = traits | (p->insts.at[inst].order ? DH_STEP_ATOMIC : 0),
                                    .at = dh_value_term(&r->symex->state->values, r->function, v)};
    push_step(r, &s);
}

static void add_own_steps(struct dh_dependence *r, uint32_t inst)
{
    const struct dh_inst *i = &r->symex->program->insts.at[inst];
    switch (i->op) {
    case DH_I_LOAD:
        add_own_step(r, inst, 0, 0);
        return;
    case DH_I_STORE:
    case DH_I_MEMSET:
        add_own_step(r, inst, 0, DH_STEP_WRITES);
        return;
    case DH_I_MEMCPY:
        add_own_step(r, inst, 1, 0);
        add_own_step(r, inst, 0, DH_STEP_WRITES);
        return;
    case DH_I_RMW:
        add_own_step(r, inst, 0, DH_STEP_INDIVISIBLE);
        add_own_step(r, inst, 0, DH_STEP_INDIVISIBLE | DH_STEP_WRITES);
        return;
    case DH_I_CAS:
        add_own_step(r, inst, 0, DH_STEP_INDIVISIBLE);
        add_own_step(r, inst, 0, DH_STEP_INDIVISIBLE | DH_STEP_COMPARES | DH_STEP_WRITES);
        return;
    default:
        return;
    }
}

/* An access of a callee, expressed in terms of its caller. */
static void lift_step(struct dh_dependence *r, uint32_t call, const struct dh_dependent_access *from)
{
    const struct dh_inst *i = &r->symex->program->insts.at[call];
    struct dh_dependent_access s = *from;
    s.point = call;
    s.at = dh_term_to_caller(&r->symex->state->values, from->at, r->function, i, 1);
    for (size_t n = r->steps.n; n-- > 0 && r->steps.at[n].point == call;)
        if (r->steps.at[n].inst == s.inst && r->steps.at[n].at.expr == s.at.expr &&
            !((r->steps.at[n].traits ^ s.traits) & DH_STEP_WRITES))
            return;
    push_step(r, &s);
}

static void find_steps(struct dh_dependence *r)
{
    const struct dh_program *p = r->symex->program;
    const struct dh_call_graph *c = &r->symex->points_to->calls;
    r->steps.n = r->step_of.n = 0;
    for (uint32_t at = first_inst(p, r->function); at < inst_end(p, r->function); at++) {
        uint32_t first = (uint32_t)r->steps.n;
        if (r->hot[at])
            add_own_steps(r, at);
        if (p->insts.at[at].op == DH_I_CALL)
            for (uint32_t it = dh_call_graph_first(c, at), f; dh_call_graph_next(c, at, &it, &f);)
                for (size_t n = 0; n < r->functions[f].steps.n; n++)
                    lift_step(r, at, &r->functions[f].steps.at[n]);
        dh_vec_push(&r->step_of, r->steps.n > first ? first : DH_NONE);
    }
}

static uint32_t steps_at(const struct dh_dependence *r, uint32_t inst)
{
    return r->step_of.at[inst - first_inst(r->symex->program, r->function)];
}

/* ---- data dependence ---- */

static bool call_result(struct dh_dependence *r, uint32_t inst, const struct dh_inst *i, struct dh_sources *into)
{
    const struct dh_program *p = r->symex->program;
    const struct dh_call_graph *c = &r->symex->points_to->calls;
    bool moved = false;
    for (uint32_t it = dh_call_graph_first(c, inst), f; dh_call_graph_next(c, inst, &it, &f);)
        for (uint32_t k = 0; k + 1 < i->n_operands && k < 32; k++)
            if (r->functions[f].returns >> k & 1)
                moved |= add_value_sources(r, into, dh_operand(p, i, k + 1));
    for (uint32_t n = steps_at(r, inst); n != DH_NONE && n < r->steps.n && r->steps.at[n].point == inst; n++)
        if (r->steps.at[n].traits & DH_STEP_RETURNED)
            moved |= add_source(into, r->n_params + n);
    return moved;
}

/* Which constant a phi takes is decided by the branch that control comes from. */
static bool phi_result(struct dh_dependence *r, const struct dh_inst *i, struct dh_sources *into)
{
    const struct dh_program *p = r->symex->program;
    bool moved = false;
    for (uint32_t n = 0; n + 1 < i->n_operands; n += 2) {
        dh_value v = dh_operand(p, i, n);
        moved |= add_value_sources(r, into, v);
        uint32_t from = dh_operand(p, i, n + 1);
        if (!dh_is_register(v) && from < r->blocks.n)
            moved |= add_sources(into, &r->blocks.at[from]);
    }
    return moved;
}

static bool follow_result(struct dh_dependence *r, uint32_t inst, struct dh_sources *into)
{
    const struct dh_program *p = r->symex->program;
    const struct dh_inst *i = &p->insts.at[inst];
    bool moved = false;
    switch (i->op) {
    case DH_I_SLOT:
    case DH_I_ALLOC:
    case DH_I_REALLOC:
        return false;
    case DH_I_CALL:
        return call_result(r, inst, i, into);
    case DH_I_PHI:
        return phi_result(r, i, into);
    case DH_I_LOAD:
    case DH_I_RMW:
    case DH_I_CAS:
        if (steps_at(r, inst) != DH_NONE)
            moved |= add_source(into, r->n_params + steps_at(r, inst));
        return add_value_sources(r, into, dh_operand(p, i, 0)) || moved;
    default:
        for (uint32_t n = 0; n < i->n_operands; n++)
            moved |= add_value_sources(r, into, dh_operand(p, i, n));
        return moved;
    }
}

static void follow_values(struct dh_dependence *r, const struct dh_cfg *f)
{
    const struct dh_program *p = r->symex->program;
    bool moved = true;
    for (int round = 0; moved && round < 6; round++) {
        moved = false;
        for (size_t k = 0; k < f->order.n; k++) {
            const struct dh_basic_block *b = &p->blocks.at[f->first + f->order.at[k]];
            for (uint32_t i = b->inst; i < b->inst + b->n_insts; i++)
                if (p->insts.at[i].result != DH_NONE)
                    moved |= follow_result(r, i, &r->registers.at[p->insts.at[i].result]);
        }
    }
}

/* ---- control dependence ---- */

static void find_controls(struct dh_dependence *r, const struct dh_cfg *f)
{
    const struct dh_program *p = r->symex->program;
    r->controls.n = 0;
    for (size_t k = 0; k < f->order.n; k++) {
        uint32_t a = f->order.at[k];
        const struct dh_basic_block *b = &p->blocks.at[f->first + a];
        for (uint32_t s = 0; b->n_succs > 1 && s < b->n_succs; s++) {
            uint32_t at = dh_successors(p, b)[s] - f->first;
            for (; at < f->n && at != f->post.at[a]; at = f->post.at[at]) {
                if (r->controls.n >= CONTROLS_MAX) {
                    r->incomplete = true;
                    return;
                }
                dh_vec_push(&r->controls, at);
                dh_vec_push(&r->controls, a);
            }
        }
    }
}

static bool follow_decision(struct dh_dependence *r, const struct dh_cfg *f, uint32_t block, uint32_t by)
{
    const struct dh_program *p = r->symex->program;
    const struct dh_basic_block *b = &p->blocks.at[f->first + by];
    const struct dh_inst *last = &p->insts.at[b->inst + b->n_insts - 1];
    bool moved = add_sources(&r->blocks.at[block], &r->blocks.at[by]);
    if ((last->op == DH_I_BRANCH || last->op == DH_I_SWITCH) && last->n_operands)
        moved |= add_value_sources(r, &r->blocks.at[block], dh_operand(p, last, 0));
    return moved;
}

static void follow_control(struct dh_dependence *r, const struct dh_cfg *f)
{
    bool moved = true;
    for (int round = 0; moved && round < 6; round++) {
        moved = false;
        for (size_t n = 0; n + 1 < r->controls.n; n += 2)
            moved |= follow_decision(r, f, r->controls.at[n], r->controls.at[n + 1]);
    }
}

/* ---- sources of steps ---- */

static void find_own_sources(struct dh_dependence *r, struct dh_dependent_access *s, uint32_t block)
{
    const struct dh_program *p = r->symex->program;
    const struct dh_inst *i = &p->insts.at[s->inst];
    for (uint32_t n = 0; n < i->n_operands; n++)
        add_value_sources(r, &s->by_data, dh_operand(p, i, n));
    add_sources(&s->by_control, &r->blocks.at[block]);
}

static void add_argument_sources(struct dh_dependence *r, struct dh_sources *into, uint32_t params,
                                 const struct dh_inst *call)
{
    for (uint32_t k = 0; k < 32 && k + 1 < call->n_operands; k++)
        if (params >> k & 1)
            add_value_sources(r, into, dh_operand(r->symex->program, call, k + 1));
}

static void find_callee_sources(struct dh_dependence *r, struct dh_dependent_access *s, uint32_t block)
{
    const struct dh_inst *call = &r->symex->program->insts.at[s->point];
    struct dh_sources none = {0};
    s->by_data = s->by_control = s->by_comparison = s->by_equality = none;
    add_argument_sources(r, &s->by_data, s->data, call);
    add_argument_sources(r, &s->by_control, s->control, call);
    add_argument_sources(r, &s->by_comparison, s->mixed, call);
    add_sources(&s->by_control, &r->blocks.at[block]);
    s->traits &= ~(uint32_t)DH_STEP_RETURNED;
}

/* ---- how reads are used ---- */

/* Reads of this function whose value the register holds, as it is or as part of an address. */
static void find_direct_reads(struct dh_dependence *r, dh_value v, int depth, struct dh_sources *into)
{
    const struct dh_program *p = r->symex->program;
    if (!dh_is_register(v) || depth > 6)
        return;
    uint32_t at = dh_symex_definitions(r->symex, r->function)[v];
    if (at == DH_NONE)
        return;
    const struct dh_inst *i = &p->insts.at[at];
    if (i->op == DH_I_LOAD && steps_at(r, at) != DH_NONE)
        add_source(into, steps_at(r, at));
    bool moves = i->op == DH_I_COPY || i->op == DH_I_OFFSET || i->op == DH_I_INDEX || i->op == DH_I_BINARY;
    for (uint32_t n = 0; moves && n < i->n_operands; n++)
        find_direct_reads(r, dh_operand(p, i, n), depth + 1, into);
}

/* The value is used as an address, but no branch on this read of it decided about the use. */
static void mark_consumed(struct dh_dependence *r, dh_value v, uint32_t block)
{
    struct dh_sources steps = {0};
    find_direct_reads(r, v, 0, &steps);
    for (unsigned n = 0; n < steps.n; n++)
        if (!dh_sources_have(&r->blocks.at[block], r->n_params + steps.at[n]))
            r->steps.at[steps.at[n]].traits |= DH_STEP_CONSUMED;
}

static void note_operands(struct dh_dependence *r, const struct dh_inst *i)
{
    const struct dh_program *p = r->symex->program;
    bool equality = i->op == DH_I_COMPARE && (i->extra == DH_CMP_EQ || i->extra == DH_CMP_NE);
    for (uint32_t n = 0; n < 2 && i->n_operands == 2; n++) {
        dh_value mine = dh_operand(p, i, n), other = dh_operand(p, i, 1 - n);
        if (!dh_is_register(mine) || !dh_is_register(other))
            continue;
        const struct dh_sources *s = &r->registers.at[mine];
        for (unsigned k = 0; k < s->n; k++) {
            uint32_t step = s->at[k] < r->n_params ? DH_NONE : s->at[k] - r->n_params;
            if (step == DH_NONE || r->steps.at[step].traits & DH_STEP_WRITES)
                continue;
            struct dh_dependent_access *read = &r->steps.at[step];
            add_sources(equality ? &read->by_equality : &read->by_comparison, &r->registers.at[other]);
        }
    }
}

static void note_uses(struct dh_dependence *r, const struct dh_cfg *f)
{
    const struct dh_program *p = r->symex->program;
    for (size_t k = 0; k < f->order.n; k++) {
        uint32_t block = f->order.at[k];
        const struct dh_basic_block *b = &p->blocks.at[f->first + block];
        for (uint32_t at = b->inst; at < b->inst + b->n_insts; at++) {
            const struct dh_inst *i = &p->insts.at[at];
            bool arguments = i->op == DH_I_CALL || i->op == DH_I_FOREIGN;
            if (dh_inst_class(i) == DH_CLASS_MEMORY && i->n_operands)
                mark_consumed(r, dh_operand(p, i, 0), block);
            for (uint32_t n = 0; arguments && n < i->n_operands; n++)
                mark_consumed(r, dh_operand(p, i, n), block);
            if (i->op == DH_I_COMPARE || i->op == DH_I_BINARY)
                note_operands(r, i);
        }
    }
}

/* ---- one function ---- */

static void reset_function(struct dh_dependence *r, const struct dh_cfg *f)
{
    const struct dh_function *fn = &r->symex->program->functions.at[r->function];
    r->registers.n = r->blocks.n = 0;
    for (uint32_t n = 0; n < fn->n_registers; n++) {
        dh_vec_push(&r->registers, (struct dh_sources){0});
        if (n < fn->n_params)
            add_source(&r->registers.at[n], n);
    }
    for (uint32_t n = 0; n < f->n; n++)
        dh_vec_push(&r->blocks, (struct dh_sources){0});
}

/* Which parameters and reads the result depends on. */
static void note_returns(struct dh_dependence *r, const struct dh_cfg *f)
{
    const struct dh_program *p = r->symex->program;
    struct dh_sources all = {0};
    for (size_t k = 0; k < f->order.n; k++) {
        const struct dh_basic_block *b = &p->blocks.at[f->first + f->order.at[k]];
        const struct dh_inst *last = &p->insts.at[b->inst + b->n_insts - 1];
        if (last->op == DH_I_RETURN && last->n_operands)
            add_value_sources(r, &all, dh_operand(p, last, 0));
    }
    r->functions[r->function].returns = params_of(r, &all);
    for (unsigned n = 0; n < all.n; n++)
        if (all.at[n] >= r->n_params)
            r->steps.at[all.at[n] - r->n_params].traits |= DH_STEP_RETURNED;
}

void dh_dependence_analyse(struct dh_dependence *r, uint32_t function)
{
    const struct dh_program *p = r->symex->program;
    const struct dh_cfg *f = dh_symex_cfg(r->symex, function);
    r->function = function;
    r->n_params = p->functions.at[function].n_params;
    find_steps(r);
    reset_function(r, f);
    find_controls(r, f);
    for (int round = 0; round < 2; round++) {
        follow_values(r, f);
        follow_control(r, f);
    }
    for (size_t n = 0; n < r->steps.n; n++) {
        struct dh_dependent_access *s = &r->steps.at[n];
        uint32_t block = dh_program_block_of(p, s->point) - f->first;
        (s->inst == s->point ? find_own_sources : find_callee_sources)(r, s, block);
    }
    note_uses(r, f);
    note_returns(r, f);
}

void dh_dependence_keep_summary(struct dh_dependence *r)
{
    struct dh_dependence_summary *out = &r->functions[r->function];
    const struct dh_program *p = r->symex->program;
    /* Accesses within a library object are not visible to its user. */
    if (dh_library_is_object(dh_library_class_of_member(dh_program_string(p, p->functions.at[r->function].name))))
        return;
    for (size_t n = 0; n < r->steps.n; n++) {
        struct dh_dependent_access s = r->steps.at[n];
        s.data = params_of(r, &s.by_data);
        s.control = params_of(r, &s.by_control);
        s.mixed = params_of(r, &s.by_comparison);
        if (out->steps.n == KEPT_MAX) {
            r->incomplete = true;
            return;
        }
        dh_vec_push(&out->steps, s);
    }
}
