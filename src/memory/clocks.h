/* Happens-before of a run (event/happens_before.h) by numbers of threads and objects. Layer: memory. All of it lies in
 * the model's arena, so that snapshot and restore copy it; hence tables of its own. Not thread-safe. */
#ifndef DH_MEMORY_CLOCKS_H
#define DH_MEMORY_CLOCKS_H

#include "base/vclock.h"
#include "event/happens_before.h"
#include "memory/run_arena.h"

struct dh_thread_clocks {
    struct dh_hb_thread hb; /* its clocks have room for `n` entries; that of what it knows is `n` wide */
    bool has_ended;
    uint32_t entries[];
};

struct dh_clocks {
    struct dh_run_arena *arena;
    uint32_t n;        /* entries of a clock: threads there can be */
    bool are_external; /* by dh_clocks_join_external alone: they neither rise by themselves nor by edges, but for fork
                          and join */
    struct dh_clocks_root {
        struct dh_thread_clocks **thread;
        uint32_t threads; /* so far: indices below */
        struct dh_clocks_object **bucket;
    } *root;
};

bool dh_clocks_begin(struct dh_clocks *c, struct dh_run_arena *arena, uint32_t n, bool are_external);

/* `n` entries. NULL: the thread has too high a number, or no memory. A new thread knows no other. */
uint32_t *dh_clocks_of(struct dh_clocks *c, uint32_t thread);
void dh_clocks_join_external(struct dh_clocks *c, uint32_t thread, const uint32_t *clock, uint32_t entries);
void dh_clocks_tick(struct dh_clocks *c, uint32_t thread);

void dh_clocks_fork(struct dh_clocks *c, uint32_t parent, uint32_t child);
void dh_clocks_join(struct dh_clocks *c, uint32_t thread, uint32_t ended);
void dh_clocks_acquire(struct dh_clocks *c, uint32_t thread, uint64_t object);
void dh_clocks_release(struct dh_clocks *c, uint32_t thread, uint64_t object);
void dh_clocks_fence(struct dh_clocks *c, uint32_t thread, enum dh_order order);

/* The message of a write is the clock of its release sequence, of `n` entries. Here it is that of the write it updates,
 * or all 0. False: nothing was released to it. */
bool dh_clocks_send(struct dh_clocks *c, uint32_t thread, enum dh_order order, uint32_t *message);
void dh_clocks_receive(struct dh_clocks *c, uint32_t thread, enum dh_order order, uint32_t *message);

/* An atomic access of an object that is no location. */
void dh_clocks_atomic(struct dh_clocks *c, uint32_t thread, uint64_t object, enum dh_order order, bool reads,
                      bool writes);

#endif
