/* Exempts library calls whose arguments are thread-private from the checks of interposed functions. Layer:
 * instrument. */
#ifndef DH_INSTRUMENT_PRIVATE_ARGS_H
#define DH_INSTRUMENT_PRIVATE_ARGS_H

#include "instrument/escape.h"
#include "instrument/pass.h"

/* After the hooks of the function's accesses were placed: memory intrinsics have their own, which the interposed
 * function that executes them would repeat. */
void dh_private_args_place(struct dh_pass *pass, struct dh_escape *e, LLVMValueRef function, dh_value_vec *work);

#endif
