/* The happens-before model, for those that build on it. Layer: memory. Of a write: dh_memory_write.clocks is the clock
 * of its thread, followed by its message. */
#ifndef DH_MEMORY_HB_H
#define DH_MEMORY_HB_H

#include "memory/clocks.h"
#include "memory/location_model.h"

struct dh_hb_model {
    struct dh_locations locations; /* first: location_model.h */
    struct dh_clocks clocks;
};

bool dh_hb_model_init(struct dh_hb_model *h, struct dh_memory *memory);
void dh_hb_model_begin(void *self);
void dh_hb_model_fork(void *self, uint32_t parent, uint32_t child);
void dh_hb_model_join(void *self, uint32_t thread, uint32_t ended);
void dh_hb_model_acquire(void *self, uint32_t thread, uint64_t object);
void dh_hb_model_release(void *self, uint32_t thread, uint64_t object);
void dh_hb_model_atomic(void *self, uint32_t thread, uint64_t object, enum dh_order order, bool reads, bool writes);
void dh_hb_model_fence(void *self, uint32_t thread, enum dh_order order);
unsigned dh_hb_model_load(void *self, const struct dh_memory_access *a, struct dh_candidate *out, unsigned room);
void dh_hb_model_took(void *self, const struct dh_memory_access *a, unsigned index);
void dh_hb_model_store(void *self, const struct dh_memory_access *a, uint64_t value);
void dh_hb_model_update(void *self, const struct dh_memory_access *a, unsigned index, uint64_t value);

#endif
