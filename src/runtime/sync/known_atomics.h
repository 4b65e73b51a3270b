/* Atomic variables that a thread has loaded since it synchronised last, so that loading them again gives an observer
 * nothing new. Layer: runtime. Of its thread alone; the caller owns the table. */
#ifndef DH_RUNTIME_SYNC_KNOWN_ATOMICS_H
#define DH_RUNTIME_SYNC_KNOWN_ATOMICS_H

#include "event/site.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DH_KNOWN_ATOMICS = 64 };

struct dh_known_atomic {
    uintptr_t addr;
    const _Atomic uint64_t *version; /* changes with the variable */
    uint64_t known, stamp;           /* the version, and the epoch or segment, of the load */
    uint32_t size;
    bool acquired;
};

static inline struct dh_known_atomic *dh_known_atomic_at(struct dh_known_atomic table[DH_KNOWN_ATOMICS], uintptr_t addr)
{
    return &table[addr >> 2 & (DH_KNOWN_ATOMICS - 1)];
}

/* As dh_atomic_known. */
static inline const _Atomic uint64_t *dh_known_atomic_version(const struct dh_known_atomic *k, uintptr_t addr,
                                                              uint32_t what, uint64_t stamp, uint64_t *version)
{
    if (k->addr != addr || k->stamp != stamp || k->size != what >> 16 ||
        (!k->acquired && dh_order_acquires(what >> 8 & 255)))
        return NULL;
    *version = k->known;
    return atomic_load_explicit(k->version, memory_order_acquire) == k->known ? k->version : NULL;
}

#endif
