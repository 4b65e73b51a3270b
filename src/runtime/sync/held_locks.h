/* The locks that a thread holds, as observers of synchronisation keep them: a list in the order of acquisition. Layer:
 * runtime. Of its thread alone; the caller owns the list. */
#ifndef DH_RUNTIME_SYNC_HELD_LOCKS_H
#define DH_RUNTIME_SYNC_HELD_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DH_HELD_LOCKS = 64 };

struct dh_held_lock {
    uintptr_t lock;
    uint32_t context, depth; /* where it was acquired; of recursion */
    bool shared;
};

/* The one acquired last first: most are released in reverse order. NULL: not held. */
static inline struct dh_held_lock *dh_held_lock_find(struct dh_held_lock *held, uint32_t n, uintptr_t lock)
{
    for (uint32_t i = n; i-- > 0;)
        if (held[i].lock == lock)
            return &held[i];
    return NULL;
}

#endif
