/* How far a long job is, on standard error when that is a terminal. Layer: cmd. */
#ifndef DH_CMD_PROGRESS_H
#define DH_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct dh_progress {
    const char *what; /* "analyze" */
    bool shown;
    uint64_t steps, next; /* nanoseconds of the next line */
};

/* Called often; `of` 0: not known. True every so often, when dh_progress_show should be called. */
bool dh_progress_step(struct dh_progress *p);
void dh_progress_show(struct dh_progress *p, uint64_t at, uint64_t of);
/* The line vanishes. */
void dh_progress_end(struct dh_progress *p);

#endif
