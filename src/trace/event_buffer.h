/* Events that are kept in memory, packed, to be read once. Layer: trace. Quicker and larger than a .dht, which is made
 * to last. One thread. */
#ifndef DH_TRACE_EVENT_BUFFER_H
#define DH_TRACE_EVENT_BUFFER_H

#include "event/event.h"

#include <stddef.h>
#include <stdint.h>

struct dh_event_buffer;
/* What is beyond so many bytes is compressed as well, which takes as much time again. */
struct dh_event_buffer *dh_event_buffer_new(size_t raw_most);
void dh_event_buffer_free(struct dh_event_buffer *k);
void dh_event_buffer_add(struct dh_event_buffer *k, const struct dh_event *e);
/* Of memory. */
size_t dh_event_buffer_bytes(const struct dh_event_buffer *k);
/* All of them, in their order. Nothing can be added any more. */
void dh_event_buffer_replay(struct dh_event_buffer *k, void (*event)(void *arg, const struct dh_event *e), void *arg);

#endif
