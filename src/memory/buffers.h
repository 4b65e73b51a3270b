/* Store buffers: what tso and pso share. Layer: memory. A thread's stores wait in its buffer, where only its own loads
 * see them, until a drain (a step of the schedule) writes them to memory: in the order of the stores (tso), or in any
 * order but per location and across store barriers (pso). What makes a processor wait for its buffer empties it here at
 * once: schedules that drain before it are among those searched. */
#ifndef DH_MEMORY_BUFFERS_H
#define DH_MEMORY_BUFFERS_H

#include "memory/location_model.h"

void *dh_buffers_start(struct dh_memory *memory, bool is_pso);
void dh_buffers_begin(void *self);
void dh_buffers_fork(void *self, uint32_t parent, uint32_t child);
void dh_buffers_join(void *self, uint32_t thread, uint32_t ended);
void dh_buffers_flush(void *self, uint32_t thread, uint64_t object);
void dh_buffers_atomic(void *self, uint32_t thread, uint64_t object, enum dh_order order, bool reads, bool writes);
unsigned dh_buffers_pieces(void *self, uint64_t address, uint64_t size, struct dh_access_piece *out, unsigned room);
unsigned dh_buffers_load(void *self, const struct dh_memory_access *a, struct dh_candidate *out, unsigned room);
void dh_buffers_store(void *self, const struct dh_memory_access *a, uint64_t value);
void dh_buffers_update(void *self, const struct dh_memory_access *a, unsigned index, uint64_t value);
void dh_buffers_fence(void *self, uint32_t thread, enum dh_order order);
unsigned dh_buffers_enabled_drains(void *self, struct dh_memory_drain *out, unsigned room);
void dh_buffers_drain(void *self, const struct dh_memory_drain *step);
bool dh_buffers_waiting(void *self, const struct dh_memory_access *a, struct dh_candidate *out);
void dh_buffers_forget(void *self, uint64_t address, uint64_t size);

#define DH_MODEL_OF_BUFFERS                                                                                            \
    .begin = dh_buffers_begin, .fork = dh_buffers_fork, .join = dh_buffers_join, .acquire = dh_buffers_flush,          \
    .release = dh_buffers_flush, .atomic = dh_buffers_atomic, .pieces = dh_buffers_pieces, .load = dh_buffers_load,    \
    .took = dh_model_no_read, .store = dh_buffers_store, .update = dh_buffers_update, .fence = dh_buffers_fence,       \
    .enabled_steps = dh_buffers_enabled_drains, .step = dh_buffers_drain, .waiting = dh_buffers_waiting,               \
    .forget = dh_buffers_forget, .snapshot_size = dh_model_snapshot_size, .snapshot = dh_model_snapshot,               \
    .restore = dh_model_restore

#endif
