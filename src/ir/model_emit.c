/* Appends instructions to the abstract program, with site and location of the one being translated. */
#include "ir/model_internal.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>

struct dh_inst *dh_emit(struct dh_model_reader *r, enum dh_inst_op op, uint32_t result)
{
    struct dh_inst *i = dh_build_inst(r->p, op, result);
    i->site = r->site;
    i->place = r->place;
    return i;
}

struct dh_inst *dh_emit1(struct dh_model_reader *r, enum dh_inst_op op, uint32_t result, dh_value a)
{
    struct dh_inst *i = dh_emit(r, op, result);
    dh_build_operand(r->p, a);
    return i;
}

struct dh_inst *dh_emit2(struct dh_model_reader *r, enum dh_inst_op op, uint32_t result, dh_value a, dh_value b)
{
    struct dh_inst *i = dh_emit1(r, op, result, a);
    dh_build_operand(r->p, b);
    return i;
}

uint32_t dh_emit_register(struct dh_model_reader *r)
{
    return dh_build_register(r->p, DH_REG_POINTER);
}

dh_value dh_emit_load(struct dh_model_reader *r, dh_value address)
{
    uint32_t result = dh_emit_register(r);
    struct dh_inst *i = dh_emit1(r, DH_I_LOAD, result, address);
    i->size = 8;
    i->flags |= DH_INST_SYNTHETIC | DH_INST_LIBRARY;
    return result;
}

dh_value dh_emit_offset(struct dh_model_reader *r, dh_value address, int64_t bytes)
{
    if (!bytes)
        return address;
    if (!dh_is_register(address)) {
        struct dh_constant c = *dh_program_constant(r->p, address);
        if (c.kind == DH_CONST_GLOBAL || c.kind == DH_CONST_INT)
            return dh_build_constant(r->p, c.kind, c.index, c.number + bytes);
        return address;
    }
    uint32_t result = dh_emit_register(r);
    dh_emit1(r, DH_I_OFFSET, result, address)->offset = bytes;
    return result;
}

void dh_emit_store(struct dh_model_reader *r, dh_value address, dh_value value, uint32_t size)
{
    struct dh_inst *i = dh_emit2(r, DH_I_STORE, DH_NONE, address, value);
    i->size = size;
    i->flags |= DH_INST_SYNTHETIC | DH_INST_LIBRARY;
}

uint32_t dh_emit_block(struct dh_model_reader *r)
{
    dh_build_block(r->p);
    return r->n_blocks++;
}

void dh_emit_jump(struct dh_model_reader *r, uint32_t block)
{
    dh_emit(r, DH_I_JUMP, DH_NONE);
    dh_build_edge(r->p, block);
}

void dh_emit_set_place(struct dh_model_reader *r, LLVMValueRef instruction)
{
    r->at = instruction;
    r->site = instruction ? dh_ir_site_of(instruction) : DH_NO_SITE;
    r->place = 0;
    LLVMMetadataRef location = instruction ? LLVMInstructionGetDebugLoc(instruction) : NULL;
    if (!location)
        return;
    const struct dh_scope *scope = dh_di_scope(r->di, LLVMDILocationGetScope(location));
    struct dh_source_location place = {.file = dh_build_string(r->p, scope->file),
                                       .function = dh_build_string(r->p, scope->function),
                                       .line = LLVMDILocationGetLine(location),
                                       .column = LLVMDILocationGetColumn(location)};
    r->place = dh_build_place(r->p, &place);
}
