#include "analysis/points_to_unify.h"

#include "analysis/points_to_andersen.h"
#include "base/alloc.h"
#include "base/set.h"
#include "model/mangled_names.h"

#include <stdlib.h>
#include <string.h>

enum { CONTENTS_MAX = 4096, CONTENTS_NEAR = 128, WIDE_ELEMENT = 8, PASSES_MAX = 12, TARGETS_UNFILTERED = 64 };
#define NODES_MAX 12000000u

/* Functions that `caller` may point to may be called at `callee`, the node of a summary that was cloned to it. */
struct flow {
    uint32_t callee;
    struct dh_heap_cell caller;
};

/* State of one pass over the program. */
struct pass {
    struct dh_points_to *s;
    uint32_t function, scc;
    uint32_t *defined; /* by register of the current function: the instruction */
    DH_VEC(struct flow) flows;
};

void dh_points_to_init(struct dh_points_to *s, const struct dh_program *p)
{
    *s = (struct dh_points_to){.program = p, .max_nodes = NODES_MAX};
    dh_call_graph_init(&s->calls, p);
    s->registers = dh_xcalloc(p->registers.n, sizeof *s->registers);
    s->globals = dh_xcalloc(p->globals.n, sizeof *s->globals);
    s->functions = dh_xcalloc(p->functions.n, sizeof *s->functions);
    s->returns = dh_xcalloc(p->functions.n, sizeof *s->returns);
    s->common_instance = dh_xcalloc(p->functions.n, sizeof *s->common_instance);
    s->sccs = dh_xcalloc(p->functions.n, sizeof *s->sccs);
    dh_heap_graph_init(&s->graph);
}

static void release_summaries(struct dh_points_to *s)
{
    for (size_t i = 0; i < s->program->functions.n; i++) {
        dh_vec_release(&s->sccs[i].touched);
        dh_vec_release(&s->sccs[i].contents);
    }
}

void dh_points_to_release(struct dh_points_to *s)
{
    release_summaries(s);
    dh_heap_graph_release(&s->graph);
    dh_call_graph_release(&s->calls);
    free(s->registers);
    free(s->globals);
    free(s->functions);
    free(s->returns);
    free(s->common_instance);
    free(s->sccs);
    dh_vec_release(&s->instances);
    dh_vec_release(&s->cells);
}

/* ---- cells of values ---- */

static struct dh_heap_cell new_cell(struct dh_points_to *s)
{
    return (struct dh_heap_cell){dh_heap_graph_add_node(&s->graph, 0), 0};
}

static struct dh_heap_cell register_cell(struct dh_points_to *s, uint32_t function, uint32_t reg, bool make)
{
    uint32_t at = s->program->functions.at[function].registers + reg;
    if (s->registers[at].node == DH_NO_NODE) {
        if (!make || s->program->registers.at[at] == DH_REG_DATA)
            return DH_NO_CELL;
        s->registers[at] = new_cell(s);
    }
    return dh_heap_graph_find(&s->graph, s->registers[at]);
}

static struct dh_heap_cell constant_cell(struct dh_points_to *s, dh_value v)
{
    const struct dh_constant *c = dh_program_constant(s->program, v);
    switch (c->kind) {
    case DH_CONST_GLOBAL:
        return dh_heap_graph_find(&s->graph, dh_heap_cell_at(s->globals[c->index], c->number));
    case DH_CONST_FUNCTION:
        return dh_heap_graph_find(&s->graph, s->functions[c->index]);
    case DH_CONST_UNKNOWN:
        return dh_heap_graph_find(&s->graph, s->unknown);
    default:
        return DH_NO_CELL;
    }
}

static struct dh_heap_cell value_cell(struct pass *q, dh_value v)
{
    return dh_is_register(v) ? register_cell(q->s, q->function, v, true) : constant_cell(q->s, v);
}

struct dh_heap_cell dh_points_to_value(struct dh_points_to *s, uint32_t function, dh_value v)
{
    return dh_is_register(v) ? register_cell(s, function, v, false) : constant_cell(s, v);
}

struct dh_heap_cell dh_points_to_fold_cell(struct dh_points_to *s, struct dh_heap_cell c)
{
    c = dh_heap_graph_find(&s->graph, c);
    if (c.node == DH_NO_NODE)
        return c;
    const struct dh_heap_node *n = &s->graph.nodes.at[c.node];
    for (unsigned i = 0; i < n->n_folds; i++) {
        const struct dh_array_fold *f = &n->folds[i];
        if (f->stride <= WIDE_ELEMENT || c.offset < f->start || (f->length && c.offset >= f->start + f->length))
            continue;
        c.offset = f->start + (c.offset - f->start) % f->stride;
    }
    return c;
}

