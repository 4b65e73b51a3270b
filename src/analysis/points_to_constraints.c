/* Inclusion constraints of each instruction (Andersen). */
#include "analysis/points_to_andersen_internal.h"
#include "base/alloc.h"
#include "model/mangled_names.h"

#include <stdlib.h>
#include <string.h>

enum { POINTER_BYTES = 8, PARTS_MAX = 32, ELEMENTS_MAX = 16, LOOK_MAX = 64 };
/* Functions of at most COPY_INSTS instructions are cloned for each call site, COPY_DEPTH deep, as long as all clones
 * together have at most COPY_TIMES the instructions of the program. */
enum { COPY_INSTS = 120, COPY_DEPTH = 4, COPY_TIMES = 6 };
#define COPY_LEAST 200000u

struct reader {
    struct dh_andersen *x;
    uint32_t copy;
    struct dh_function_copy c;
    uint32_t *defined; /* by register of the function: the instruction */
    uint8_t *cast;     /* by register: it is cast to a pointer in this function, after arithmetic or not */
};

/* ---- values ---- */

uint32_t dh_andersen_variable_of(const struct dh_andersen *x, const struct dh_function_copy *c, dh_value v)
{
    const struct dh_program *p = x->program;
    if (dh_is_register(v)) {
        uint32_t kind = p->registers.at[p->functions.at[c->function].registers + v];
        return kind == DH_REG_DATA ? DH_NONE : c->registers + v;
    }
    uint32_t kind = dh_program_constant(p, v)->kind;
    bool carries = kind == DH_CONST_GLOBAL || kind == DH_CONST_FUNCTION || kind == DH_CONST_UNKNOWN;
    return carries ? v & ~DH_CONSTANT_BIT : DH_NONE;
}

static uint32_t operand_variable(const struct reader *r, const struct dh_inst *i, uint32_t n)
{
    return n < i->n_operands ? dh_andersen_variable_of(r->x, &r->c, dh_operand(r->x->program, i, n)) : DH_NONE;
}

static uint32_t result_variable(const struct reader *r, const struct dh_inst *i)
{
    return i->result == DH_NONE ? DH_NONE : dh_andersen_variable_of(r->x, &r->c, i->result);
}

static uint32_t kind_of(const struct reader *r, dh_value v)
{
    const struct dh_program *p = r->x->program;
    return dh_is_register(v) ? p->registers.at[p->functions.at[r->c.function].registers + v] : DH_REG_DATA;
}

static uint32_t number_of(const struct reader *r, const struct dh_inst *i)
{
    return (uint32_t)(i - r->x->program->insts.at);
}

static const struct dh_inst *definition(const struct reader *r, dh_value v)
{
    return dh_is_register(v) && r->defined[v] != DH_NONE ? &r->x->program->insts.at[r->defined[v]] : NULL;
}

/* ---- copies ---- */

static void add_edge(struct reader *r, uint32_t from, uint32_t to, int64_t by, uint32_t stride)
{
    dh_andersen_add_edge(r->x, from, to, by, stride);
}

static void add_edges(struct reader *r, const struct dh_inst *i, uint32_t first, uint32_t step, uint32_t stride)
{
    for (uint32_t n = first; n < i->n_operands; n += step)
        add_edge(r, operand_variable(r, i, n), result_variable(r, i), 0, stride);
}

static bool is_move(const struct dh_inst *i)
{
    return i->op == DH_I_COPY || i->op == DH_I_PHI || i->op == DH_I_SELECT || i->op == DH_I_OFFSET ||
           i->op == DH_I_INDEX;
}

/* Registers that a pointer is computed from by copies and offsets alone. */
struct moves {
    uint32_t at[LOOK_MAX], n;
};

static void push_moved(const struct reader *r, const struct dh_inst *i, struct moves *m)
{
    uint32_t first = i->op == DH_I_SELECT, step = i->op == DH_I_PHI ? 2 : 1;
    uint32_t end = i->op == DH_I_OFFSET || i->op == DH_I_INDEX ? 1 : i->n_operands;
    for (uint32_t n = first; n < end; n += step) {
        dh_value v = dh_operand(r->x->program, i, n);
        uint32_t k = 0;
        while (k < m->n && m->at[k] != v)
            k++;
        if (dh_is_register(v) && k == m->n && m->n < LOOK_MAX)
            m->at[m->n++] = v;
    }
}

