/* Events kept in memory, packed, to be replayed once. Layer: trace. Quicker and larger than a .dht file. One thread. */
#ifndef DH_TRACE_EVENT_BUFFER_H
#define DH_TRACE_EVENT_BUFFER_H

#include "event/event.h"

#include <stddef.h>
#include <stdint.h>

struct dh_event_buffer;
/* Beyond `raw_most` bytes chunks are compressed as well, which takes as much time again. */
struct dh_event_buffer *dh_event_buffer_new(size_t raw_most);
void dh_event_buffer_free(struct dh_event_buffer *k);
void dh_event_buffer_add(struct dh_event_buffer *k, const struct dh_event *e);
/* Of memory that it uses. */
size_t dh_event_buffer_bytes(const struct dh_event_buffer *k);
/* All events, in their order. Nothing can be added afterwards. */
void dh_event_buffer_replay(struct dh_event_buffer *k, void (*event)(void *arg, const struct dh_event *e), void *arg);

#endif
