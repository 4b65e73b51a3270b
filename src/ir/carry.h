/* A second tag on accesses, for merging: optimisations drop !dh.site when they make one access of several or move it,
 * but they join the alias scopes of what they merge. So each site is also a scope of a domain of ours, against
 * which nothing is ever declared noalias: alias analysis learns nothing from it, and what a merged access stands
 * for can be read off it. Layer: ir.
 * Needs: tags of dh_ir_number_sites. Remove the scopes once placement has read them. */
#ifndef DH_IR_CARRY_H
#define DH_IR_CARRY_H

#include <llvm-c/Core.h>
#include <stdint.h>

/* A site, and in the bits above what its access does without there (event/plan.h: dh_clone_exemption). */
enum { DH_CARRIED_SITE_BITS = 28 };
static inline uint32_t dh_carried_site(uint32_t carried)
{
    return carried & ((1u << DH_CARRIED_SITE_BITS) - 1);
}
static inline unsigned dh_carried_spared(uint32_t carried)
{
    return carried >> DH_CARRIED_SITE_BITS;
}

void dh_ir_carry_sites(LLVMModuleRef m);
/* Says of an access in a copy what it does without; 0 when nobody did. Lost with the tag of the site, but carried. */
void dh_ir_spare(LLVMValueRef instruction, unsigned spared);
unsigned dh_ir_spared(LLVMValueRef instruction);
/* As the next one, but with what each does without. */
unsigned dh_ir_carried_spared(LLVMValueRef instruction, uint32_t *carried, unsigned most);
/* Fills `sites` with at most `most` sites the instruction stands for, lowest first, and answers their number. */
unsigned dh_ir_carried(LLVMValueRef instruction, uint32_t *sites, unsigned most);
void dh_ir_drop_carried(LLVMValueRef instruction);

#endif
