/* A second tag on accesses, for merging: optimisations drop !dh.site when they make one access of several or move it,
 * but they join the alias scopes of what they merge. So each site is also a scope of a domain of ours, against
 * which nothing is ever declared noalias: alias analysis learns nothing from it, and what a merged access stands
 * for can be read off it. Layer: ir.
 * Needs: tags of dh_ir_number_sites. Remove the scopes once placement has read them. */
#ifndef DH_IR_CARRY_H
#define DH_IR_CARRY_H

#include <llvm-c/Core.h>
#include <stdint.h>

void dh_ir_carry_sites(LLVMModuleRef m);
/* Fills `sites` with at most `most` sites the instruction stands for, lowest first, and answers their number. */
unsigned dh_ir_carried(LLVMValueRef instruction, uint32_t *sites, unsigned most);
void dh_ir_drop_carried(LLVMValueRef instruction);

#endif
