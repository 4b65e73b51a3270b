/* The race detector's state of a thread: clock, history, filters, held locks. Layer: runtime. Written by its thread,
 * except `borrowed` and the slot (thread_slots.h). Reference counted: lives while a slot remembers the thread's
 * history. */
#ifndef DH_RUNTIME_RACE_RACE_STATE_H
#define DH_RUNTIME_RACE_RACE_STATE_H

#include "detect/race.h"
#include "runtime/core/context.h"
#include "runtime/core/instrumented_modules.h"
#include "runtime/core/thread_state.h"
#include "runtime/race/history.h"
#include "runtime/race/sync_table.h"
#include "runtime/sync/held_locks.h"
#include "runtime/sync/known_atomics.h"
#include "runtime/sync/sync.h"

#include <stdatomic.h>

enum { DH_CONTEXT_CACHE = 256 };

enum dh_race_blocking { DH_RACE_RUNNING, DH_RACE_BLOCKED, DH_RACE_BLOCKED_BORROWED };

struct dh_race_state {
    struct dh_race_thread t; /* first: dh_race passes it back */
    struct dh_thread_state *tls;
    uintptr_t thread_pointer; /* thread-local variables of the executable end here */
    uint32_t index;           /* of the thread, by creation */
    uint32_t generation;      /* resets of all clocks before these */
    struct {
        uint32_t busy; /* inside the detector: a signal handler's accesses are ignored, the slot is kept */
        union {
            uint32_t closed; /* any of these */
            struct {
                _Atomic uint8_t borrowed; /* another thread has the slot now; acquire a new one first */
                _Atomic uint8_t blocked;
                uint8_t ignores; /* 1 << dh_ignored */
            };
        };
        /* Read as wide as written, or store forwarding fails. */
    } gate;
    uint32_t ignoring[DH_IGNORED_KINDS]; /* depths */
    uint64_t stamp;                      /* of the epoch, in the filter's tags */
    uint64_t known_stamp;                /* and in the words of `known` */
    uint64_t context_value;              /* context value that the history has last */
    struct dh_race_history history;
    /* of the access being checked, for the report */
    uintptr_t access_addr;
    uint32_t access_size;
    bool has_value, by_library;
    bool recorded;                     /* see dh_access: the cell has it already */
    const struct dh_heap_block *frees; /* the block being freed, whose record is gone, or NULL */
    uint64_t value;
    /* Races found while a lock of the detector is held are reported after its release, with what memory held then. */
    bool defers_reports;
    uint8_t n_deferred;
    struct dh_race_hit deferred[32]; /* an atomic has up to four granules, each with several others */
    uint8_t deferred_held[16];
    uint32_t report_context; /* set by interposed functions, DH_CONTEXT_ROOT: the shadow stack says it */

    uint32_t n_held, n_unlisted; /* locks beyond the list order as all do, but reports do not name them */
    struct dh_held_lock held[DH_HELD_LOCKS];
    struct dh_fences fences;
    uintptr_t touched; /* page of the program's memory whose cells were faulted in last (heap_blocks.c) */
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
/* Only recorded accesses may be skipped next time. What races with a read races with a write by the same thread, too.
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

DH_ALWAYS_INLINE bool dh_read_filter_knows(const struct dh_race_state *s, uintptr_t addr, unsigned granules)
{
    uint64_t word = s->known[addr >> 6 & (DH_KNOWN_LINES - 1)], left = word ^ (addr & DH_KNOWN_ABOVE) ^ s->known_stamp;
    return !(left >> 16) && !(left >> (addr >> 2 & 15) & (((uint64_t)1 << granules) - 1));
}
/* Remembers whole granules that were read; they do not cross a cache line. */
DH_ALWAYS_INLINE void dh_read_filter_learn(struct dh_race_state *s, uintptr_t addr, unsigned granules)
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

extern struct dh_race dh_race_tables; /* the tables behind all cells */

/* The detector runs in this process. */
extern bool dh_race_on;

/* Enters and leaves the detector; false: not now (a signal handler inside, ignoring, blocked, no slot available). */
bool dh_race_enter(struct dh_race_state *s);
static inline void dh_race_leave(struct dh_race_state *s)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->gate.busy = 0;
}
/* After the thread's epoch changed: renews what the inline checks compare with, filters, history. */
void dh_race_new_epoch(struct dh_race_state *s);
/* The context of the calling thread's shadow stack. */
uint32_t dh_race_context(struct dh_race_state *s);
/* Makes room for `words` more; the beginning of a part gets the whole state. */
bool dh_race_history_room(struct dh_race_state *s, unsigned words);

/* An equal access was recorded in this epoch. */
bool dh_race_filter_knows(const struct dh_race_state *s, uintptr_t addr, size_t size, bool write);
/* Any access, checked in full. Inside enter/leave. */
void dh_race_access(struct dh_race_state *s, uintptr_t addr, size_t size, bool write, uint32_t place);
/* Records the accesses of a strided loop in the history. shape = stride | size << 16. */
void dh_race_record_strided(struct dh_race_state *s, uintptr_t addr, uint32_t extent, uint32_t shape, bool write,
                            uint32_t place);
/* What race/fast.c could not decide; what = size | write << 8 | recorded << 9. Called through __dh_race_complete. */
void dh_race_complete(uintptr_t addr, uint32_t what, uint32_t place, uint64_t value);
/* The thread's filters forget the range. */
void dh_race_forget_filter(struct dh_race_state *s, uintptr_t addr, size_t size);
/* Clears all cells of the range, and the filters. */
void dh_race_forget_range(struct dh_race_state *s, uintptr_t addr, size_t size);

/* report.c: callbacks of dh_race. */
unsigned dh_race_explain(uint32_t time, uintptr_t granule, bool writes, struct dh_line_access pairs[4]);
void dh_race_report_hit(struct dh_race_thread *t, const struct dh_race_hit *hit);
/* Reports races that were deferred. */
void dh_race_report_deferred(struct dh_race_state *s);

#endif