static struct dh_heap_cell operand_cell(struct pass *q, const struct dh_inst *i, uint32_t n)
{
    return n < i->n_operands ? value_cell(q, dh_operand(q->s->program, i, n)) : DH_NO_CELL;
}

static struct dh_heap_cell result_cell(struct pass *q, const struct dh_inst *i)
{
    return i->result == DH_NONE ? DH_NO_CELL : register_cell(q->s, q->function, i->result, true);
}

static void unify(struct pass *q, struct dh_heap_cell a, struct dh_heap_cell b)
{
    dh_heap_graph_unify(&q->s->graph, a, b);
}

/* ---- transfer functions ---- */

static void mark_accessed(struct pass *q, struct dh_heap_cell c, uint32_t flags, bool atomic)
{
    if (c.node == DH_NO_NODE)
        return;
    flags |= atomic ? DH_NODE_ATOMIC : DH_NODE_PLAIN;
    dh_heap_graph_add_flags(&q->s->graph, c, flags);
    struct dh_scc_summary *facts = &q->s->sccs[q->scc];
    if (!facts->touched.n || facts->touched.at[facts->touched.n - 1] != c.node)
        dh_vec_push(&facts->touched, c.node);
}

/* Arrays are folded only where a pointer into them is computed: arrays of numbers inside structs keep their offsets. */
static void fold_element(struct pass *q, dh_value address)
{
    const struct dh_program *p = q->s->program;
    for (int depth = 0; depth < 8 && dh_is_register(address) && q->defined[address] != DH_NONE; depth++) {
        const struct dh_inst *i = &p->insts.at[q->defined[address]];
        if (i->op == DH_I_INDEX && i->size == WIDE_ELEMENT)
            dh_heap_graph_fold_array(&q->s->graph, dh_heap_cell_at(operand_cell(q, i, 0), i->offset), i->size,
                                     i->flags & DH_INST_BOUNDED ? i->extra : 0);
        else if (i->op == DH_I_INDEX && i->size % WIDE_ELEMENT) /* after something of unknown length, but aligned */
            dh_heap_graph_fold_array(&q->s->graph, dh_heap_cell_at(operand_cell(q, i, 0), i->offset), WIDE_ELEMENT, 0);
        else if (i->op != DH_I_OFFSET && i->op != DH_I_COPY && i->op != DH_I_INDEX)
            return;
        address = dh_operand(p, i, 0);
    }
}

/* A value as wide as several pointers may hold as many. */
static void move(struct pass *q, const struct dh_inst *i, uint32_t address, struct dh_heap_cell value)
{
    struct dh_heap_cell at = operand_cell(q, i, address);
    if (value.node == DH_NO_NODE || at.node == DH_NO_NODE || (i->size && i->size < WIDE_ELEMENT))
        return;
    fold_element(q, dh_operand(q->s->program, i, address));
    for (uint32_t by = 0; by == 0 || by < i->size; by += WIDE_ELEMENT)
        unify(q, dh_heap_graph_get_pointee(&q->s->graph, dh_heap_cell_at(at, by)), value);
}

static void transfer_alias(struct pass *q, const struct dh_inst *i, uint32_t first, uint32_t step)
{
    struct dh_heap_cell result = result_cell(q, i);
    if (result.node == DH_NO_NODE)
        return;
    for (uint32_t n = first; n < i->n_operands; n += step)
        unify(q, result, operand_cell(q, i, n));
}

static bool is_pointer(const struct pass *q, dh_value v)
{
    const struct dh_program *p = q->s->program;
    return dh_is_register(v) && p->registers.at[p->functions.at[q->function].registers + v] == DH_REG_POINTER;
}

static void transfer_copy(struct pass *q, const struct dh_inst *i)
{
    transfer_alias(q, i, 0, 1);
    struct dh_heap_cell c = result_cell(q, i);
    bool made = i->flags & DH_INST_CAST && i->result != DH_NONE && is_pointer(q, i->result); /* of a number */
    if (c.node != DH_NO_NODE && made && (q->s->graph.nodes.at[c.node].flags & DH_NODE_INT_ARITHMETIC))
        dh_heap_graph_collapse(&q->s->graph, c.node);
}

static void transfer_offset(struct pass *q, const struct dh_inst *i)
{
    struct dh_heap_cell base = operand_cell(q, i, 0), result = result_cell(q, i);
    if (base.node == DH_NO_NODE)
        return;
    struct dh_heap_cell at = dh_heap_cell_at(base, i->offset);
    if (i->op == DH_I_INDEX && i->size > WIDE_ELEMENT)
        dh_heap_graph_fold_array(&q->s->graph, at, i->size, i->flags & DH_INST_BOUNDED ? i->extra : 0);
    unify(q, result, at);
}

/* Mostly inserting into and extracting from aggregates, which adds no offset; a result that is cast from a number
 * may point anywhere into the object. */
