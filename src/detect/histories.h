/* What is remembered of the accesses to a granule, each such memory kept once, named by a number: neighbours that were
 * treated alike share one. Layer: detect. 0 is the empty one. A history lives while somebody has taken it, and holds
 * the moments it speaks of. Not thread-safe. */
#ifndef DH_DETECT_HISTORIES_H
#define DH_DETECT_HISTORIES_H

#include "detect/hb_moments.h"

enum dh_record_bit {
    DH_RECORD_WROTE = 1 << 0,
    DH_RECORD_ATOMIC = 1 << 1,
    DH_RECORD_BY_NAME = 1 << 2, /* a variable that every thread can reach */
    DH_RECORD_LOCKED = 1 << 3   /* under some lock */
};

struct dh_record {
    uint32_t moment, site, ctx;
    uint8_t mask; /* bytes of the granule */
    uint8_t bits; /* dh_record_bit */
    uint8_t op;   /* dh_op */
    uint8_t flags;
};

struct dh_history {
    uint32_t refs, hash, next, n;
    struct dh_record at[]; /* latest last */
};

struct dh_histories;
struct dh_histories *dh_histories_new(struct dh_moments *m);
void dh_histories_free(struct dh_histories *s);
/* The history of these records; taken for the caller. */
uint32_t dh_histories_get(struct dh_histories *s, const struct dh_record *records, size_t n);
/* NULL for 0. */
const struct dh_history *dh_histories_at(const struct dh_histories *s, uint32_t history);
uint32_t dh_histories_take(struct dh_histories *s, uint32_t history);
void dh_histories_put(struct dh_histories *s, uint32_t history);
/* n granules had the one and have the other now. */
void dh_histories_move(struct dh_histories *s, uint32_t from, uint32_t to, uint32_t n);

/* What became of a history by an access, as it was told before; 0: not remembered. Taken for the caller. */
uint32_t dh_histories_next(struct dh_histories *s, uint32_t history, const struct dh_record *access);
void dh_histories_remember(struct dh_histories *s, uint32_t history, const struct dh_record *access, uint32_t next);

#endif
