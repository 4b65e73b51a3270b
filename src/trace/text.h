/* Event streams as text, one event a line, for tests and for people. Layer: trace. Format: docs/formats/trace.md. What
 * is printed can be read again. The reader keeps the whole text: names need their size before their first use. */
#ifndef DH_TRACE_TEXT_H
#define DH_TRACE_TEXT_H

#include "base/str.h"
#include "detect/run_state.h"
#include "event/event.h"
#include "host/err.h"

#include <stdbool.h>
#include <stddef.h>

struct dh_text;
/* `bytes` need not end with 0 and are kept by the caller until the reader is freed. `name` is for messages. NULL when
 * a line is malformed: "NAME:LINE: what was expected". */
struct dh_text *dh_text_new(const char *name, const char *bytes, size_t n, struct dh_err *err);
void dh_text_free(struct dh_text *t);
/* False at the end. */
bool dh_text_next(struct dh_text *t, struct dh_event *e);
void dh_text_progress(const struct dh_text *t, size_t *at, size_t *of);

/* What the text says of places and objects, as a world's host asks for it: fills in `site`, `global` and `arg`. */
void dh_text_host(struct dh_text *t, struct dh_run_host *host);
/* The name that has the address, "" when none: "acct", "acct+8". Owned by the caller. */
char *dh_text_name(const struct dh_text *t, uint64_t addr);

/* Appends the event as a line. `host` says what places mean; its `site` may be NULL. */
void dh_text_print(struct dh_str *out, const struct dh_run_host *host, const struct dh_event *e);

#endif
