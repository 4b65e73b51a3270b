/* What accesses tell of each other's alignment. Layer: instrument.
 * A copied struct is copied as if it lay anywhere (inlining of arguments passed by value), though a member of it that
 * is read beside the copy says how the struct is aligned. Checks of accesses that may lie anywhere cost more. */
#ifndef DH_INSTRUMENT_ALIGNMENT_H
#define DH_INSTRUMENT_ALIGNMENT_H

#include "instrument/pass.h"

/* Raises the alignment of loads and stores up to eight where another one of the same piece of code, at a constant
 * distance from it, leaves no choice. `accesses` are those of a function, in order. */
void dh_alignment_infer(const struct dh_pass *w, const dh_value_vec *accesses);

#endif
