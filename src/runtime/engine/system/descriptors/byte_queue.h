/* Bytes that wait in a channel, first in, first out, in blocks of the models' memory. Layer: runtime. Zero-initialise.
 */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_BYTE_QUEUE_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_BYTE_QUEUE_H

#include "runtime/engine/system/descriptors/description.h"

struct dh_byte_queue {
    struct dh_byte_block *first, *last;
    uint32_t begin, end; /* in the first, and in the last block */
    size_t n;
};

/* Appends `n` bytes of the transfer from `at` on, or of memory. */
void dh_byte_queue_put(struct dh_byte_queue *q, const struct dh_transfer *t, size_t at, size_t n);
void dh_byte_queue_put_raw(struct dh_byte_queue *q, const void *from, size_t n);
/* Copies the first bytes after `skip`; they stay. At most as many as there are. */
void dh_byte_queue_peek(const struct dh_byte_queue *q, size_t skip, const struct dh_transfer *t, size_t at, size_t n);
void dh_byte_queue_peek_raw(const struct dh_byte_queue *q, size_t skip, void *to, size_t n);
void dh_byte_queue_drop(struct dh_byte_queue *q, size_t n);
void dh_byte_queue_release(struct dh_byte_queue *q);

#endif
