/* Stale reads and failures as sentences. Layer: classify. */
#ifndef DH_CLASSIFY_EXPLAIN_H
#define DH_CLASSIFY_EXPLAIN_H

#include "base/str.h"
#include "prove/subject.h"

/* "reader at x.c:12 got 0, written at x.c:3, although x.c:9 had written 1: nothing orders them". */
void dh_explain_read(struct dh_str *out, struct dh_subject *s, const struct dh_engine_stale_read *r);
/* "it is killed by signal 11 at x.c:12"; `printed` is its output. */
void dh_explain_end(struct dh_str *out, struct dh_subject *s, const struct dh_engine_found *end, const char *printed);

#endif