static void transfer_mix(struct pass *q, const struct dh_inst *i)
{
    transfer_alias(q, i, 0, 1);
    dh_heap_graph_add_flags(&q->s->graph, result_cell(q, i), DH_NODE_INT_ARITHMETIC);
}

static bool was_pointer(const struct pass *q, dh_value v)
{
    const struct dh_program *p = q->s->program;
    const struct dh_inst *i = dh_is_register(v) && q->defined[v] != DH_NONE ? &p->insts.at[q->defined[v]] : NULL;
    return i && i->op == DH_I_COPY && i->flags & DH_INST_CAST && is_pointer(q, dh_operand(p, i, 0));
}

static void transfer_binary(struct pass *q, const struct dh_inst *i)
{
    /* The difference of two pointers is no pointer. */
    if (i->extra == DH_BIN_SUB && was_pointer(q, dh_operand(q->s->program, i, 0)) &&
        was_pointer(q, dh_operand(q->s->program, i, 1)))
        return;
    if (i->extra != DH_BIN_ADD && i->extra != DH_BIN_SUB && i->extra != DH_BIN_AND && i->extra != DH_BIN_OR)
        return;
    transfer_alias(q, i, 0, 1);
    dh_heap_graph_add_flags(&q->s->graph, result_cell(q, i), DH_NODE_INT_ARITHMETIC);
}

static void transfer_object(struct pass *q, const struct dh_inst *i, uint32_t flag, enum dh_origin_kind kind)
{
    struct dh_heap_cell c = result_cell(q, i);
    if (c.node == DH_NO_NODE)
        return;
    dh_heap_graph_add_flags(&q->s->graph, c, flag);
    dh_heap_graph_add_origin(&q->s->graph, c.node, kind, (uint32_t)(i - q->s->program->insts.at));
}

static void transfer_memory(struct pass *q, const struct dh_inst *i)
{
    struct dh_heap_cell at = operand_cell(q, i, 0);
    switch (i->op) {
    case DH_I_LOAD:
        mark_accessed(q, at, DH_NODE_READ, i->order);
        move(q, i, 0, result_cell(q, i));
        break;
    case DH_I_STORE:
        mark_accessed(q, at, DH_NODE_WRITTEN, i->order);
        move(q, i, 0, operand_cell(q, i, 1));
        break;
    case DH_I_RMW:
    case DH_I_CAS:
        mark_accessed(q, at, DH_NODE_ACCESSED, i->order);
        for (uint32_t n = 1; n < i->n_operands; n++)
            move(q, i, 0, operand_cell(q, i, n));
        move(q, i, 0, result_cell(q, i));
        break;
    case DH_I_MEMSET:
        mark_accessed(q, at, DH_NODE_WRITTEN, i->order);
        break;
    default:
        break;
    }
}

static bool same_content(const struct dh_copied_memory *a, const struct dh_copied_memory *b)
{
    return a->a.node == b->a.node && a->a.offset == b->a.offset && a->b.node == b->b.node &&
           a->b.offset == b->b.offset && a->length == b->length;
}

static void add_content(struct pass *q, struct dh_copied_memory c)
{
    struct dh_scc_summary *facts = &q->s->sccs[q->scc];
    if (c.a.node == DH_NO_NODE || c.b.node == DH_NO_NODE)
        return;
    c.a = dh_heap_graph_find(&q->s->graph, c.a);
    c.b = dh_heap_graph_find(&q->s->graph, c.b);
    if (c.a.node == c.b.node && c.a.offset == c.b.offset)
        return;
    /* Functions are called repeatedly with the same objects. */
    for (size_t n = facts->contents.n, tried = 0; n-- > 0 && tried < CONTENTS_NEAR; tried++)
        if (same_content(&facts->contents.at[n], &c))
            return;
    if (facts->contents.n < CONTENTS_MAX)
        dh_vec_push(&facts->contents, c);
    else
        unify(q, c.a, c.b);
}

static void transfer_memcpy(struct pass *q, const struct dh_inst *i)
{
    struct dh_heap_cell to = operand_cell(q, i, 0), from = operand_cell(q, i, 1);
    int64_t length = 0;
    if (i->n_operands > 2 && dh_value_int(q->s->program, dh_operand(q->s->program, i, 2), &length) && length < 0)
        length = 0;
    mark_accessed(q, to, DH_NODE_WRITTEN, false);
    mark_accessed(q, from, DH_NODE_READ, false);
    add_content(q, (struct dh_copied_memory){to, from, (uint64_t)length});
}

static void transfer_realloc(struct pass *q, const struct dh_inst *i)
{
    unify(q, result_cell(q, i), operand_cell(q, i, 0));
    transfer_object(q, i, DH_NODE_HEAP, DH_ORIGIN_ALLOC);
    mark_accessed(q, operand_cell(q, i, 0), DH_NODE_ACCESSED | DH_NODE_FREED, false);
}

