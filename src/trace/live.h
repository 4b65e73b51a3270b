/* Event streams of running processes, from shared memory (event/stream.h). Layer: trace. One thread opens, polls and
 * closes. Each process has its own stream, also forked children and programs that are executed later. */
#ifndef DH_TRACE_LIVE_H
#define DH_TRACE_LIVE_H

#include "event/event.h"
#include "host/err.h"
#include "trace/meta.h"

#include <stdbool.h>

struct dh_live_sink {
    /* A process was found; returns the argument of the others. `meta` grows with the stream, lives until `end`. */
    void *(*begin)(void *arg, const struct dh_meta *meta);
    void (*event)(void *process, const struct dh_event *e);
    /* The metadata has grown: before the events that need it. */
    void (*grown)(void *process);
    /* It has ended in any way; `lost` events had no room. */
    void (*end)(void *process, uint64_t lost);
    void *arg;
};

struct dh_live;
/* Makes a private folder for the processes' files, in memory where that can be. */
struct dh_live *dh_live_open(const struct dh_live_sink *sink, struct dh_err *err);
/* For the option `stream` of the runtime. */
const char *dh_live_folder(const struct dh_live *l);
/* Delivers what there is; returns whether there was anything. Bounded: call it repeatedly. */
bool dh_live_poll(struct dh_live *l);
/* The program has ended: all that is left is delivered; processes that go on do so unread. */
void dh_live_close(struct dh_live *l);

#endif
