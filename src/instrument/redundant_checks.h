/* Accesses that another one speaks for. Layer: instrument. Between two calls, atomics or fences no order can change, so
 * of several accesses to one address one hook is enough: the first write, or else the first read. The report then names
 * that one's place. In straight code always; degree `conflict` also from block to block, where all ways lead past a
 * check, for what the function reaches through its object, `optimized` for everything. */
#ifndef DH_INSTRUMENT_REDUNDANT_CHECKS_H
#define DH_INSTRUMENT_REDUNDANT_CHECKS_H

#include "instrument/pass.h"

/* Replaces what needs no hook in `work` (instructions of one function, in order) by NULL. `hooked` tells which classes
 * an access would get hooks of: it speaks for these, 0: for nobody. */
void dh_redundant_checks_remove(const struct dh_pass *w, dh_value_vec *work,
                                unsigned (*hooked)(void *arg, const struct dh_memop *a), void *arg);
/* Whether the plan's degree looks further than straight code, and at what: *object is the function's own, NULL:
 * everything. */
bool dh_redundant_checks_object(const struct dh_pass *w, LLVMValueRef f, LLVMValueRef *object);
/* An address in that object; any, if it is NULL. */
bool dh_redundant_checks_is_in_object(LLVMValueRef object, LLVMValueRef addr);
/* Behind it the order of threads may be another, or memory may be gone. */
bool dh_memop_ends_sync_free_region(const struct dh_memop *a);

#endif
