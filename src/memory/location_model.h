/* Operations that models share which keep writes by location and begin with their struct dh_locations. Layer: memory.
 */
#ifndef DH_MEMORY_LOCATION_MODEL_H
#define DH_MEMORY_LOCATION_MODEL_H

#include "memory/locations.h"

unsigned dh_model_pieces(void *self, uint64_t address, uint64_t size, struct dh_access_piece *out, unsigned room);
void dh_model_forget(void *self, uint64_t address, uint64_t size);
size_t dh_model_snapshot_size(void *self);
void dh_model_snapshot(void *self, void *to);
void dh_model_restore(void *self, const void *from);

#define DH_MODEL_OF_LOCATIONS                                                                                          \
    .pieces = dh_model_pieces, .forget = dh_model_forget, .snapshot_size = dh_model_snapshot_size,                     \
    .snapshot = dh_model_snapshot, .restore = dh_model_restore

/* For models that do not care. */
void dh_model_no_edge(void *self, uint32_t a, uint32_t b);
void dh_model_no_object(void *self, uint32_t thread, uint64_t object);
void dh_model_no_atomic(void *self, uint32_t thread, uint64_t object, enum dh_order order, bool reads, bool writes);
void dh_model_no_fence(void *self, uint32_t thread, enum dh_order order);
void dh_model_no_read(void *self, const struct dh_memory_access *a, unsigned index);

/* A store of which nothing can be kept: the location begins anew with this value. */
void dh_model_store_untracked(struct dh_locations *l, const struct dh_memory_access *a, uint64_t value);
/* What can be said of a load whose thread is not known. */
unsigned dh_model_load_newest(struct dh_locations *l, const struct dh_memory_access *a, struct dh_candidate *out,
                              unsigned room);

#endif
