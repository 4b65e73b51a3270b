/* Vector clocks of threads, their fences and of synchronisation objects: happens-before as it grows. Layer: memory.
 * In the model's arena. A clock is `n` entries; a thread's own one rises after every release (and whenever asked). */
#ifndef DH_MEMORY_CLOCKS_H
#define DH_MEMORY_CLOCKS_H

#include "memory/arena.h"

struct dh_thread_clocks {
    bool has_ended;
    bool has_release_fence;
    uint32_t at[]; /* now | at the last release fence | what relaxed loads found for an acquire fence to come */
};

struct dh_clocks {
    struct dh_arena *arena;
    uint32_t n;
    bool are_given; /* never rise by themselves */
    struct dh_clocks_root {
        struct dh_thread_clocks **thread;
        uint32_t threads; /* so far: indices below */
        struct dh_clock_object **bucket;
    } *root;
};

bool dh_clocks_begin(struct dh_clocks *c, struct dh_arena *arena, uint32_t n, bool are_given);

/* NULL: the thread has too high a number, or no memory. A thread that was not heard of begins without knowing any. */
uint32_t *dh_clocks_of(struct dh_clocks *c, uint32_t thread);
void dh_clocks_give(struct dh_clocks *c, uint32_t thread, const uint32_t *clock, uint32_t entries);
void dh_clocks_tick(struct dh_clocks *c, uint32_t thread);

void dh_clocks_fork(struct dh_clocks *c, uint32_t parent, uint32_t child);
void dh_clocks_join(struct dh_clocks *c, uint32_t thread, uint32_t ended);
void dh_clocks_acquire(struct dh_clocks *c, uint32_t thread, uint64_t object);
void dh_clocks_release(struct dh_clocks *c, uint32_t thread, uint64_t object);
void dh_clocks_fence(struct dh_clocks *c, uint32_t thread, enum dh_order order);

/* What an atomic store of this order hands to those that read it, joined into `message`; false: nothing. */
bool dh_clocks_send(struct dh_clocks *c, uint32_t thread, enum dh_order order, uint32_t *message);
void dh_clocks_receive(struct dh_clocks *c, uint32_t thread, enum dh_order order, const uint32_t *message);

/* An atomic access of an object that is no location: what it finds there, and leaves. A store begins a release
 * sequence, an update goes on with the one it found. */
void dh_clocks_atomic(struct dh_clocks *c, uint32_t thread, uint64_t object, enum dh_order order, bool reads,
                      bool writes);

void dh_clocks_merge(uint32_t *to, const uint32_t *from, uint32_t n);

#endif
