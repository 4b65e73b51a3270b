/* Recorded event streams: .dht files. Layer: trace. Format: docs/formats/trace.md. The writer gets the stream in order
 * (event/event.h), the reader returns it in the same order; both keep one block in memory. Files are not trusted:
 * damage is an error that names the offset. */
#ifndef DH_TRACE_DHT_H
#define DH_TRACE_DHT_H

#include "event/event.h"
#include "host/err.h"
#include "trace/meta.h"

#include <stdbool.h>
#include <stdint.h>

struct dh_dht_options {
    /* Bytes of the file, 0: no bound. As its first half fills, each place's share of accesses shrinks, down to none;
     * then only synchronisation is recorded, and when it is full nothing: a stream that stops can be analysed, one
     * with holes in its synchronisation cannot. */
    uint64_t max_size;
    uint32_t per_site_limit; /* so many accesses of one place and thread; 0: no bound */
};

/* ---- writing ---- */

struct dh_dht;
/* `meta` as far as it is known; `options` may be NULL. The file is there at once and complete up to the last block that
 * was written, so that a killed recorder leaves what it had. */
struct dh_dht *dh_dht_create(const char *path, const struct dh_meta *meta, const struct dh_dht_options *options,
                             struct dh_err *err);
/* False when the file cannot be written any more; dh_dht_close has the reason. */
bool dh_dht_add(struct dh_dht *w, const struct dh_event *e);
/* The metadata has grown: before the events that need it. Only what is new or has changed is written, with the next
 * block. */
bool dh_dht_meta(struct dh_dht *w, const struct dh_meta *meta);
/* Writes everything out, so that a reader finds it: before a pause. */
bool dh_dht_flush(struct dh_dht *w);
/* Writes the index. False when something could not be written. */
bool dh_dht_close(struct dh_dht *w, struct dh_err *err);

struct dh_dht_counts {
    uint64_t events, accesses; /* kept */
    uint64_t left_out;         /* accesses that a limit kept out */
    uint64_t bytes;            /* of the file */
};
void dh_dht_counts(const struct dh_dht *w, struct dh_dht_counts *out);
/* Nothing more fits below max_size. */
bool dh_dht_is_full(const struct dh_dht *w);

/* ---- reading ---- */

struct dh_dht_reader;
enum dh_dht_answer { DH_DHT_EVENT, DH_DHT_END, DH_DHT_ERROR };

/* `meta` is filled as reading goes on: what events need is there before them. Released by the caller. NULL for what is
 * no trace, or of another version. */
struct dh_dht_reader *dh_dht_open(const char *path, struct dh_meta *meta, struct dh_err *err);
enum dh_dht_answer dh_dht_next(struct dh_dht_reader *r, struct dh_event *e, struct dh_err *err);
/* The recorder was killed: the file ends without an index, events of its last block may be missing. */
bool dh_dht_is_cut(const struct dh_dht_reader *r);
/* How far it is, of how much: bytes of the file. */
void dh_dht_progress(const struct dh_dht_reader *r, uint64_t *at, uint64_t *of);
void dh_dht_reader_free(struct dh_dht_reader *r);
/* Events and accesses of the whole file, from its index; where that is missing, events from the chunks that are there.
 */
void dh_dht_totals(const struct dh_dht_reader *r, struct dh_dht_counts *out);
bool dh_dht_is_one(const void *bytes, size_t n); /* by the first bytes */

#endif