/* The offset is added again to its own result. A cycle that is missed here ends when the object has too many
 * locations. */
static bool is_in_cycle(const struct reader *r, const struct dh_inst *i)
{
    struct moves m = {.n = 0};
    push_moved(r, i, &m);
    for (uint32_t n = 0; n < m.n; n++) {
        if (m.at[n] == i->result)
            return true;
        const struct dh_inst *d = definition(r, m.at[n]);
        if (d && is_move(d))
            push_moved(r, d, &m);
    }
    return false;
}

static void read_offset(struct reader *r, const struct dh_inst *i)
{
    uint32_t from = operand_variable(r, i, 0), to = result_variable(r, i);
    int64_t step = i->offset < 0 ? -i->offset : i->offset;
    if (step && is_in_cycle(r, i))
        add_edge(r, from, to, 0, step < INT32_MAX ? (uint32_t)step : 1);
    else
        add_edge(r, from, to, i->offset, 0);
}

static void read_index(struct reader *r, const struct dh_inst *i)
{
    uint32_t from = operand_variable(r, i, 0), to = result_variable(r, i);
    if (i->flags & DH_INST_BOUNDED && i->extra && i->extra <= ELEMENTS_MAX && !is_in_cycle(r, i)) {
        for (uint32_t n = 0; n < i->extra; n++)
            add_edge(r, from, to, i->offset + (int64_t)n * i->size, 0);
        return;
    }
    add_edge(r, from, to, i->offset, i->size ? i->size : 1);
}

static bool was_pointer(const struct reader *r, dh_value v)
{
    const struct dh_inst *i = definition(r, v);
    if (!i || i->op != DH_I_COPY || !(i->flags & DH_INST_CAST))
        return false;
    return kind_of(r, dh_operand(r->x->program, i, 0)) == DH_REG_POINTER;
}

/* A number that is loaded, incremented or decremented, and not cast to a pointer here: a counter. Unification of types
 * may have put pointers into its location; these would get every offset. */
static bool is_counted(const struct reader *r, const struct dh_inst *i, uint32_t n)
{
    const struct dh_inst *d = definition(r, dh_operand(r->x->program, i, n));
    bool sum = i->extra == DH_BIN_ADD || i->extra == DH_BIN_SUB;
    return d && d->op == DH_I_LOAD && sum && i->result != DH_NONE && !r->cast[i->result];
}

static void read_binary(struct reader *r, const struct dh_inst *i)
{
    const struct dh_program *p = r->x->program;
    /* The difference of two pointers is no pointer. */
    bool distance =
        i->extra == DH_BIN_SUB && was_pointer(r, dh_operand(p, i, 0)) && was_pointer(r, dh_operand(p, i, 1));
    for (uint32_t n = 0; !distance && n < i->n_operands; n++)
        if (!is_counted(r, i, n))
            add_edge(r, operand_variable(r, i, n), result_variable(r, i), 0, 1);
}

/* Inserting into and extracting from aggregates adds no offset; arithmetic on numbers may. */
static void read_mix(struct reader *r, const struct dh_inst *i)
{
    if (i->result != DH_NONE)
        add_edges(r, i, 0, 1, kind_of(r, i->result) == DH_REG_POINTER ? 0 : 1);
}

/* ---- memory ---- */

static void read_load(struct reader *r, uint32_t address, uint32_t to, uint32_t size)
{
    if (address == DH_NONE || to == DH_NONE || (size && size < POINTER_BYTES))
        return;
    for (uint32_t by = 0; by == 0 || (by < size && by < PARTS_MAX * POINTER_BYTES); by += POINTER_BYTES)
        dh_andersen_add_constraint(
            r->x, address, (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_LOAD, .other = to, .by = (int32_t)by});
}

