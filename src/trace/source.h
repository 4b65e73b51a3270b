/* A stored event stream of any format: .dht, text or STD, recognised by the first bytes. Layer: trace. */
#ifndef DH_TRACE_SOURCE_H
#define DH_TRACE_SOURCE_H

#include "event/event.h"
#include "host/err.h"
#include "trace/meta.h"
#include "trace/text.h"

#include <stdbool.h>
#include <stdint.h>

enum dh_source_answer { DH_SOURCE_EVENT, DH_SOURCE_END, DH_SOURCE_ERROR };

struct dh_source;
/* NULL with one line that names the file and where it is wrong. */
struct dh_source *dh_source_open(const char *path, struct dh_err *err);
enum dh_source_answer dh_source_next(struct dh_source *s, struct dh_event *e, struct dh_err *err);
/* What goes with it: metadata that grows while reading, or the text; the other is NULL. */
const struct dh_meta *dh_source_meta(const struct dh_source *s);
struct dh_text *dh_source_text(struct dh_source *s);
/* It ends early: its recorder was killed. The text says where. */
bool dh_source_is_cut(const struct dh_source *s);
const char *dh_source_cut_text(struct dh_source *s);
void dh_source_progress(const struct dh_source *s, uint64_t *at, uint64_t *of);
void dh_source_close(struct dh_source *s);

#endif