/* ---- calls ---- */

static struct dh_heap_cell *instance_cells(struct dh_points_to *s, uint32_t inst, uint32_t function)
{
    uint32_t at = (uint32_t)s->cells.n;
    for (uint32_t n = 0; n <= s->program->functions.at[function].n_params; n++) {
        struct dh_heap_cell c = {dh_heap_graph_add_node(&s->graph, DH_NODE_GLOBAL), 0};
        dh_vec_push(&s->cells, c);
    }
    dh_vec_push(&s->instances, (struct dh_common_instance){inst, function, at});
    return &s->cells.at[at];
}

static const struct dh_common_instance *common_instance(struct dh_points_to *s, uint32_t function)
{
    if (s->common_instance[function] == DH_NONE) {
        s->common_instance[function] = (uint32_t)s->instances.n;
        instance_cells(s, DH_NONE, function);
    }
    return &s->instances.at[s->common_instance[function]];
}

static void call_instance(struct pass *q, const struct dh_common_instance *at, const struct dh_inst *i, uint32_t first)
{
    struct dh_points_to *s = q->s;
    struct dh_common_instance in = *at;
    uint32_t n_params = s->program->functions.at[in.function].n_params;
    for (uint32_t n = 0; n < n_params && first + n < i->n_operands; n++)
        unify(q, s->cells.at[in.cells + n], operand_cell(q, i, first + n));
    unify(q, s->cells.at[in.cells + n_params], result_cell(q, i));
}

static void call_own_group(struct pass *q, const struct dh_inst *i, uint32_t target)
{
    struct dh_points_to *s = q->s;
    uint32_t n_params = s->program->functions.at[target].n_params;
    for (uint32_t n = 0; n < n_params && n + 1 < i->n_operands; n++)
        unify(q, register_cell(s, target, n, true), operand_cell(q, i, n + 1));
    unify(q, dh_heap_graph_find(&s->graph, s->returns[target]), result_cell(q, i));
}

static void note_clone(void *self, uint32_t from, struct dh_heap_cell to)
{
    struct pass *q = self;
    uint32_t flags = q->s->graph.nodes.at[from].flags;
    if (flags & DH_NODE_ACCESSED)
        dh_vec_push(&q->s->sccs[q->scc].touched, to.node);
    if (flags & DH_NODE_CALLED)
        dh_vec_push(&q->flows, (struct flow){from, to});
}

static void clone_contents(struct pass *q, uint32_t scc)
{
    struct dh_scc_summary *from = &q->s->sccs[scc];
    for (size_t n = 0; n < from->contents.n; n++) {
        struct dh_copied_memory c = from->contents.at[n];
        struct dh_heap_graph *g = &q->s->graph;
        bool settled = g->nodes.at[dh_heap_graph_find(g, c.a).node].flags &
                       g->nodes.at[dh_heap_graph_find(g, c.b).node].flags & DH_NODE_GLOBAL;
        if (!settled)
            add_content(q, (struct dh_copied_memory){dh_heap_graph_find_image(g, c.a), dh_heap_graph_find_image(g, c.b),
                                                     c.length});
    }
}

static void call_other_group(struct pass *q, const struct dh_inst *i, uint32_t target)
{
    struct dh_points_to *s = q->s;
    uint32_t n_params = s->program->functions.at[target].n_params;
    dh_heap_graph_begin_clone(&s->graph);
    for (uint32_t n = 0; n < n_params; n++) {
        struct dh_heap_cell param = register_cell(s, target, n, false), arg = operand_cell(q, i, n + 1);
        if (param.node != DH_NO_NODE)
            dh_heap_graph_clone(&s->graph, param, arg.node != DH_NO_NODE ? arg : new_cell(s), note_clone, q);
    }
    struct dh_heap_cell result = result_cell(q, i);
    if (result.node != DH_NO_NODE)
        dh_heap_graph_clone(&s->graph, s->returns[target], result, note_clone, q);
    clone_contents(q, s->calls.scc[target]);
}

/* A callback that unknown code may call: most likely its arguments are the call's last ones. */
static void call_from_foreign(struct pass *q, const struct dh_inst *i, uint32_t target)
{
    struct dh_points_to *s = q->s;
    struct dh_common_instance in = *common_instance(s, target);
    struct dh_heap_cell last = DH_NO_CELL;
    for (uint32_t n = 0; n < i->n_operands; n++) {
        struct dh_heap_cell c = operand_cell(q, i, n);
        if (c.node != DH_NO_NODE && dh_value_function(s->program, dh_operand(s->program, i, n)) == DH_NONE)
            last = c;
    }
    for (uint32_t n = 0; n < s->program->functions.at[target].n_params; n++)
        unify(q, s->cells.at[in.cells + n], last);
}

