/* Traces of other tools: the STD text of RAPID and RoadRunner, `thread|op(what)|location` a line. Layer: trace. Read as
 * a stream; what grows is the table of names. */
#ifndef DH_TRACE_IMPORT_STD_H
#define DH_TRACE_IMPORT_STD_H

#include "event/event.h"
#include "host/err.h"
#include "trace/meta.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct dh_std;
enum dh_std_answer { DH_STD_EVENT, DH_STD_END, DH_STD_ERROR };

/* `in` and `meta` are the caller's; places and threads are added to `meta` before the events that need them. `name` is
 * for messages. */
struct dh_std *dh_std_new(FILE *in, const char *name, struct dh_meta *meta);
/* Errors name the line and what was expected there. */
enum dh_std_answer dh_std_next(struct dh_std *s, struct dh_event *e, struct dh_err *err);
uint64_t dh_std_progress(const struct dh_std *s); /* bytes read */
void dh_std_free(struct dh_std *s);
/* By the first line. */
bool dh_std_is_one(const char *bytes, size_t n);

#endif
