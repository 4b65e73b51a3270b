/* Pools: items of one size that have numbers and never move. Layer: detect. Numbers begin at 1; freed items are zeroed
 * and reused first. Each item begins at a cache line. Not thread-safe. */
#ifndef DH_DETECT_POOL_H
#define DH_DETECT_POOL_H

#include "base/vec.h"

#include <stdint.h>
#include <string.h>

enum { DH_POOL_CHUNK = 1024, DH_POOL_ALIGN = 64 };

struct dh_pool {
    size_t item; /* bytes, a multiple of DH_POOL_ALIGN */
    uint32_t n;  /* numbers ever used + 1 */
    DH_VEC(char *) chunks;
    DH_VEC(uint32_t) unused;
};

static inline void *dh_pool_at(const struct dh_pool *p, uint32_t number)
{
    return p->chunks.at[number / DH_POOL_CHUNK] + number % DH_POOL_CHUNK * p->item;
}

static inline void dh_pool_init(struct dh_pool *p, size_t item)
{
    memset(p, 0, sizeof *p);
    p->item = (item + DH_POOL_ALIGN - 1) / DH_POOL_ALIGN * DH_POOL_ALIGN;
    p->n = 1;
}

static inline uint32_t dh_pool_alloc(struct dh_pool *p)
{
    if (p->unused.n)
        return p->unused.at[--p->unused.n];
    if (p->n / DH_POOL_CHUNK >= p->chunks.n) {
        char *chunk = aligned_alloc(DH_POOL_ALIGN, DH_POOL_CHUNK * p->item);
        if (!chunk)
            abort();
        memset(chunk, 0, DH_POOL_CHUNK * p->item);
        dh_vec_push(&p->chunks, chunk);
    }
    return p->n++;
}

static inline void dh_pool_free(struct dh_pool *p, uint32_t number)
{
    memset(dh_pool_at(p, number), 0, p->item);
    dh_vec_push(&p->unused, number);
}

static inline void dh_pool_release(struct dh_pool *p)
{
    for (size_t i = 0; i < p->chunks.n; i++)
        free(p->chunks.at[i]);
    dh_vec_release(&p->chunks);
    dh_vec_release(&p->unused);
}

#endif