static void transfer_foreign(struct pass *q, const struct dh_inst *i)
{
    struct dh_points_to *s = q->s;
    for (uint32_t n = 0; n < i->n_operands; n++) {
        uint32_t function = dh_value_function(s->program, dh_operand(s->program, i, n));
        mark_accessed(q, operand_cell(q, i, n), DH_NODE_EXPOSED | DH_NODE_GLOBAL | DH_NODE_ACCESSED, false);
        if (function != DH_NONE && s->program->functions.at[function].n_blocks) {
            uint32_t inst = (uint32_t)(i - s->program->insts.at);
            dh_call_graph_add_target(&s->calls, inst, function);
            s->calls.insensitive[inst] = 1;
            call_from_foreign(q, i, function);
        }
    }
    struct dh_heap_cell c = result_cell(q, i);
    if (c.node == DH_NO_NODE)
        return;
    dh_heap_graph_add_flags(&s->graph, c, DH_NODE_EXPOSED | DH_NODE_GLOBAL);
    dh_heap_graph_add_origin(&s->graph, c.node, DH_ORIGIN_FOREIGN, i->extra);
}

static void transfer_call(struct pass *q, const struct dh_inst *i)
{
    struct dh_points_to *s = q->s;
    uint32_t inst = (uint32_t)(i - s->program->insts.at);
    if (dh_is_register(dh_operand(s->program, i, 0)))
        dh_heap_graph_add_flags(&s->graph, operand_cell(q, i, 0), DH_NODE_CALLED);
    for (uint32_t it = dh_call_graph_first(&s->calls, inst), target;
         dh_call_graph_next(&s->calls, inst, &it, &target);) {
        if (!s->program->functions.at[target].n_blocks)
            continue;
        if (s->calls.insensitive[inst])
            call_instance(q, common_instance(s, target), i, 1);
        else if (s->coarse || s->calls.scc[target] == q->scc)
            call_own_group(q, i, target);
        else
            call_other_group(q, i, target);
    }
}

static void transfer_start(struct pass *q, const struct dh_inst *i)
{
    struct dh_points_to *s = q->s;
    uint32_t inst = (uint32_t)(i - s->program->insts.at), callee = dh_inst_callee_operand(i);
    if (callee >= i->n_operands)
        return;
    if (dh_is_register(dh_operand(s->program, i, callee)))
        dh_heap_graph_add_flags(&s->graph, operand_cell(q, i, callee), DH_NODE_CALLED);
    if (i->op == DH_I_CREATE)
        mark_accessed(q, operand_cell(q, i, 0), DH_NODE_WRITTEN, false);
    for (uint32_t n = callee + 1; n < i->n_operands; n++)
        dh_heap_graph_add_flags(&s->graph, operand_cell(q, i, n), DH_NODE_GLOBAL);
    for (uint32_t it = dh_call_graph_first(&s->calls, inst), target;
         dh_call_graph_next(&s->calls, inst, &it, &target);) {
        uint32_t at = (uint32_t)s->instances.n;
        instance_cells(s, inst, target);
        call_instance(q, &s->instances.at[at], i, callee + 1);
    }
}

static void transfer_sync(struct pass *q, const struct dh_inst *i)
{
    for (uint32_t n = 0; n < i->n_operands; n++)
        dh_heap_graph_add_flags(&q->s->graph, operand_cell(q, i, n), DH_NODE_SYNC_OBJECT);
    if (i->op == DH_I_LOCK_INIT || i->op == DH_I_LOCK_DESTROY)
        mark_accessed(q, operand_cell(q, i, 0), DH_NODE_WRITTEN, false);
    else if (i->op == DH_I_LOCK || i->op == DH_I_RDLOCK || i->op == DH_I_UNLOCK)
        mark_accessed(q, operand_cell(q, i, 0), DH_NODE_READ, true);
}

