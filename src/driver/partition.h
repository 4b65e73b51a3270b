/* Splits a module over several processes for code generation. Layer: driver (LLVM).
 * Plan in the parent, then fork; each child keeps its share of the in-memory module. Partition 0 has all variables. */
#ifndef DH_DRIVER_PARTITION_H
#define DH_DRIVER_PARTITION_H

#include <llvm-c/Core.h>

struct dh_partition {
    unsigned n;
    unsigned *of_function; /* by order in the module */
};

/* At most `max` parts, one for small programs. Makes visible (hidden) what one part uses of another. */
void dh_partition_split(struct dh_partition *p, LLVMModuleRef m, unsigned max);
/* Removes everything but part k; of no use to the caller's other parts afterwards. */
void dh_partition_keep(const struct dh_partition *p, LLVMModuleRef m, unsigned k);
void dh_partition_release(struct dh_partition *p);

#endif
