/* Alignment inference for the accesses of one function. Layer: instrument. Stateless. Inlining of a byval argument
 * copies the struct with alignment 1, although an access to a member nearby implies more. Checks of accesses of unknown
 * alignment cost more. */
#ifndef DH_INSTRUMENT_ALIGNMENT_H
#define DH_INSTRUMENT_ALIGNMENT_H

#include "instrument/pass.h"

/* Raises the alignment of loads and stores up to eight where it follows from another access of the same block at a
 * constant distance. `accesses` are those of a function, in order. */
void dh_alignment_infer(const struct dh_pass *pass, const dh_value_vec *accesses);

#endif
