/* Names of places and addresses of a stored stream without modules: a text trace, or an imported one. Layer: trace.
 * Owns the site table that it makes. */
#ifndef DH_TRACE_SOURCE_NAMES_H
#define DH_TRACE_SOURCE_NAMES_H

#include "detect/run_state.h"
#include "trace/source.h"

struct dh_source_names;
/* The source must outlive it; its metadata may grow meanwhile. */
struct dh_source_names *dh_source_names_new(struct dh_source *s);
void dh_source_names_free(struct dh_source_names *m);
/* Fills in `site`, `global` and `arg`. False when the modules that the metadata names are to be asked. */
bool dh_source_names_host(struct dh_source_names *m, struct dh_run_host *words);

/* The name of what lies at an address, "" when it has none; owned by the caller. For dh_suspicion_collector_set_namer.
 */
char *dh_source_names_address(void *meaning, uint64_t addr);

#endif