static void read_store(struct reader *r, uint32_t address, uint32_t value, uint32_t size)
{
    if (address == DH_NONE || value == DH_NONE || (size && size < POINTER_BYTES))
        return;
    for (uint32_t by = 0; by == 0 || (by < size && by < PARTS_MAX * POINTER_BYTES); by += POINTER_BYTES)
        dh_andersen_add_constraint(
            r->x, address,
            (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_STORE, .other = value, .by = (int32_t)by});
}

/* A library function may store a pointer: a thread's result, data read from a pipe. */
static void read_plain_store(struct reader *r, const struct dh_inst *i)
{
    uint32_t value = operand_variable(r, i, 1);
    if (value == DH_NONE && i->flags & DH_INST_LIBRARY) {
        value = dh_andersen_add_variable(r->x);
        dh_andersen_add_pointee(r->x, value, DH_LOCATION_UNKNOWN);
    }
    read_store(r, operand_variable(r, i, 0), value, i->size);
}

static void read_update(struct reader *r, const struct dh_inst *i)
{
    uint32_t at = operand_variable(r, i, 0);
    read_load(r, at, result_variable(r, i), i->size);
    if (i->op == DH_I_CAS || i->extra == DH_BIN_XCHG) {
        read_store(r, at, operand_variable(r, i, i->op == DH_I_CAS ? 2 : 1), i->size);
        return;
    }
    uint32_t sum = dh_andersen_add_variable(r->x);
    add_edge(r, operand_variable(r, i, 1), sum, 0, 1);
    read_store(r, at, sum, i->size);
}

static void copy_part(struct reader *r, uint32_t to, uint32_t from, uint32_t by)
{
    uint32_t part = dh_andersen_add_variable(r->x);
    dh_andersen_add_constraint(
        r->x, from, (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_LOAD, .other = part, .by = (int32_t)by});
    dh_andersen_add_constraint(
        r->x, to, (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_STORE, .other = part, .by = (int32_t)by});
}

static void read_memcpy(struct reader *r, const struct dh_inst *i)
{
    uint32_t to = operand_variable(r, i, 0), from = operand_variable(r, i, 1);
    int64_t length = -1;
    if (to == DH_NONE || from == DH_NONE)
        return;
    bool known = i->n_operands > 2 && dh_value_int(r->x->program, dh_operand(r->x->program, i, 2), &length);
    if (known && length >= 0 && length <= PARTS_MAX * POINTER_BYTES) {
        for (uint32_t by = 0; by + POINTER_BYTES <= length; by += POINTER_BYTES)
            copy_part(r, to, from, by);
        return;
    }
    uint32_t any_to = dh_andersen_add_variable(r->x), any_from = dh_andersen_add_variable(r->x);
    add_edge(r, to, any_to, 0, POINTER_BYTES);
    add_edge(r, from, any_from, 0, POINTER_BYTES);
    copy_part(r, any_to, any_from, 0);
}

static void read_allocation(struct reader *r, const struct dh_inst *i)
{
    uint32_t to = result_variable(r, i);
    if (to != DH_NONE)
        dh_andersen_add_pointee(
            r->x, to,
            dh_andersen_get_location(r->x, dh_andersen_add_object(r->x, DH_ABSTRACT_ALLOCATED, number_of(r, i)), 0, 0));
    if (i->op == DH_I_REALLOC)
        add_edge(r, operand_variable(r, i, 0), to, 0, 0);
}

/* ---- calls ---- */

static uint32_t make_copy(struct dh_andersen *x, uint32_t function, uint32_t outer)
{
    struct dh_function_copy c = {function, (uint32_t)x->variables.n, outer,
                                 outer == DH_NONE ? 0 : x->copies.at[outer].depth + 1, x->copies_of[function]};
    for (uint32_t n = 0; n <= x->program->functions.at[function].n_registers; n++)
        dh_andersen_add_variable(x);
    x->copies_of[function] = (uint32_t)x->copies.n;
    dh_vec_push(&x->copies, c);
    return x->copies_of[function];
}

