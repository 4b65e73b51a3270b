/* Events that are kept in memory, packed, to be read once. Layer: trace. Quicker and larger than a .dht, which is made
 * to last. One thread. */
#ifndef DH_TRACE_KEPT_H
#define DH_TRACE_KEPT_H

#include "event/event.h"

#include <stddef.h>
#include <stdint.h>

struct dh_kept;
/* What is beyond so many bytes is compressed as well, which takes as much time again. */
struct dh_kept *dh_kept_new(size_t raw_most);
void dh_kept_free(struct dh_kept *k);
void dh_kept_add(struct dh_kept *k, const struct dh_event *e);
/* Of memory. */
size_t dh_kept_bytes(const struct dh_kept *k);
/* All of them, in their order. Nothing can be added any more. */
void dh_kept_read(struct dh_kept *k, void (*event)(void *arg, const struct dh_event *e), void *arg);

#endif
