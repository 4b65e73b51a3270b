/* The lock order graph (GoodLock; 003 ch. 6): which lock was requested while which were held, and the cycles that can
 * become deadlocks. Layer: detect. A cycle counts only if its requests are of different threads that can be there at
 * the same time: no gate lock is held by two of them, and none must happen before another (must_hb.h). Readers do not
 * block readers, even while a writer waits, as glibc's locks do by default. The number of requests kept is bounded by
 * locks, places and DH_LOCK_ORDER_SIMILAR_MAX, not by the length of the stream. */
#ifndef DH_DETECT_LOCK_ORDER_H
#define DH_DETECT_LOCK_ORDER_H

#include "base/vec.h"
#include "detect/must_hb.h"
#include "detect/run_state.h"

enum {
    DH_LOCK_ORDER_CYCLE_MAX = 32,   /* locks of a cycle */
    DH_LOCK_ORDER_SIMILAR_MAX = 64, /* requests that differ in nothing but the thread */
    DH_LOCK_ORDER_SNAPSHOTS = 4     /* the last ones of a request that are kept */
};

/* A thread at a point where it has to wait if another thread holds what it requests. */
struct dh_lock_request {
    uint32_t thread;
    uint32_t site, ctx;
    uint64_t lock; /* requested; 0: the end of the thread `joined` */
    uint32_t id;   /* of the lock */
    uint32_t joined;
    bool shared, again_after_wait; /* the mutex of a condition wait that ends */
    struct dh_lock_hold *held;     /* at that time, in the order of acquisition */
    uint32_t n_held;
    uint64_t first, last; /* numbers of the events */
    /* Newest first. */
    struct dh_hb_snapshot *snapshots[DH_LOCK_ORDER_SNAPSHOTS];
    uint32_t n_snapshots;
    /* private to lock_order.c */
    struct dh_lock_request *similar_before, *similar_after;
    struct dh_similar_requests *similar;
    uint64_t key;
    uint32_t fruitless; /* searches */
    uint32_t listed;    /* in so many lists */
    bool dead, reported;
};

/* Each waits for the next and the last for the first. */
typedef void dh_cycle_found(void *arg, const struct dh_lock_request *const *cycle, size_t n);

struct dh_lock_order;
struct dh_lock_order *dh_lock_order_new(dh_cycle_found *found, void *arg);
void dh_lock_order_free(struct dh_lock_order *o);
/* `like` is the request without its snapshots; `held` is copied. */
void dh_lock_order_request(struct dh_lock_order *o, const struct dh_lock_request *like, struct dh_hb_snapshot *now);
/* The lock does not exist any more. */
void dh_lock_order_forget(struct dh_lock_order *o, uint64_t lock);
/* The thread's requests one after the other, NULL after the last; `at` begins with 0. */
const struct dh_lock_request *dh_lock_order_next(struct dh_lock_order *o, uint32_t thread, size_t *at);

#endif
