/* A block of events as bytes: columns of what could not be predicted. Layer: trace. Blocks stand alone: prediction
 * begins anew with each. Bytes that are read are not trusted. */
#ifndef DH_TRACE_DHT_BLOCK_H
#define DH_TRACE_DHT_BLOCK_H

#include "base/str.h"
#include "event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- numbers ---- */

void dh_varint_add(struct dh_str *out, uint64_t value);

struct dh_varints {
    const uint8_t *at, *end;
    bool bad; /* ran over the end; answers are 0 since */
};
uint64_t dh_varint_next(struct dh_varints *v);

/* ---- blocks ---- */

struct dh_block_writer;
struct dh_block_writer *dh_block_writer_new(void);
void dh_block_writer_free(struct dh_block_writer *w);
void dh_block_add(struct dh_block_writer *w, const struct dh_event *e);
size_t dh_block_count(const struct dh_block_writer *w);
/* Appends its bytes to `out` and begins the next. */
void dh_block_finish(struct dh_block_writer *w, struct dh_str *out);

struct dh_block_reader;
struct dh_block_reader *dh_block_reader_new(void);
void dh_block_reader_free(struct dh_block_reader *r);
/* `bytes` are kept by the caller until the next begin. False when they cannot be a block. */
bool dh_block_begin(struct dh_block_reader *r, const void *bytes, size_t n, size_t events);
/* False at the end, and when the bytes make no sense: then dh_block_is_bad. */
bool dh_block_next(struct dh_block_reader *r, struct dh_event *e);
bool dh_block_is_bad(const struct dh_block_reader *r);

#endif
