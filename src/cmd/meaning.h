/* What the numbers of an event stream mean, asked of the modules' own files or of the text it was read from: the host
 * of a world. Layer: cmd. Keeps what it opened. */
#ifndef DH_CMD_MEANING_H
#define DH_CMD_MEANING_H

#include "base/str.h"
#include "detect/world.h"
#include "trace/meta.h"
#include "trace/text.h"

struct dh_meaning;
/* Of a recorded or running program; `meta` may grow while it is used. */
struct dh_meaning *dh_meaning_of_meta(const struct dh_meta *meta);
struct dh_meaning *dh_meaning_of_text(struct dh_text *text);
void dh_meaning_free(struct dh_meaning *m);
/* Fills in everything but `found`. */
void dh_meaning_host(struct dh_meaning *m, struct dh_world_host *host);
const struct dh_site *dh_meaning_site(struct dh_meaning *m, uint32_t place, const struct dh_site_table **table);
/* A name for what is at the address, "" when there is none. Owned by the caller. */
char *dh_meaning_name(struct dh_meaning *m, uint64_t addr);
/* NULL for a text. */
const struct dh_meta *dh_meaning_meta(const struct dh_meaning *m);

#endif