static void transfer_inst(struct pass *q, const struct dh_inst *i)
{
    switch (i->op) {
    case DH_I_SLOT:
        transfer_object(q, i, DH_NODE_STACK, DH_ORIGIN_SLOT);
        break;
    case DH_I_COPY:
        transfer_copy(q, i);
        break;
    case DH_I_PHI:
        transfer_alias(q, i, 0, 2);
        break;
    case DH_I_SELECT:
        transfer_alias(q, i, 1, 1);
        break;
    case DH_I_OFFSET:
    case DH_I_INDEX:
        transfer_offset(q, i);
        break;
    case DH_I_BINARY:
        transfer_binary(q, i);
        break;
    case DH_I_MIX:
        transfer_mix(q, i);
        break;
    case DH_I_MEMCPY:
        transfer_memcpy(q, i);
        break;
    case DH_I_ALLOC:
        transfer_object(q, i, DH_NODE_HEAP, DH_ORIGIN_ALLOC);
        break;
    case DH_I_REALLOC:
        transfer_realloc(q, i);
        break;
    case DH_I_FREE:
        mark_accessed(q, operand_cell(q, i, 0), DH_NODE_WRITTEN | DH_NODE_FREED, false);
        break;
    case DH_I_CALL:
        transfer_call(q, i);
        break;
    case DH_I_FOREIGN:
        transfer_foreign(q, i);
        break;
    case DH_I_CREATE:
    case DH_I_REGISTER:
        transfer_start(q, i);
        break;
    case DH_I_RETURN:
        if (i->n_operands)
            unify(q, q->s->returns[q->function], operand_cell(q, i, 0));
        break;
    default:
        if (dh_inst_class(i) == DH_CLASS_MEMORY)
            transfer_memory(q, i);
        else if (dh_inst_class(i) == DH_CLASS_SYNC)
            transfer_sync(q, i);
        break;
    }
}

/* ---- passes ---- */

static void analyse_function(struct pass *q, uint32_t function)
{
    const struct dh_program *p = q->s->program;
    const struct dh_function *f = &p->functions.at[function];
    q->function = function;
    q->defined = dh_xcalloc(f->n_registers, sizeof *q->defined);
    memset(q->defined, 0xff, f->n_registers * sizeof *q->defined);
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = 0; i < p->blocks.at[b].n_insts; i++)
            if (p->insts.at[p->blocks.at[b].inst + i].result != DH_NONE)
                q->defined[p->insts.at[p->blocks.at[b].inst + i].result] = p->blocks.at[b].inst + i;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = 0; i < p->blocks.at[b].n_insts; i++)
            transfer_inst(q, &p->insts.at[p->blocks.at[b].inst + i]);
    free(q->defined);
}

static void unify_contents(struct dh_points_to *s, struct dh_scc_summary *facts)
{
    enum { ROUNDS = 16 };
    bool moved = true;
    for (int round = 0; moved && facts->contents.n; round++) {
        moved = false;
        for (size_t n = 0; n < facts->contents.n; n++) {
            struct dh_copied_memory *c = &facts->contents.at[n];
            if (round < ROUNDS)
                moved |= dh_heap_graph_unify_content(&s->graph, c->a, c->b, c->length);
            else
                dh_heap_graph_unify(&s->graph, c->a, c->b);
        }
    }
}

static void analyse_scc(struct pass *q, uint32_t scc)
{
    struct dh_points_to *s = q->s;
    q->scc = scc;
    for (uint32_t n = s->calls.scc_first[scc]; n < s->calls.scc_first[scc + 1]; n++)
        analyse_function(q, s->calls.order[n]);
    unify_contents(s, &s->sccs[scc]);
    if (s->graph.nodes.n > s->max_nodes)
        s->coarse = true;
}

/* External: unknown code may store there; but vtables and type information are constant. */
static bool is_external(const struct dh_program *p, const struct dh_global *g)
{
    return g->flags & DH_GLOBAL_EXTERNAL && !dh_mangled_is_type_data(dh_program_string(p, g->name));
}

static void add_globals(struct dh_points_to *s)
{
    const struct dh_program *p = s->program;
    struct dh_heap_graph *g = &s->graph;
    s->unknown = (struct dh_heap_cell){dh_heap_graph_add_node(g, DH_NODE_GLOBAL | DH_NODE_EXPOSED), 0};
    dh_heap_graph_add_edge(g, s->unknown, s->unknown);
    dh_heap_graph_collapse(g, s->unknown.node);
    for (uint32_t n = 0; n < p->globals.n; n++) {
        uint32_t outside = is_external(p, &p->globals.at[n]) ? DH_NODE_EXPOSED : 0;
        s->globals[n] = (struct dh_heap_cell){dh_heap_graph_add_node(g, DH_NODE_GLOBAL | outside), 0};
        dh_heap_graph_add_origin(g, s->globals[n].node, DH_ORIGIN_GLOBAL, n);
    }
    for (uint32_t n = 0; n < p->functions.n; n++) {
        s->functions[n] = (struct dh_heap_cell){dh_heap_graph_add_node(g, DH_NODE_GLOBAL), 0};
        dh_heap_graph_add_origin(g, s->functions[n].node, DH_ORIGIN_FUNCTION, n);
        s->returns[n] = new_cell(s);
        s->common_instance[n] = DH_NONE;
    }
    for (uint32_t n = 0; n < p->globals.n; n++)
        for (uint32_t k = 0; k < p->globals.at[n].n_initials; k++) {
            const struct dh_initial *i = &p->initials.at[p->globals.at[n].initial + k];
            dh_heap_graph_add_edge(g, dh_heap_cell_at(s->globals[n], i->offset), constant_cell(s, i->value));
        }
    for (size_t n = 0; n < p->registers.n; n++)
        s->registers[n] = DH_NO_CELL;
}

