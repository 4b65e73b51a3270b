/* Tables of the abstract program, and queries about values. */
#include "model/program.h"

#include "model/builder.h"

#include <string.h>

const struct dh_inst_info *dh_inst_info(unsigned op)
{
    static const struct dh_inst_info table[] = {
#define DH_INST(id, word, class, operands) {word, operands, DH_CLASS_##class},
#include "model/inst.def"
#undef DH_INST
    };
    return &table[op < DH_I_COUNT ? op : DH_I_STOP];
}

const char *dh_limit_text(enum dh_limit limit)
{
    static const char *const table[] = {
#define DH_LIMIT(id, text) text,
#include "model/limit.def"
#undef DH_LIMIT
    };
    return table[limit];
}

void dh_program_init(struct dh_program *p)
{
    *p = (struct dh_program){.index = dh_program_interner_new()};
    dh_vec_push(&p->strings, '\0');
    dh_vec_push(&p->places, (struct dh_source_location){0});
}

void dh_program_release(struct dh_program *p)
{
    dh_vec_release(&p->functions);
    dh_vec_release(&p->blocks);
    dh_vec_release(&p->insts);
    dh_vec_release(&p->operands);
    dh_vec_release(&p->edges);
    dh_vec_release(&p->registers);
    dh_vec_release(&p->globals);
    dh_vec_release(&p->initials);
    dh_vec_release(&p->constants);
    dh_vec_release(&p->roots);
    dh_vec_release(&p->places);
    dh_vec_release(&p->strings);
    dh_vec_release(&p->foreign);
    dh_program_interner_free(p->index);
    p->index = NULL;
}

bool dh_value_int(const struct dh_program *p, dh_value v, int64_t *number)
{
    if (dh_is_register(v) || dh_program_constant(p, v)->kind != DH_CONST_INT)
        return false;
    *number = dh_program_constant(p, v)->number;
    return true;
}

uint32_t dh_value_function(const struct dh_program *p, dh_value v)
{
    if (dh_is_register(v) || dh_program_constant(p, v)->kind != DH_CONST_FUNCTION)
        return DH_NONE;
    return dh_program_constant(p, v)->index;
}

uint32_t dh_program_find_function(const struct dh_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->functions.n; i++)
        if (strcmp(dh_program_string(p, p->functions.at[i].name), name) == 0)
            return i;
    return DH_NONE;
}

uint32_t dh_program_find_global(const struct dh_program *p, const char *name)
{
    for (uint32_t i = 0; i < p->globals.n; i++)
        if (strcmp(dh_program_string(p, p->globals.at[i].name), name) == 0)
            return i;
    return DH_NONE;
}

uint32_t dh_program_block_of(const struct dh_program *p, uint32_t inst)
{
    size_t low = 0, high = p->blocks.n;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->blocks.at[middle].inst <= inst)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}
