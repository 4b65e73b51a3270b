/* Replaces atomic instructions by calls of the hooks that execute them. Layer: instrument. Stateless. Values are passed
 * as integers of their size; floating-point arithmetic stays in the program, in a compare-exchange loop. */
#ifndef DH_INSTRUMENT_ATOMIC_HOOKS_H
#define DH_INSTRUMENT_ATOMIC_HOOKS_H

#include "instrument/pass.h"

/* Replaces the instruction at the builder's position, which must be just before it; `a->at` is gone afterwards. One of
 * a size or alignment that the machine cannot do is announced as a call: the code generator makes it one of libatomic,
 * which the runtime stands before. One that is ordered against signal handlers only stays as it is. */
void dh_atomics_place(struct dh_pass *pass, const struct dh_memop *a, LLVMValueRef place);

#endif
