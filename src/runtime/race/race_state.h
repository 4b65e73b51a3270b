/* What the race detector keeps for each thread. Layer: runtime. Written by its thread, but for `lent` and the slot that
 * goes with it (slots.h). Lives until nobody can ask for the thread's history any more. */
#ifndef DH_RUNTIME_RACE_RACE_STATE_H
#define DH_RUNTIME_RACE_RACE_STATE_H

#include "detect/race.h"
#include "runtime/core/thread_state.h"
#include "runtime/race/history.h"

#include <stdatomic.h>

enum { DH_CONTEXT_CACHE = 256, DH_HELD_LOCKS = 64, DH_KNOWN_ATOMICS = 64 };

struct dh_known_context {
    uint64_t value; /* V of a shadow stack */
    uint32_t id, unused;
};

struct dh_held_lock {
    uintptr_t lock;
    uint32_t context, depth;
    bool shared;
};

/* An atomic variable that was loaded in this epoch, and the version (sync_table.h) whose past is known. */
struct dh_known_atomic {
    uintptr_t addr;
    const _Atomic uint64_t *version;
    uint64_t known, stamp;
    uint32_t size;
    bool acquired;
};

/* What of a thread is not looked at, each with its depth. */
enum dh_ignored { DH_IGNORED_ALL, DH_IGNORED_READS, DH_IGNORED_WRITES, DH_IGNORED_SYNC, DH_IGNORED_KINDS };

enum dh_blocked { DH_RUNS, DH_BLOCKED, DH_BLOCKED_LENT };

struct dh_race_state {
    struct dh_race_thread t; /* first: a hit names it */
    struct dh_thread_state *tls;
    uintptr_t thread_pointer; /* thread-local variables of the executable end here */
    uint32_t index;           /* of the thread, by creation */
    uint32_t generation;      /* of the world whose clocks these are */
    struct {
        uint32_t busy; /* in the detector: a signal handler's accesses are left alone, the slot stays */
        union {
            uint32_t closed; /* all of these at once */
            struct {
                _Atomic uint8_t lent; /* the slot went to another thread; take a new one first */
                _Atomic uint8_t blocked;
                uint8_t ignores; /* 1 << dh_ignored */
            };
        };
        /* A word that is written is read in one piece, or the processor waits. */
    } gate;
    uint32_t ignoring[DH_IGNORED_KINDS]; /* depths */
    uint64_t stamp;                      /* of the epoch, in the filter's tags */
    uint64_t known_stamp;                /* and in the words of `known` */
    uint64_t context_value;              /* V of what the history says last */
    struct dh_history history;
    /* of the access being checked, for the report */
    uintptr_t access_addr;
    uint32_t access_size;
    bool has_value, by_library;
    bool said;                    /* see dh_access */
    const struct dh_block *frees; /* whose record is gone already, or NULL */
    uint64_t value;
    /* Races found where a lock is held are reported once it is given back, with what memory held then. */
    bool waits;
    uint8_t n_waiting;
    struct dh_race_hit waiting[32]; /* of the four granules of an atomic, several others each */
    uint8_t waiting_held[16];
    uint32_t report_context; /* set by interposed functions, DH_CONTEXT_ROOT: the shadow stack says it */

    uint32_t n_held, n_unlisted; /* those beyond the list order as all do, but are not named */
    struct dh_held_lock held[DH_HELD_LOCKS];
    struct dh_clock fence_release, fence_acquire;
    bool has_fence_release, has_fence_acquire;
    uintptr_t touched; /* page of the program's memory whose cells were made last (memory.c) */
    struct dh_race_state *next_free;
    uint32_t references; /* of slots that remember it, and of the running thread */
    struct dh_known_context contexts[DH_CONTEXT_CACHE];
    struct dh_known_atomic atomics[DH_KNOWN_ATOMICS];
    struct dh_filter_line filter[DH_FILTER_LINES];
    uint64_t known[DH_KNOWN_LINES];
};

DH_ALWAYS_INLINE uint64_t dh_filter_tag(const struct dh_race_state *s, uintptr_t addr)
{
    return (addr >> 6 & (((uint64_t)1 << DH_STAMP_SHIFT) - 1)) | s->stamp;
}
DH_ALWAYS_INLINE uint64_t dh_filter_bytes(uintptr_t addr, unsigned size)
{
    return ((size < 64 ? (uint64_t)1 << size : 0) - 1) << (addr & 63);
}