/* Threads, handlers and context-insensitive calls: what is reachable from their parameters is global. */
static void fill_instances(struct pass *q)
{
    struct dh_points_to *s = q->s;
    for (size_t n = 0; n < s->instances.n; n++) {
        struct dh_common_instance in = s->instances.at[n];
        uint32_t n_params = s->program->functions.at[in.function].n_params;
        q->scc = s->calls.scc[in.function];
        dh_heap_graph_begin_clone(&s->graph);
        for (uint32_t k = 0; k < n_params; k++)
            dh_heap_graph_clone(&s->graph, register_cell(s, in.function, k, false), s->cells.at[in.cells + k],
                                note_clone, q);
        dh_heap_graph_clone(&s->graph, s->returns[in.function], s->cells.at[in.cells + n_params], note_clone, q);
        clone_contents(q, q->scc);
    }
}

static void add_root_instances(struct dh_points_to *s)
{
    for (size_t n = 0; n < s->program->roots.n; n++) {
        uint32_t function = s->program->roots.at[n].function;
        if (s->program->functions.at[function].n_blocks)
            common_instance(s, function);
    }
}

static void run_pass(struct pass *q)
{
    struct dh_points_to *s = q->s;
    release_summaries(s);
    dh_heap_graph_release(&s->graph);
    dh_heap_graph_init(&s->graph);
    s->instances.n = s->cells.n = 0;
    q->flows.n = 0;
    dh_call_graph_order(&s->calls);
    add_globals(s);
    add_root_instances(s);
    for (uint32_t scc = 0; scc < s->calls.n_sccs; scc++)
        analyse_scc(q, scc);
    fill_instances(q);
    for (uint32_t scc = 0; scc < s->calls.n_sccs; scc++)
        unify_contents(s, &s->sccs[scc]);
}

/* ---- calls through pointers ---- */

/* Functions that a caller's object may be are callable at the node of the summary that was cloned to it. */
static bool propagate_functions(struct pass *q, struct dh_u64_set *known)
{
    struct dh_heap_graph *g = &q->s->graph;
    bool moved = false;
    for (size_t n = 0; n < q->flows.n; n++) {
        uint32_t to = dh_heap_graph_find(g, (struct dh_heap_cell){q->flows.at[n].callee, 0}).node;
        uint32_t from = dh_heap_graph_find(g, q->flows.at[n].caller).node;
        uint32_t first = g->nodes.at[from].origin, at = first;
        if (first == DH_NO_NODE || from == to)
            continue;
        do {
            struct dh_heap_origin o = g->origins.at[at];
            if (o.kind == DH_ORIGIN_FUNCTION && dh_u64_set_add(known, dh_pair_key(to, o.index))) {
                dh_heap_graph_add_origin(g, to, DH_ORIGIN_FUNCTION, o.index);
                moved = true;
            }
            at = o.next;
        } while (at != first);
    }
    return moved;
}

static unsigned count_functions(const struct dh_heap_graph *g, uint32_t node)
{
    uint32_t first = g->nodes.at[node].origin, at = first;
    unsigned count = 0;
    if (first != DH_NO_NODE)
        do {
            count += g->origins.at[at].kind == DH_ORIGIN_FUNCTION;
            at = g->origins.at[at].next;
        } while (at != first);
    return count;
}

static bool returns_value(const struct dh_program *p, const struct dh_function *f)
{
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_inst *end = &p->insts.at[p->blocks.at[b].inst + p->blocks.at[b].n_insts - 1];
        if (end->op == DH_I_RETURN)
            return end->n_operands > 0;
    }
    return true; /* never returns */
}

/* Whether the call can have this callee at all: it must pass all parameters, no narrow number for a pointer, and use
 * no result that there is none of. Separates tables of functions that unification merged. */
static bool is_callable(const struct dh_program *p, const struct dh_inst *i, uint32_t from, uint32_t function)
{
    const struct dh_function *f = &p->functions.at[function];
    if (i->op != DH_I_CALL || i->flags & (DH_INST_SYNTHETIC | DH_INST_LIBRARY) || f->flags & DH_FUNCTION_VARIADIC)
        return true;
    if (f->n_params > i->n_operands - 1 || (i->result != DH_NONE && !returns_value(p, f)))
        return false;
    for (uint32_t n = 0; n < f->n_params; n++) {
        dh_value v = dh_operand(p, i, n + 1);
        bool number = dh_is_register(v) && p->registers.at[p->functions.at[from].registers + v] == DH_REG_DATA;
        if (number && p->registers.at[f->registers + n] == DH_REG_POINTER)
            return false;
    }
    return true;
}