static uint32_t common_copy(struct dh_andersen *x, uint32_t function)
{
    if (x->common[function] == DH_NONE)
        x->common[function] = make_copy(x, function, DH_NONE);
    return x->common[function];
}

static uint32_t count_insts(const struct dh_program *p, const struct dh_function *f)
{
    const struct dh_basic_block *last = &p->blocks.at[f->block + f->n_blocks - 1];
    return last->inst + last->n_insts - p->blocks.at[f->block].inst;
}

static uint32_t copy_for(struct dh_andersen *x, uint32_t function, uint32_t caller)
{
    uint32_t n = count_insts(x->program, &x->program->functions.at[function]);
    if (n > COPY_INSTS || x->copies.at[caller].depth >= COPY_DEPTH || x->copied + n > x->max_copied)
        return common_copy(x, function);
    for (uint32_t at = caller; at != DH_NONE; at = x->copies.at[at].outer)
        if (x->copies.at[at].function == function)
            return common_copy(x, function);
    x->copied += n;
    return make_copy(x, function, caller);
}

void dh_andersen_expose_function(struct dh_andersen *x, uint32_t function)
{
    const struct dh_function *f = &x->program->functions.at[function];
    if (!f->n_blocks)
        return;
    uint32_t copy = common_copy(x, function);
    struct dh_function_copy c = x->copies.at[copy];
    for (uint32_t n = 0; n < f->n_params; n++) {
        uint32_t to = dh_andersen_variable_of(x, &c, n);
        if (to != DH_NONE)
            dh_andersen_add_pointee(x, to, DH_LOCATION_UNKNOWN);
    }
    dh_andersen_add_constraint(x, c.registers + f->n_registers,
                               (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_EXPOSE});
}

/* A call of unknown code: its arguments escape, its result is unknown. */
static void expose_operands(struct dh_andersen *x, const struct dh_function_copy *c, const struct dh_inst *i,
                            uint32_t first)
{
    for (uint32_t n = first; n < i->n_operands; n++)
        dh_andersen_add_constraint(x, dh_andersen_variable_of(x, c, dh_operand(x->program, i, n)),
                                   (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_EXPOSE});
    uint32_t to = i->result == DH_NONE ? DH_NONE : dh_andersen_variable_of(x, c, i->result);
    if (to != DH_NONE)
        dh_andersen_add_pointee(x, to, DH_LOCATION_UNKNOWN);
}

static void connect_copy(struct dh_andersen *x, const struct dh_inst *i, struct dh_function_copy from, uint32_t copy)
{
    const struct dh_program *p = x->program;
    struct dh_function_copy to = x->copies.at[copy];
    const struct dh_function *f = &p->functions.at[to.function];
    uint32_t first = dh_inst_callee_operand(i) + 1;
    for (uint32_t n = 0; n < f->n_params && first + n < i->n_operands; n++)
        dh_andersen_add_edge(x, dh_andersen_variable_of(x, &from, dh_operand(p, i, first + n)),
                             dh_andersen_variable_of(x, &to, n), 0, 0);
    if (i->op == DH_I_CALL && i->result != DH_NONE)
        dh_andersen_add_edge(x, to.registers + f->n_registers, dh_andersen_variable_of(x, &from, i->result), 0, 0);
}

/* Callees of another machine type count only when the call has no others. */
static bool has_other_type(const struct dh_program *p, const struct dh_inst *i, uint32_t function)
{
    uint32_t type = p->functions.at[function].signature;
    return i->op == DH_I_CALL && i->extra && type && i->extra != type;
}

bool dh_andersen_connect_deferred(struct dh_andersen *x)
{
    bool any = x->deferred.n > 0;
    x->mismatched_types = true;
    while (x->deferred.n) {
        struct dh_copied_call c = x->deferred.at[--x->deferred.n];
        dh_andersen_connect_call(x, c.inst, c.copy);
    }
    return any;
}

