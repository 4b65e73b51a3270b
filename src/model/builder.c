/* Builds a program: interning, bodies in order; edges and predecessors are resolved at the end. */
#include "model/builder.h"

#include "base/alloc.h"
#include "base/map.h"
#include "model/program.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the program's arrays by content. */
struct dh_program_interner {
    struct dh_index strings, constants, places;
    uint32_t function; /* whose body is being built */
};

struct dh_program_interner *dh_program_interner_new(void)
{
    struct dh_program_interner *index = DH_NEW(struct dh_program_interner);
    index->function = DH_NONE;
    return index;
}

void dh_program_interner_free(struct dh_program_interner *index)
{
    if (!index)
        return;
    dh_index_release(&index->strings);
    dh_index_release(&index->constants);
    dh_index_release(&index->places);
    free(index);
}

/* ---- strings: a row is the offset into the pool ---- */
uint32_t dh_build_string(struct dh_program *p, const char *text)
{
    if (!text || !*text)
        return 0;
    uint32_t row = dh_index_intern_text(&p->index->strings, p->strings.at, p->strings.n, text);
    if (row < p->strings.n)
        return row;
    size_t n = strlen(text) + 1;
    dh_vec_reserve(&p->strings, n);
    memcpy(p->strings.at + row, text, n);
    p->strings.n += n;
    return row;
}

dh_value dh_build_constant(struct dh_program *p, enum dh_constant_kind kind, uint32_t index, int64_t number)
{
    struct dh_constant c = {kind, index, number};
    uint32_t row = dh_index_intern_row(&p->index->constants, p->constants.at, p->constants.n, sizeof c, &c);
    if (row == p->constants.n)
        dh_vec_push(&p->constants, c);
    return row | DH_CONSTANT_BIT;
}

dh_value dh_build_int(struct dh_program *p, int64_t number)
{
    return dh_build_constant(p, DH_CONST_INT, 0, number);
}

uint32_t dh_build_place(struct dh_program *p, const struct dh_source_location *place)
{
    if (!place->line && !place->file)
        return 0;
    uint32_t row = dh_index_intern_row(&p->index->places, p->places.at, p->places.n, sizeof *place, place);
    if (row == p->places.n)
        dh_vec_push(&p->places, *place);
    return row;
}

/* ---- parts of a program ---- */
uint32_t dh_build_function(struct dh_program *p, const struct dh_function *f)
{
    dh_vec_push(&p->functions, *f);
    return (uint32_t)p->functions.n - 1;
}

uint32_t dh_build_global(struct dh_program *p, const struct dh_global *g)
{
    dh_vec_push(&p->globals, *g);
    return (uint32_t)p->globals.n - 1;
}

void dh_build_initial(struct dh_program *p, uint32_t global, uint32_t offset, dh_value value)
{
    struct dh_global *g = &p->globals.at[global];
    if (!g->n_initials)
        g->initial = (uint32_t)p->initials.n;
    g->n_initials++;
    dh_vec_push(&p->initials, (struct dh_initial){offset, value});
}

void dh_build_root(struct dh_program *p, enum dh_root_kind kind, uint32_t function, uint32_t order)
{
    dh_vec_push(&p->roots, (struct dh_root){kind, function, order});
}

void dh_build_limit(struct dh_program *p, enum dh_limit limit)
{
    p->limits[limit]++;
}

void dh_build_foreign(struct dh_program *p, const char *name)
{
    uint32_t string = dh_build_string(p, name);
    for (size_t i = 0; i < p->foreign.n; i++)
        if (p->foreign.at[i] == string)
            return;
    dh_vec_push(&p->foreign, string);
}

void dh_build_body(struct dh_program *p, uint32_t function)
{
    struct dh_function *f = &p->functions.at[function];
    p->index->function = function;
    f->block = (uint32_t)p->blocks.n;
    f->n_blocks = 0;
    f->registers = (uint32_t)p->registers.n;
    f->n_registers = 0;
}

uint32_t dh_build_register(struct dh_program *p, enum dh_register_kind kind)
{
    dh_vec_push(&p->registers, (uint8_t)kind);
    return p->functions.at[p->index->function].n_registers++;
}

void dh_build_block(struct dh_program *p)
{
    struct dh_basic_block b = {
        .function = p->index->function, .inst = (uint32_t)p->insts.n, .succ = (uint32_t)p->edges.n};
    dh_vec_push(&p->blocks, b);
    p->functions.at[p->index->function].n_blocks++;
}

struct dh_inst *dh_build_inst(struct dh_program *p, enum dh_inst_op op, uint32_t result)
{
    struct dh_inst i = {.op = (uint8_t)op, .result = result, .operand = (uint32_t)p->operands.n, .site = DH_NO_SITE};
    dh_vec_push(&p->insts, i);
    p->blocks.at[p->blocks.n - 1].n_insts++;
    return &p->insts.at[p->insts.n - 1];
}

void dh_build_operand(struct dh_program *p, dh_value v)
{
    dh_vec_push(&p->operands, v);
    p->insts.at[p->insts.n - 1].n_operands++;
}

void dh_build_edge(struct dh_program *p, uint32_t block)
{
    dh_vec_push(&p->edges, block);
    p->blocks.at[p->blocks.n - 1].n_succs++;
}

/* ---- finishing ---- */
static const struct dh_program *sorting; /* qsort has no argument; one program is finished at a time */

static int by_name(const void *a, const void *b)
{
    return strcmp(dh_program_string(sorting, *(const uint32_t *)a), dh_program_string(sorting, *(const uint32_t *)b));
}

static void count_predecessors(struct dh_program *p)
{
    for (size_t b = 0; b < p->blocks.n; b++) {
        struct dh_basic_block *block = &p->blocks.at[b];
        for (uint32_t s = 0; s < block->n_succs; s++) {
            p->edges.at[block->succ + s] += p->functions.at[block->function].block;
            p->blocks.at[p->edges.at[block->succ + s]].n_preds++;
        }
    }
}

static void fill_predecessors(struct dh_program *p)
{
    size_t n = p->edges.n;
    dh_vec_reserve(&p->edges, n);
    for (size_t b = 0; b < p->blocks.n; b++) {
        p->blocks.at[b].pred = (uint32_t)p->edges.n;
        p->edges.n += p->blocks.at[b].n_preds;
        p->blocks.at[b].n_preds = 0;
    }
    for (size_t b = 0; b < p->blocks.n; b++)
        for (uint32_t s = 0; s < p->blocks.at[b].n_succs; s++) {
            struct dh_basic_block *to = &p->blocks.at[p->edges.at[p->blocks.at[b].succ + s]];
            p->edges.at[to->pred + to->n_preds++] = (uint32_t)b;
        }
}

void dh_program_finish(struct dh_program *p)
{
    count_predecessors(p);
    fill_predecessors(p);
    sorting = p;
    if (p->foreign.n)
        qsort(p->foreign.at, p->foreign.n, sizeof *p->foreign.at, by_name);
    sorting = NULL;
    dh_program_interner_free(p->index);
    p->index = NULL;
}
