/* Checks of the consistency detector that others around them make needless. Layer: instrument. Of several accesses to
 * one address in straight code without calls, atomics or fences, the first and the last show what came between all of
 * them (003 §7.1.4: prologue before the first access, epilogue behind the last): a read in the middle says nothing more
 * unless it is the only thing between two writes. Degree `conflict`: of the function's object; `optimized`: of
 * everything. */
#ifndef DH_INSTRUMENT_REDUNDANT_CONSISTENCY_H
#define DH_INSTRUMENT_REDUNDANT_CONSISTENCY_H

#include "instrument/pass.h"

/* Sets needless[i] for such accesses of `work`: instructions of one function, in order. */
void dh_redundant_consistency_find(const struct dh_pass *w, const dh_value_vec *work, bool *needless);

#endif