void dh_andersen_connect_call(struct dh_andersen *x, uint32_t call, uint32_t function)
{
    struct dh_copied_call at = x->calls.at[call];
    const struct dh_inst *i = &x->program->insts.at[at.inst];
    if (function != DH_NONE && !x->mismatched_types && has_other_type(x->program, i, function)) {
        dh_vec_push(&x->deferred, (struct dh_copied_call){call, function});
        return;
    }
    struct dh_function_copy from = x->copies.at[at.copy];
    if (function == DH_NONE)
        expose_operands(x, &from, i, dh_inst_callee_operand(i) + 1);
    else if (x->program->functions.at[function].n_blocks)
        connect_copy(x, i, from, common_copy(x, function));
}

static void read_call(struct reader *r, const struct dh_inst *i)
{
    struct dh_andersen *x = r->x;
    uint32_t callee = dh_inst_callee_operand(i);
    if (callee >= i->n_operands)
        return;
    uint32_t function = dh_value_function(x->program, dh_operand(x->program, i, callee));
    if (function == DH_NONE) {
        dh_vec_push(&x->calls, (struct dh_copied_call){number_of(r, i), r->copy});
        dh_andersen_add_constraint(
            x, operand_variable(r, i, callee),
            (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_CALL, .other = (uint32_t)x->calls.n - 1});
    } else if (x->program->functions.at[function].n_blocks) {
        connect_copy(x, i, r->c, copy_for(x, function, r->copy));
    }
}

static void read_return(struct reader *r, const struct dh_inst *i)
{
    if (i->n_operands)
        add_edge(r, operand_variable(r, i, 0), r->c.registers + r->x->program->functions.at[r->c.function].n_registers,
                 0, 0);
}

/* ---- the program ---- */

static void read_inst(struct reader *r, const struct dh_inst *i)
{
    switch (i->op) {
    case DH_I_SLOT:
    case DH_I_ALLOC:
    case DH_I_REALLOC:
        read_allocation(r, i);
        break;
    case DH_I_COPY:
        add_edges(r, i, 0, 1, 0);
        break;
    case DH_I_PHI:
        add_edges(r, i, 0, 2, 0);
        break;
    case DH_I_SELECT:
        add_edges(r, i, 1, 1, 0);
        break;
    case DH_I_OFFSET:
        read_offset(r, i);
        break;
    case DH_I_INDEX:
        read_index(r, i);
        break;
    case DH_I_BINARY:
        read_binary(r, i);
        break;
    case DH_I_MIX:
        read_mix(r, i);
        break;
    case DH_I_LOAD:
        read_load(r, operand_variable(r, i, 0), result_variable(r, i), i->size);
        break;
    case DH_I_STORE:
        read_plain_store(r, i);
        break;
    case DH_I_RMW:
    case DH_I_CAS:
        read_update(r, i);
        break;
    case DH_I_MEMCPY:
        read_memcpy(r, i);
        break;
    case DH_I_CALL:
    case DH_I_CREATE:
    case DH_I_REGISTER:
        read_call(r, i);
        break;
    case DH_I_FOREIGN:
    case DH_I_EXIT_THREAD:
        expose_operands(r->x, &r->c, i, 0);
        break;
    case DH_I_RETURN:
        read_return(r, i);
        break;
    default:
        break;
    }
}

/* Numbers that are cast to pointers, backwards through arithmetic. */
static void mark_cast(struct reader *r, const struct dh_inst *i)
{
    const struct dh_program *p = r->x->program;
    if (i->result == DH_NONE)
        return;
    bool made = i->op == DH_I_COPY && i->flags & DH_INST_CAST && kind_of(r, i->result) == DH_REG_POINTER;
    bool through = is_move(i) || i->op == DH_I_BINARY || i->op == DH_I_MIX;
    for (uint32_t n = 0; (made || (through && r->cast[i->result])) && n < i->n_operands; n++)
        if (dh_is_register(dh_operand(p, i, n)) && !(i->op == DH_I_PHI && n % 2))
            r->cast[dh_operand(p, i, n)] = 1;
}

static void mark_casts(struct reader *r, const struct dh_function *f)
{
    const struct dh_program *p = r->x->program;
    for (int round = 0; round < 2; round++) /* twice, for loops */
        for (uint32_t b = f->block + f->n_blocks; b-- > f->block;)
            for (uint32_t n = p->blocks.at[b].inst + p->blocks.at[b].n_insts; n-- > p->blocks.at[b].inst;)
                mark_cast(r, &p->insts.at[n]);
}

