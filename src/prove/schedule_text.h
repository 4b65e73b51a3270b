/* A schedule as text: a column per thread, a line per step, the source line beside it. Layer: prove. */
#ifndef DH_PROVE_SCHEDULE_TEXT_H
#define DH_PROVE_SCHEDULE_TEXT_H

#include "base/str.h"
#include "prove/subject.h"

/* `width`: characters per line. The middle of a long schedule is left out unless `whole`. */
void dh_schedule_text(struct dh_str *out, struct dh_subject *s, const struct dh_schedule *schedule,
                      const struct dh_engine_found *end, unsigned width, bool whole);

#endif