DH_ALWAYS_INLINE bool dh_filter_knows(const struct dh_race_state *s, uintptr_t addr, unsigned size, bool write)
{
    const struct dh_filter_line *line = &s->filter[addr >> 6 & (DH_FILTER_LINES - 1)];
    return line->tag == dh_filter_tag(s, addr) && !(dh_filter_bytes(addr, size) & ~line->bytes[write]) &&
           (addr & 63) + size <= 64;
}
/* Only what is recorded may be left out next time. What races with a read races with a write by the same thread, too.
 */
DH_ALWAYS_INLINE void dh_filter_learn(struct dh_race_state *s, uintptr_t addr, unsigned size, bool write)
{
    struct dh_filter_line *line = &s->filter[addr >> 6 & (DH_FILTER_LINES - 1)];
    uint64_t tag = dh_filter_tag(s, addr);
    if ((addr & 63) + size > 64)
        return;
    if (line->tag != tag)
        *line = (struct dh_filter_line){.tag = tag};
    line->bytes[0] |= dh_filter_bytes(addr, size);
    if (write)
        line->bytes[1] |= dh_filter_bytes(addr, size);
}

DH_ALWAYS_INLINE bool dh_known(const struct dh_race_state *s, uintptr_t addr, unsigned granules)
{
    uint64_t word = s->known[addr >> 6 & (DH_KNOWN_LINES - 1)], left = word ^ (addr & DH_KNOWN_ABOVE) ^ s->known_stamp;
    return !(left >> 16) && !(left >> (addr >> 2 & 15) & (((uint64_t)1 << granules) - 1));
}
/* Whole granules that were read; they do not cross a line. */
DH_ALWAYS_INLINE void dh_known_learn(struct dh_race_state *s, uintptr_t addr, unsigned granules)
{
    uint64_t *word = &s->known[addr >> 6 & (DH_KNOWN_LINES - 1)], key = (addr & DH_KNOWN_ABOVE) ^ s->known_stamp;
    uint64_t now = (*word ^ key) >> 16 ? key | 0xFFFF : *word;
    *word = now & ~((((uint64_t)1 << granules) - 1) << (addr >> 2 & 15));
}

static inline bool dh_race_ignores(const struct dh_race_state *s, enum dh_ignored what)
{
    return __builtin_expect(s->gate.ignores >> what & 1, 0);
}

DH_ALWAYS_INLINE bool dh_gate_is_open(const struct dh_race_state *s)
{
    return !s->gate.busy && !s->gate.closed;
}

/* What the executable maps read-only: nothing races there. */
extern uintptr_t dh_constant_start, dh_constant_size;
DH_ALWAYS_INLINE bool dh_module_is_constant(uintptr_t addr)
{
    return addr - dh_constant_start < dh_constant_size;
}

extern struct dh_race dh_race_world; /* all cells' tables */

/* The detector runs in this process. */
extern bool dh_race_on;

/* Into the detector and out; false: not now (a signal handler inside, ignoring, blocked, no slot to be had). */
bool dh_race_enter(struct dh_race_state *s);
static inline void dh_race_leave(struct dh_race_state *s)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->gate.busy = 0;
}
/* After the thread's time changed: what the inline checks compare with, filter and history. */
void dh_race_new_epoch(struct dh_race_state *s);
/* Makes the history say the present stack; the context in which what follows happens. */
uint32_t dh_race_context(struct dh_race_state *s);
/* Room for `words` more, with the state written anew at the beginning of a part. */
bool dh_race_history_room(struct dh_race_state *s, unsigned words);

/* The access would tell nothing new. */
bool dh_race_knows(const struct dh_race_state *s, uintptr_t addr, size_t size, bool write);
/* Any access, checked in full. Inside enter/leave. */
void dh_race_access(struct dh_race_state *s, uintptr_t addr, size_t size, bool write, uint32_t place);
/* Into the history: a row of accesses that follows. shape = stride | size << 16. */
void dh_race_note_run(struct dh_race_state *s, uintptr_t addr, uint32_t extent, uint32_t shape, bool write,
                      uint32_t place);
/* What race_fast.c could not do; what = size | write << 8 | said << 9. Called through __dh_race_complete. */
void dh_race_complete(uintptr_t addr, uint32_t what, uint32_t place, uint64_t value);
/* The range is new to this thread, whatever the cells say. */
void dh_race_forget_filter(struct dh_race_state *s, uintptr_t addr, size_t size);
/* Forgets all cells of the range. */
void dh_race_forget_range(struct dh_race_state *s, uintptr_t addr, size_t size);

/* race_report.c: what dh_race calls. */
unsigned dh_race_explain(uint32_t time, uintptr_t granule, bool writes, struct dh_line_access pairs[4]);
void dh_race_report_hit(struct dh_race_thread *t, const struct dh_race_hit *hit);
/* Those that waited. */
void dh_race_report_waiting(struct dh_race_state *s);

#endif
