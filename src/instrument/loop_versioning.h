/* Loops that walk through elements of chosen arrays. Layer: instrument. Needs: a module after simplification, with the
 * hooks of stale_hooks.h in it as calls. Provides: each loop that only computes twice; where nothing that it comes by
 * is watched it runs as the compiler would have made it, without a hook. */
#ifndef DH_INSTRUMENT_LOOP_VERSIONING_H
#define DH_INSTRUMENT_LOOP_VERSIONING_H

#include "instrument/pass.h"

void dh_version_stale_loops(struct dh_pass *w);

#endif
