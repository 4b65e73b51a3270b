/* Loops that walk through elements of chosen arrays. Layer: instrument. Needs: a module after simplification, with the
 * hooks of stale.h in it as calls. Provides: each loop that only computes twice; where nothing that it comes by is
 * watched it runs as the compiler would have made it, without a hook. */
#ifndef DH_INSTRUMENT_STALE_LOOPS_H
#define DH_INSTRUMENT_STALE_LOOPS_H

#include "instrument/weave.h"

void dh_stale_loops(struct dh_weave *w);

#endif
