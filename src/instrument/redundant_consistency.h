/* Redundant check elimination for the consistency detector. Layer: instrument. Of several accesses to one address in a
 * synchronisation-free stretch of a block, the first and the last show every interleaved write (003 §7.1.4: prologue
 * before the first access, epilogue after the last); a read in the middle matters only when it is all there is between
 * two writes. Degree `conflict`: addresses in the function's object; `optimized`: all addresses. */
#ifndef DH_INSTRUMENT_REDUNDANT_CONSISTENCY_H
#define DH_INSTRUMENT_REDUNDANT_CONSISTENCY_H

#include "instrument/pass.h"

/* Sets needless[i] for such accesses of `work`: instructions of one function, in order. */
void dh_redundant_consistency_find(const struct dh_pass *pass, const dh_value_vec *work, bool *needless);

#endif