static bool has_call_type(const struct dh_program *p, const struct dh_inst *i, uint32_t function, bool strictly)
{
    if (!strictly || i->op != DH_I_CALL || !i->extra || !p->functions.at[function].signature)
        return true;
    return i->extra == p->functions.at[function].signature;
}

/* Where the callees are unknown, functions of another machine type come from unification, as long as there is one of
 * the call's type. */
static bool prefers_own_type(const struct dh_points_to *s, uint32_t inst, uint32_t node)
{
    const struct dh_program *p = s->program;
    const struct dh_heap_graph *g = &s->graph;
    if (!s->andersen || p->insts.at[inst].op != DH_I_CALL || dh_andersen_knows_callees(s->andersen, inst))
        return false;
    uint32_t first = g->nodes.at[node].origin, at = first;
    if (first != DH_NO_NODE)
        do {
            struct dh_heap_origin o = g->origins.at[at];
            if (o.kind == DH_ORIGIN_FUNCTION && p->functions.at[o.index].n_blocks &&
                p->functions.at[o.index].signature == p->insts.at[inst].extra)
                return true;
            at = o.next;
        } while (at != first);
    return false;
}

static bool add_targets(struct dh_points_to *s, uint32_t inst, uint32_t from, uint32_t node)
{
    struct dh_heap_graph *g = &s->graph;
    const struct dh_inst *i = &s->program->insts.at[inst];
    bool strictly = count_functions(g, node) > TARGETS_UNFILTERED || prefers_own_type(s, inst, node), moved = false;
    uint32_t first = g->nodes.at[node].origin, at = first;
    if (first == DH_NO_NODE)
        return false;
    do {
        struct dh_heap_origin o = g->origins.at[at];
        if (o.kind == DH_ORIGIN_FUNCTION && s->program->functions.at[o.index].n_blocks &&
            is_callable(s->program, i, from, o.index) && has_call_type(s->program, i, o.index, strictly) &&
            (!s->andersen || dh_andersen_may_call(s->andersen, inst, o.index)))
            moved |= dh_call_graph_add_target(&s->calls, inst, o.index);
        at = o.next;
    } while (at != first);
    return moved;
}

static bool resolve_block(struct dh_points_to *s, const struct dh_basic_block *block)
{
    const struct dh_program *p = s->program;
    bool moved = false;
    for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++) {
        uint32_t callee = dh_inst_callee_operand(&p->insts.at[i]);
        if (callee == DH_NONE || callee >= p->insts.at[i].n_operands)
            continue;
        dh_value v = dh_operand(p, &p->insts.at[i], callee);
        if (dh_value_function(p, v) != DH_NONE)
            continue;
        struct dh_heap_cell c = dh_points_to_value(s, block->function, v);
        if (c.node != DH_NO_NODE)
            moved |= add_targets(s, i, block->function, c.node);
        s->n_indirect++;
        s->n_unresolved += s->calls.head[i] == DH_NONE;
    }
    return moved;
}

static bool resolve(struct pass *q)
{
    struct dh_points_to *s = q->s;
    struct dh_u64_set known = {0};
    bool moved = false;
    while (propagate_functions(q, &known))
        ;
    dh_u64_set_release(&known);
    s->n_indirect = s->n_unresolved = 0;
    for (size_t b = 0; b < s->program->blocks.n; b++)
        moved |= resolve_block(s, &s->program->blocks.at[b]);
    return moved;
}

/* Unknown code may follow the pointers that it gets. */
static void propagate_exposure(struct dh_points_to *s)
{
    struct dh_heap_graph *g = &s->graph;
    DH_VEC(uint32_t) todo = {0};
    for (uint32_t n = 0; n < g->nodes.n; n++)
        if (g->nodes.at[n].parent == n && g->nodes.at[n].flags & DH_NODE_EXPOSED)
            dh_vec_push(&todo, n);
    while (todo.n) {
        uint32_t at = todo.at[--todo.n];
        for (unsigned k = 0; k < g->nodes.at[at].n_edges; k++) {
            uint32_t to = dh_heap_graph_find(g, g->nodes.at[at].edges[k].to).node;
            if (g->nodes.at[to].flags & DH_NODE_EXPOSED)
                continue;
            g->nodes.at[to].flags |= DH_NODE_EXPOSED;
            dh_vec_push(&todo, to);
        }
    }
    dh_vec_release(&todo);
}

void dh_points_to_run(struct dh_points_to *s)
{
    struct pass q = {.s = s};
    do {
        run_pass(&q);
        if (++s->passes == PASSES_MAX)
            s->coarse = true;
    } while (resolve(&q) && s->passes < 2 * PASSES_MAX);
    propagate_exposure(s);
    dh_vec_release(&q.flows);
}
