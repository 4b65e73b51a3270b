/* Static critical sections: variables that may be accessed on any path from a lock call to its matching unlocks. Layer:
 * ir. Needs: a module whose sites are numbered (dh_ir_number_sites) and the builder that holds them. Provides: the
 * bytes of the container's part `scopes`, owned by the caller; adds strings to the builder. */
#ifndef DH_IR_CRITICAL_SECTIONS_H
#define DH_IR_CRITICAL_SECTIONS_H

#include "event/site.h"

#include <llvm-c/Core.h>

void *dh_ir_critical_sections(LLVMModuleRef m, struct dh_site_builder *b, size_t *n);

#endif
