/* Redundant check elimination. Layer: instrument. Within a synchronisation-free region (no call, atomic or fence) one
 * check per address is enough: the first write, else the first read (003 §7.1.4). The report then names that
 * access. Always within a basic block; degree `conflict` also across blocks, where a check dominates, for addresses in
 * the function's object; `optimized` for all addresses. */
#ifndef DH_INSTRUMENT_REDUNDANT_CHECKS_H
#define DH_INSTRUMENT_REDUNDANT_CHECKS_H

#include "instrument/pass.h"

/* Replaces accesses in `work` (instructions of one function, in order) whose check is redundant by NULL. `hooked`
 * answers the classes that the check of an access covers, 0: none. */
void dh_redundant_checks_remove(const struct dh_pass *pass, dh_value_vec *work,
                                unsigned (*hooked)(void *arg, const struct dh_memop *a), void *arg);
/* Whether the plan's degree eliminates across blocks, and for which addresses: those in *object, NULL: all. */
bool dh_redundant_checks_object(const struct dh_pass *pass, LLVMValueRef f, LLVMValueRef *object);
/* An address in that object; any, if it is NULL. */
bool dh_redundant_checks_is_in_object(LLVMValueRef object, LLVMValueRef addr);
/* After it happens-before may have changed, or memory may be freed. */
bool dh_memop_ends_sync_free_region(const struct dh_memop *a);

#endif