static void read_copy(struct dh_andersen *x, uint32_t copy)
{
    const struct dh_program *p = x->program;
    struct reader r = {.x = x, .copy = copy, .c = x->copies.at[copy]};
    const struct dh_function *f = &p->functions.at[r.c.function];
    r.defined = dh_xmalloc((f->n_registers + 1u) * sizeof *r.defined);
    r.cast = dh_xcalloc(f->n_registers + 1u, 1);
    memset(r.defined, 0xff, f->n_registers * sizeof *r.defined);
    mark_casts(&r, f);
    for (int round = 0; round < 2; round++)
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
            for (uint32_t n = p->blocks.at[b].inst; n < p->blocks.at[b].inst + p->blocks.at[b].n_insts; n++)
                if (round)
                    read_inst(&r, &p->insts.at[n]);
                else if (p->insts.at[n].result != DH_NONE)
                    r.defined[p->insts.at[n].result] = n;
    free(r.defined);
    free(r.cast);
}

bool dh_andersen_read_next_clone(struct dh_andersen *x)
{
    if (x->n_read == x->copies.n)
        return false;
    read_copy(x, (uint32_t)x->n_read++);
    return true;
}

static void read_constant(struct dh_andersen *x, uint32_t n)
{
    const struct dh_constant *c = &x->program->constants.at[n];
    if (c->kind == DH_CONST_UNKNOWN) {
        dh_andersen_add_pointee(x, n, DH_LOCATION_UNKNOWN);
    } else if (c->kind == DH_CONST_GLOBAL || c->kind == DH_CONST_FUNCTION) {
        enum dh_abstract_object_kind kind = c->kind == DH_CONST_GLOBAL ? DH_ABSTRACT_GLOBAL : DH_ABSTRACT_FUNCTION;
        int64_t offset = c->kind == DH_CONST_GLOBAL ? c->number : 0;
        dh_andersen_add_pointee(x, n,
                                dh_andersen_get_location(x, dh_andersen_add_object(x, kind, c->index), offset, 0));
    }
}

/* External variables hold unknown pointers; but vtables and type information are constant. */
static void read_global(struct dh_andersen *x, uint32_t global)
{
    const struct dh_program *p = x->program;
    const struct dh_global *g = &p->globals.at[global];
    bool outside = g->flags & DH_GLOBAL_EXTERNAL && !dh_mangled_is_type_data(dh_program_string(p, g->name));
    if (!outside && !g->n_initials)
        return;
    uint32_t object = dh_andersen_add_object(x, DH_ABSTRACT_GLOBAL, global);
    if (outside) {
        uint32_t at = dh_andersen_add_variable(x);
        dh_andersen_add_pointee(x, at, dh_andersen_get_location(x, object, 0, 0));
        dh_andersen_add_constraint(x, at, (struct dh_andersen_constraint){.kind = DH_CONSTRAINT_EXPOSE});
    }
    for (uint32_t k = g->initial; k < g->initial + g->n_initials; k++) {
        uint32_t value = dh_andersen_variable_of(x, NULL, p->initials.at[k].value);
        if (value != DH_NONE)
            dh_andersen_add_initial(x, dh_andersen_get_location(x, object, p->initials.at[k].offset, 0), value);
    }
}

void dh_andersen_read_constraints(struct dh_andersen *x)
{
    const struct dh_program *p = x->program;
    x->max_copied = p->insts.n * COPY_TIMES > COPY_LEAST ? p->insts.n * COPY_TIMES : COPY_LEAST;
    while (x->variables.n < p->constants.n)
        dh_andersen_add_variable(x);
    for (uint32_t n = 0; n < p->constants.n; n++)
        read_constant(x, n);
    for (uint32_t n = 0; n < p->globals.n; n++)
        read_global(x, n);
    for (size_t n = 0; n < p->roots.n; n++)
        dh_andersen_expose_function(x, p->roots.at[n].function);
}
