/* Rules that say which accesses count: by file, function, type or field, skip or record. Layer: trace. Format:
 * docs/formats/trace.md. Synchronisation is never skipped: without it what remains would look unordered. */
#ifndef DH_TRACE_RULES_H
#define DH_TRACE_RULES_H

#include "detect/run_state.h"
#include "event/event.h"
#include "host/err.h"

#include <stdbool.h>
#include <stddef.h>

struct dh_rules;
/* NULL with one line that names the file, the line and what was expected. */
struct dh_rules *dh_rules_read(const char *path, struct dh_err *err);
struct dh_rules *dh_rules_parse(const char *name, const char *text, size_t n, struct dh_err *err);
void dh_rules_free(struct dh_rules *r);

/* Rules on a stream: what was decided for a place is kept. `rules` may be NULL: all is kept. */
struct dh_rules_filter;
struct dh_rules_filter *dh_rules_filter_new(const struct dh_rules *rules, const struct dh_run_host *host);
bool dh_rules_keeps(struct dh_rules_filter *f, const struct dh_event *e);
void dh_rules_filter_free(struct dh_rules_filter *f);

#endif
