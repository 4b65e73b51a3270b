/* Verifier of the abstract program: checks the invariants of program.h. */
#include "base/alloc.h"
#include "model/program.h"

#include <string.h>

static const char *verify_operand(const struct dh_program *p, const struct dh_function *f, dh_value v)
{
    if (dh_is_register(v))
        return v < f->n_registers ? NULL : "an operand is a register that the function does not have";
    if ((v & ~DH_CONSTANT_BIT) >= p->constants.n)
        return "an operand is a constant that the program does not have";
    const struct dh_constant *c = dh_program_constant(p, v);
    if (c->kind == DH_CONST_GLOBAL && c->index >= p->globals.n)
        return "a constant names a global that the program does not have";
    if (c->kind == DH_CONST_FUNCTION && c->index >= p->functions.n)
        return "a constant names a function that the program does not have";
    return NULL;
}

/* Number of operands that the table demands; *more: a minimum. */
static uint32_t wanted_operands(const struct dh_inst *i, bool *more)
{
    uint32_t n = 0;
    *more = false;
    for (const char *at = dh_inst_info(i->op)->operands; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] != 0)) {
        if (at[0] == '.')
            *more = true;
        else
            n++;
    }
    return n;
}

static const char *verify_inst(const struct dh_program *p, const struct dh_function *f, const struct dh_inst *i)
{
    bool more;
    if (i->op >= DH_I_COUNT)
        return "an instruction has no known operation";
    if (i->result != DH_NONE && i->result >= f->n_registers)
        return "a result is a register that the function does not have";
    if (i->operand + (uint64_t)i->n_operands > p->operands.n)
        return "operands lie outside the program";
    uint32_t n = wanted_operands(i, &more);
    if (i->n_operands < n || (!more && i->n_operands > n))
        return "an instruction has too many or too few operands";
    for (uint32_t k = 0; k < i->n_operands; k++) {
        if (i->op == DH_I_PHI && k % 2) {
            if (dh_operand(p, i, k) >= f->n_blocks)
                return "a phi names a block that the function does not have";
            continue;
        }
        const char *why = verify_operand(p, f, dh_operand(p, i, k));
        if (why)
            return why;
    }
    return i->place < p->places.n ? NULL : "a place lies outside the program";
}

static const char *verify_block(const struct dh_program *p, const struct dh_function *f, const struct dh_basic_block *b)
{
    if (!b->n_insts)
        return "a block is empty";
    for (uint32_t k = 0; k < b->n_insts; k++) {
        const struct dh_inst *i = &p->insts.at[b->inst + k];
        const char *why = verify_inst(p, f, i);
        if (why)
            return why;
        if ((dh_inst_class(i) == DH_CLASS_END) != (k + 1 == b->n_insts))
            return "a block does not end with its last instruction";
    }
    for (uint32_t k = 0; k < b->n_succs; k++)
        if (dh_successors(p, b)[k] < f->block || dh_successors(p, b)[k] >= f->block + f->n_blocks)
            return "a block leads out of its function";
    return NULL;
}

/* SSA: every register is assigned once. */
static const char *verify_ssa(const struct dh_program *p, const struct dh_function *f, uint32_t *seen, uint32_t stamp)
{
    for (uint32_t k = 0; k < f->n_params; k++)
        seen[k] = stamp;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t k = 0; k < p->blocks.at[b].n_insts; k++) {
            uint32_t r = p->insts.at[p->blocks.at[b].inst + k].result;
            if (r == DH_NONE)
                continue;
            if (seen[r] == stamp)
                return "a register is assigned twice";
            seen[r] = stamp;
        }
    return NULL;
}

static uint32_t most_registers(const struct dh_program *p)
{
    uint32_t most = 0;
    for (size_t f = 0; f < p->functions.n; f++)
        most = p->functions.at[f].n_registers > most ? p->functions.at[f].n_registers : most;
    return most;
}

const char *dh_program_verify(const struct dh_program *p)
{
    const char *why = NULL;
    uint32_t *seen = dh_xcalloc(most_registers(p) + 1, sizeof *seen);
    for (uint32_t f = 0; f < p->functions.n && !why; f++) {
        const struct dh_function *function = &p->functions.at[f];
        if (function->n_blocks && function->n_params > function->n_registers)
            why = "a parameter has no register";
        for (uint32_t b = 0; b < function->n_blocks && !why; b++)
            why = verify_block(p, function, &p->blocks.at[function->block + b]);
        if (!why && function->n_blocks)
            why = verify_ssa(p, function, seen, f + 1);
    }
    free(seen);
    return why;
}
