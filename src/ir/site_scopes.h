/* Site metadata that survives merging. Layer: ir. Optimisations drop !dh.site when they merge or move accesses, but
 * they concatenate !alias.scope lists. So each site is also a scope of an alias domain against which nothing is ever
 * noalias: alias analysis learns nothing from it, and a merged access lists its sites. Needs: tags of
 * dh_ir_number_sites. Remove the scopes once placement has read them. */
#ifndef DH_IR_SITE_SCOPES_H
#define DH_IR_SITE_SCOPES_H

#include <llvm-c/Core.h>
#include <stdint.h>

/* A site, and in the bits above the exemption of its access in a clone (event/plan.h: dh_clone_exemption). */
enum { DH_MERGED_SITE_BITS = 28 };
static inline uint32_t dh_merged_site(uint32_t value)
{
    return value & ((1u << DH_MERGED_SITE_BITS) - 1);
}
static inline unsigned dh_merged_exemption(uint32_t value)
{
    return value >> DH_MERGED_SITE_BITS;
}

void dh_ir_add_site_scopes(LLVMModuleRef m);
/* Exemption from checks of an access in a function clone; 0 when there is none. Lost with !dh.site, but kept in the
 * scope. */
void dh_ir_set_exemption(LLVMValueRef instruction, unsigned exemption);
unsigned dh_ir_exemption(LLVMValueRef instruction);
/* As the next one, but each with its exemption. */
unsigned dh_ir_merged_sites_with_exemptions(LLVMValueRef instruction, uint32_t *value, unsigned most);
/* Fills `sites` with at most `most` sites that were merged into the instruction, lowest first; their number. */
unsigned dh_ir_merged_sites(LLVMValueRef instruction, uint32_t *sites, unsigned most);
void dh_ir_drop_site_scopes(LLVMValueRef instruction);

#endif
