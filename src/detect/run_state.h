/* The state of the run at a point of the event stream, kept once for all detectors: threads, the locks they hold, the
 * functions they are in, the objects that exist, and the meaning of places. Layer: detect. Answers are valid until the
 * next event. The stream is not trusted: thread indices at or above DH_RUN_THREADS_MAX are refused. */
#ifndef DH_DETECT_RUN_STATE_H
#define DH_DETECT_RUN_STATE_H

#include "base/vec.h"
#include "event/event.h"
#include "event/site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_RUN_THREADS_MAX (1u << 20)

/* A lock as one thread holds it. */
struct dh_lock_hold {
    uint64_t lock;
    uint32_t id; /* of this lock: an address that is initialised anew is another lock */
    bool shared;
    uint32_t depth;       /* of recursion, from 1 */
    uint32_t site, ctx;   /* where it was acquired */
    uint64_t acquisition; /* its number, unique in this run; another one after a condition wait */
};

/* An activation of a function. */
struct dh_activation {
    uint32_t site, ctx;
    uint64_t object; /* its first pointer argument, or 0 */
    uint64_t number; /* unique */
};

struct dh_run_thread {
    uint32_t index, parent; /* UINT32_MAX: not known */
    bool begun, ended;
    DH_VEC(struct dh_lock_hold) held;    /* in the order of acquisition */
    DH_VEC(struct dh_activation) active; /* outermost first; only of streams that have scopes */
    uint64_t section;                    /* changes whenever `held` does */
};

/* A piece of memory with a beginning and an end: heap block, mapping, global variable, thread's stack. */
struct dh_object {
    uint64_t at, size;
    uint32_t number;            /* unique, also among objects that were at this address before */
    uint8_t region;             /* dh_event_region */
    uint32_t thread, site, ctx; /* of its allocation */
};

/* What only the reader of the stream knows. Any may be NULL. */
struct dh_run_host {
    /* The row of a place and its table; NULL: nothing is known. */
    const struct dh_site *(*site)(void *arg, uint32_t place, const struct dh_site_table **table);
    /* The global variable around an address. */
    bool (*global)(void *arg, uint64_t addr, uint64_t *at, uint64_t *size);
    /* Variables that some path through the critical section that begins at that place may access, as names of the
     * site table ("struct account.balance"); `write`: written, else read. NULL: not known. */
    const char *const *(*may_access)(void *arg, uint32_t place, bool write, size_t *n);
    /* How the value read at a place reaches the critical section that begins at another: bits of dh_flow
     * (event/scope_table.h), 0 when it does not. With DH_NO_PLACE: branches of its own function. Negative: not known.
     */
    int (*flow)(void *arg, uint32_t read, uint32_t lock);
    /* The place of the n-th condition wait that the critical section that begins at a place may reach, and whether no
     * code signals that condition; DH_NO_PLACE after the last, and when nothing is known. */
    uint32_t (*may_wait)(void *arg, uint32_t lock, unsigned n, bool *nobody_signals);
    /* A suspicion of `detector`. */
    void (*found)(void *arg, const char *detector, const void *suspicion);
    void *arg;
};

struct dh_run_state;
struct dh_run_state *dh_run_state_new(const struct dh_run_host *host);
void dh_run_state_free(struct dh_run_state *w);
/* Before and after detectors see the event: `before` for what it acquires or begins, `after` for what it releases or
 * ends. */
void dh_run_state_before(struct dh_run_state *w, const struct dh_event *e);
void dh_run_state_after(struct dh_run_state *w, const struct dh_event *e);

/* Never NULL: an unknown or refused index answers a thread that holds nothing. */
const struct dh_run_thread *dh_run_thread(struct dh_run_state *w, uint32_t index);
uint32_t dh_run_thread_count(const struct dh_run_state *w); /* one more than the highest index */
/* NULL when the thread does not hold it. */
const struct dh_lock_hold *dh_run_find_held(struct dh_run_state *w, uint32_t thread, uint64_t lock);
/* The number of the lock that is at the address now; a new one if it was never used. */
uint32_t dh_run_lock_id(struct dh_run_state *w, uint64_t lock);
/* NULL: none is known. */
const struct dh_object *dh_run_find_object(struct dh_run_state *w, uint64_t addr);
/* The object of that number, also when it has ended not long ago; NULL: forgotten. */
const struct dh_object *dh_run_find_object_numbered(struct dh_run_state *w, uint64_t addr, uint32_t number);

const struct dh_site *dh_run_site(struct dh_run_state *w, uint32_t place, const struct dh_site_table **table);
/* Strings of a place: "" when not known. `variable` is the type-level name ("struct account.balance"). */
const char *dh_run_variable(struct dh_run_state *w, uint32_t place);
const char *dh_run_function(struct dh_run_state *w, uint32_t place);
const char *const *dh_run_may_access(struct dh_run_state *w, uint32_t place, bool write, size_t *n);
int dh_run_flow(struct dh_run_state *w, uint32_t read, uint32_t lock);
uint32_t dh_run_may_wait(struct dh_run_state *w, uint32_t lock, unsigned n, bool *nobody_signals);

#endif
