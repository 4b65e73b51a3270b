/* Undoes LLVM's rewrite of `load (select c, A, B)` to `select c, (load A), (load B)` for checking. Layer: instrument.
 * The rewrite happens even where speculation is forbidden; only one of the two loads is an access of the program. */
#ifndef DH_INSTRUMENT_SPECULATED_LOADS_H
#define DH_INSTRUMENT_SPECULATED_LOADS_H

#include "instrument/pass.h"

/* False for the second of two such loads. For the first, makes the address in `a` the selected one. */
bool dh_speculated_load_restore(struct dh_pass *pass, struct dh_memop *a);

#endif
