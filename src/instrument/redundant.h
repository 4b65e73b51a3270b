/* Accesses that another one of the same piece of straight code speaks for. Layer: instrument. Between two calls,
 * atomics or fences no order can change, so of several accesses to one address one hook is enough: the first write, or
 * else the first read. The report then names that one's place. */
#ifndef DH_INSTRUMENT_REDUNDANT_H
#define DH_INSTRUMENT_REDUNDANT_H

#include "instrument/weave.h"

/* Replaces what needs no hook in `work` (instructions of one function, in order) by NULL. `hooked` tells which classes
 * an access would get hooks of: it speaks for these, 0: for nobody. */
void dh_redundant_remove(const struct dh_weave *w, dh_value_vec *work,
                         unsigned (*hooked)(void *arg, const struct dh_memop *a), void *arg);

#endif
