/* Splits a module for parallel code generation. Layer: driver (LLVM). The parent assigns functions to parts and forks;
 * each child keeps its part of the module in memory. Part 0 has all variables. */
#ifndef DH_DRIVER_PARTITION_H
#define DH_DRIVER_PARTITION_H

#include <llvm-c/Core.h>
#include <stddef.h>

struct dh_partition {
    unsigned n;
    unsigned *of_function; /* by order in the module */
};

/* `least` parts, one for small programs; more for large ones, of `size` instructions each, but at most `most`. Local
 * symbols that another part uses get hidden visibility. */
void dh_partition_split(struct dh_partition *p, LLVMModuleRef m, unsigned least, unsigned most, size_t size);
/* Before hooks are placed: parts are the same then whatever hooks a plan has, so that those without a difference
 * between two plans are found in the cache. */
void dh_partition_weigh(LLVMModuleRef m);
size_t dh_partition_instructions(LLVMModuleRef m);
/* A number of instructions, as tests that split small programs scale it. */
size_t dh_partition_scaled(size_t instructions);
/* Removes everything but part k from the module. */
void dh_partition_keep(const struct dh_partition *p, LLVMModuleRef m, unsigned k);
void dh_partition_release(struct dh_partition *p);

#endif
