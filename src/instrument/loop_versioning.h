/* Loop versioning for stale values. Layer: instrument. Needs: a module after simplification, with the hooks of
 * stale_hooks.h in it as calls. Provides: counted loops without calls twice: when no range that the loop accesses is
 * watched, which is tested before it, the version without hooks runs. */
#ifndef DH_INSTRUMENT_LOOP_VERSIONING_H
#define DH_INSTRUMENT_LOOP_VERSIONING_H

#include "instrument/pass.h"

void dh_version_stale_loops(struct dh_pass *pass);

#endif
