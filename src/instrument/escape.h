/* Intraprocedural escape analysis: memory that no other thread can reach (locals whose address stays in the function)
 * and constant data. Layer: instrument. Conservative ("may be shared") beyond a bounded number of uses and derivations.
 * One per module; owns its caches. */
#ifndef DH_INSTRUMENT_ESCAPE_H
#define DH_INSTRUMENT_ESCAPE_H

#include "base/set.h"
#include "base/vec.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

struct dh_escape {
    unsigned tbaa;
    struct dh_u64_map locals;  /* alloca -> does it escape */
    struct dh_u64_map vtables; /* type-based alias tag -> is it the tag of vtable pointers */
    struct dh_u64_set seen;    /* of the current walk */
    struct dh_u64_set ways;    /* bases that an address may be derived from; of one query */
    DH_VEC(LLVMValueRef) work, bases;
};

void dh_escape_init(struct dh_escape *e, LLVMContextRef c);
void dh_escape_release(struct dh_escape *e);
/* Forgets locals: their handles may be used again after the module changed. */
void dh_escape_next_function(struct dh_escape *e);
/* No other thread can reach `addr`, or only by the compiler's own design (coverage counters). */
bool dh_escape_is_private(struct dh_escape *e, LLVMValueRef addr);
/* A structure that was passed by value, and stays in the function. */
bool dh_escape_is_copy(struct dh_escape *e, LLVMValueRef addr);
/* The structure that the function returns: most likely a local variable of its caller. */
bool dh_escape_is_result(LLVMValueRef addr);
/* What lies there never changes: reads of it cannot race. */
bool dh_escape_is_constant(struct dh_escape *e, LLVMValueRef addr);

#endif
