/* Access histories: the earlier accesses to a granule that a later one may race with, interned: granules that were
 * accessed alike share one history, named by a number. Layer: detect. 0 is the empty one. References are counted; a
 * history holds references to its segments. Not thread-safe. */
#ifndef DH_DETECT_ACCESS_HISTORY_H
#define DH_DETECT_ACCESS_HISTORY_H

#include "detect/segments.h"

enum dh_access_record_bit {
    DH_RECORD_WROTE = 1 << 0,
    DH_RECORD_ATOMIC = 1 << 1,
    DH_RECORD_GLOBAL = 1 << 2, /* of a global variable, which every thread can reach */
    DH_RECORD_LOCKED = 1 << 3  /* under some lock */
};

struct dh_access_record {
    uint32_t segment, site, ctx;
    uint8_t mask; /* bytes of the granule */
    uint8_t bits; /* dh_access_record_bit */
    uint8_t op;   /* dh_op */
    uint8_t flags;
};

struct dh_access_history {
    uint32_t refs, n;
    uint64_t hash;
    struct dh_access_record at[]; /* latest last */
};

struct dh_access_histories;
struct dh_access_histories *dh_access_histories_new(struct dh_segments *m);
void dh_access_histories_free(struct dh_access_histories *s);
/* The caller owns a reference. */
uint32_t dh_access_histories_get(struct dh_access_histories *s, const struct dh_access_record *records, size_t n);
/* NULL for 0. */
const struct dh_access_history *dh_access_histories_at(const struct dh_access_histories *s, uint32_t history);
uint32_t dh_access_histories_ref(struct dh_access_histories *s, uint32_t history);
void dh_access_histories_unref(struct dh_access_histories *s, uint32_t history);
/* n granules change from one history to the other. */
void dh_access_histories_move_refs(struct dh_access_histories *s, uint32_t from, uint32_t to, uint32_t n);

/* A cache: what an access made of a history; 0: not cached. The caller owns a reference. */
uint32_t dh_access_histories_cached_step(struct dh_access_histories *s, uint32_t history,
                                         const struct dh_access_record *access);
void dh_access_histories_cache_step(struct dh_access_histories *s, uint32_t history,
                                    const struct dh_access_record *access, uint32_t next);

#endif
