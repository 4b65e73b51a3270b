/* What the numbers of a stored stream mean where no module tells: in a text trace, and in one that was imported. Layer:
 * cmd. Keeps what it made. */
#ifndef DH_CMD_MEANING_H
#define DH_CMD_MEANING_H

#include "detect/world.h"
#include "trace/source.h"

struct dh_meaning;
/* The source must outlive it; its metadata may grow meanwhile. */
struct dh_meaning *dh_meaning_new(struct dh_source *s);
void dh_meaning_free(struct dh_meaning *m);
/* Fills in `site`, `global` and `arg`. False when the modules that the metadata names are to be asked. */
bool dh_meaning_words(struct dh_meaning *m, struct dh_world_host *words);

/* The name of what lies at an address, "" when it has none; owned by the caller. For dh_suspicion_collector_set_namer.
 */
char *dh_meaning_name(void *meaning, uint64_t addr);

#endif
