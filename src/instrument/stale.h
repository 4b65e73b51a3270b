/* Value-replacing loads: everything that used the loaded value uses a hook's answer instead. Layer: instrument.
 * One per module; owns the list of this function's scratch slots. */
#ifndef DH_INSTRUMENT_STALE_H
#define DH_INSTRUMENT_STALE_H

#include "instrument/weave.h"

struct dh_stale {
    dh_value_vec slots; /* allocas of the current function, one per type: each is dead again after its load */
};

void dh_stale_release(struct dh_stale *s);
void dh_stale_next_function(struct dh_stale *s);
/* `a` is an ordinary load. */
void dh_stale_place(struct dh_stale *s, struct dh_weave *w, const struct dh_memop *a, LLVMValueRef place);

#endif
