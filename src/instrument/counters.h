/* Counters for measurements: events of the source, checks that a plan left, and how often they take the slow path (003,
 * tables 7.3, 7.4 and 7.8). Layer: instrument. Added after all hooks, so that they do not change what is counted; a
 * plan that counts nothing leaves the module as it is. */
#ifndef DH_INSTRUMENT_COUNTERS_H
#define DH_INSTRUMENT_COUNTERS_H

#include "event/site.h"
#include "instrument/instrument.h"

/* Right after numbering, before anything is inlined or simplified. */
void dh_count_events(LLVMModuleRef m, const struct dh_site_builder *sites);
/* Behind all hooks. */
void dh_count_checks(LLVMModuleRef m, const struct dh_site_builder *sites);
/* When inlined hooks have become code: what they call is the runtime. The module may be a part of the program. */
void dh_count_slow_paths(LLVMModuleRef m, const struct dh_site_builder *sites);

#endif
