/* Adversarial memory (004): accesses of chosen sites become calls of the runtime, which executes them and may answer a
 * stale value. Layer: instrument. One per module; owns the lists of the present function. */
#ifndef DH_INSTRUMENT_STALE_HOOKS_H
#define DH_INSTRUMENT_STALE_HOOKS_H

#include "instrument/pass.h"

struct dh_stale_hooks {
    dh_value_vec slots;  /* allocas for values that no register holds, one per type: each is dead again at once */
    dh_value_vec locals; /* variables of the function that are accessed at chosen places */
};

void dh_stale_hooks_release(struct dh_stale_hooks *s);
void dh_stale_hooks_next_function(struct dh_stale_hooks *s);
/* `a` is an ordinary access, erased afterwards. Atomics that are not chosen keep their semantics, executed by the
 * runtime. */
void dh_stale_hooks_place(struct dh_stale_hooks *s, struct dh_pass *pass, const struct dh_memop *a, uint32_t site);
/* After all accesses: hooks at the lifetime ends of the function's locals. */
void dh_stale_hooks_end_function(struct dh_stale_hooks *s, struct dh_pass *pass);

#endif
