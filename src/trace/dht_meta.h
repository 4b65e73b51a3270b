/* Metadata as bytes: what is new or has changed since it was written last. Layer: trace. */
#ifndef DH_TRACE_DHT_META_H
#define DH_TRACE_DHT_META_H

#include "base/str.h"
#include "trace/meta.h"

#include <stdbool.h>
#include <stddef.h>

/* What was written: hashes of rows. Zero-initialise. */
struct dh_meta_written {
    DH_VEC(uint64_t) modules;
    DH_VEC(uint64_t) threads;
    size_t n_contexts, n_places;
    uint64_t fixed; /* hash of the rest */
};
/* Appends a record to `out`; false when there is nothing to say, and nothing is appended. */
bool dh_meta_write(struct dh_meta_written *w, const struct dh_meta *m, struct dh_str *out);
void dh_meta_written_release(struct dh_meta_written *w);

/* Adds what the records say; false when they make no sense. */
bool dh_meta_read(struct dh_meta *m, const void *bytes, size_t n);

#endif
