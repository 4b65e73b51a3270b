/* What each thread keeps for the hooks, in thread-local storage of the executable. Layer: runtime; also compiled
 * into the inline fast paths. All zero before the thread is known: capacity 0 sends every hook to the slow path. */
#ifndef DH_RUNTIME_CORE_THREAD_STATE_H
#define DH_RUNTIME_CORE_THREAD_STATE_H

#include "base/hash.h"
#include "detect/consistency.h"
#include "event/stream.h"

#include <stdint.h>

/* Numbers of places, of all modules together (instrumented_modules.h). */
enum { DH_PLACE_BITS = 26 };
#define DH_PLACE_NONE ((1u << DH_PLACE_BITS) - 1)

struct dh_frame {
    uintptr_t frame;          /* address of the function's return address; atomrace.c may set the lowest bit */
    uintptr_t return_address; /* where in the caller it was called */
    uint64_t context;         /* V = 3 * V of the caller + hash of the return address */
};

struct dh_thread;
struct dh_stale_thread;
struct dh_race_state;
struct dh_record_state;

/* What was accessed in this epoch where the cell cannot say so, in two tables. Bytes of a line of 64: */
struct dh_filter_line {
    uint64_t tag;      /* line and stamp of the epoch */
    uint64_t bytes[2]; /* accessed, written */
    uint64_t unused;
};
enum { DH_FILTER_LINES = 1024, DH_STAMP_SHIFT = 42 }; /* lines have 42 bits */
/* And granules of a line that were read, in one word, since shared data are read over and over: the address above the
 * lowest 20 bits, with the stamp in the 16 that addresses do not use; below them a bit for each granule that was NOT
 * read. Stamps begin at 1, so that a word of 0 says nothing. */
enum { DH_KNOWN_LINES = 1 << 15, DH_KNOWN_SHIFT = 48 };
#define DH_KNOWN_ABOVE (~(uint64_t)0xFFFFF)
/* What was recorded in this segment, in words like these: two tables, accessed and written. */
enum { DH_RECORDED_LINES = 1 << 16, DH_RECORDED_SMALL = 256 };
/* And accesses that are no whole granules, each by itself. */
struct dh_recorded_small {
    uintptr_t addr;
    uint64_t what; /* stamp | bytes << 1 | written */
};
static inline unsigned dh_recorded_small_index(uintptr_t addr)
{
    return (addr ^ addr >> 8) & (DH_RECORDED_SMALL - 1);
}

enum { DH_STALE_SITES = 16 };

struct dh_thread_state {
    uint32_t depth;                  /* may exceed `capacity`: such frames are counted only */
    uint32_t capacity;               /* of `frames`, without the one below the first */
    struct dh_frame *frames;         /* frames[-1] is above every frame and starts V */
    uintptr_t stack_low, stack_high; /* the ordinary stack */
    struct dh_thread *thread;        /* the record in the registry, or NULL */
    uint32_t index;                  /* creation index; says whether `thread` is still about us */
    uint8_t growing;                 /* a signal handler must leave the frames where they are */
    uint8_t ended;                   /* destructors of the thread are through: frames are counted only */
    uint8_t rounds;                  /* of destructors seen */
    uint32_t place;                  /* of the call that instrumented code announced last */
    uint64_t own;    /* the cell of a whole access in this epoch; 0: the thread is ignored; or DH_OWN_BORROWED */
    uint64_t stamp;  /* of the epoch, as it stands in the words of `known` */
    uint64_t *known; /* of the race detector; dh_knows_nothing while `race` is NULL */
    /* Bits of a word of `known` that must be gone when the granule, or both of an aligned eight bytes, was read. Here,
     * because a thread's own data are reached without a register. */
    uint64_t must_go4[16], must_go8[8];
    struct dh_race_state *race;               /* of the race detector, NULL while it does not look at this thread */
    uintptr_t last_handle;                    /* of the thread created last by this one, */
    struct dh_thread *last_created;           /* and its record: it may be named or detached before it runs */
    uint32_t atom_fast;                       /* reads may take AtomRace's fast path (atomrace/fast.h) */
    uint32_t atom_syncs;                      /* synchronisations that are not locks */
    uint32_t scopes;                          /* activations of functions that are open (scopes.h) */
    struct dh_current_scope scope;            /* of the consistency detector (consistency/scopes.h) */
    struct dh_scope_accesses *scope_accesses; /* dh_scope_no_accesses while `scope_thread` is NULL */
    struct dh_scope_thread *scope_thread;     /* NULL: the detector ignores this thread */
    const void *volatile spared[2];  /* by the library call under way (__dh_spare); volatile, because a compiler that
                                        knows the function sees nobody read it */
    struct dh_record_state *record;  /* of the recorder, NULL while this thread is not recorded */
    uint64_t *recorded;              /* dh_knows_nothing while `record` is NULL */
    uint64_t recorded_stamp;         /* of the segment */
    struct dh_stream_run *runs;      /* reads, then writes; dh_no_runs while `record` is NULL */
    struct dh_recorded_small *small; /* dh_no_small while `record` is NULL */
    struct dh_stale_thread *stale;   /* of adversarial memory (stale.h), NULL while it does not know this thread */
    /* Of loads at places of this number: how many until one asks what to answer. 0: none does, for as long as matters.
     */
    uint32_t stale_skip[DH_STALE_SITES];
};

enum { DH_NOTHING_LINES = 2 * DH_RECORDED_LINES };  /* of either kind of table */
extern uint64_t dh_knows_nothing[DH_NOTHING_LINES]; /* for threads that it does not look at */
extern struct dh_stream_run dh_no_runs[];
extern struct dh_recorded_small dh_no_small[];
extern struct dh_scope_accesses dh_scope_no_accesses;
extern __thread struct dh_thread_state __dh_thread __attribute__((visibility("default")));

static inline uint64_t dh_context_step(uint64_t caller, uintptr_t return_address)
{
    return 3 * caller + dh_hash_multiply(return_address);
}

/* Puts a frame into its slot. A signal handler may come at any point and push frames of its own: the entry is whole
 * before it counts, and its address is written once more in case a handler used the slot just before. */
static inline void dh_frame_push(struct dh_thread_state *t, uint32_t depth, const void *frame,
                                 const void *return_address)
{
    struct dh_frame *f = &t->frames[depth];
    f->frame = (uintptr_t)frame;
    f->return_address = (uintptr_t)return_address;
    f->context = dh_context_step(f[-1].context, f->return_address);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->depth = depth + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    f->frame = (uintptr_t)frame;
}

/* For a hook that may not have run: `leave` ignores it. */
#define DH_DEPTH_NONE UINT32_MAX

#endif
