/* A thread's history: a ring of its latest accesses and lock operations, from which a report gets place, stack and
 * locks of the earlier access of a race (as TSan's trace). Layer: runtime. Written by its thread alone, before the
 * shadow cell; read by threads that report, which notice what is overwritten meanwhile. Every DH_HISTORY_PART words the
 * whole state is written again, so that reading can begin there.
 *
 * word: kind(2) write(1) size(3) place(26) address(32), or META(2) what(6) number(56). A RANGE has its size in the next
 * word; with DH_HISTORY_LIBRARY for a size it was accessed by a library, and has its calling context in place of one;
 * with DH_HISTORY_STRIDED it stands for the accesses of a strided loop, and the next word has their extent(32) and
 * shape: stride(16) size(8). */
#ifndef DH_RUNTIME_RACE_HISTORY_H
#define DH_RUNTIME_RACE_HISTORY_H

#include "detect/shadow_lines.h"
#include "runtime/core/thread_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DH_HISTORY_PART = 4096 };

enum dh_history_kind { DH_HISTORY_ACCESS, DH_HISTORY_ATOMIC, DH_HISTORY_RANGE, DH_HISTORY_META };
enum { DH_HISTORY_LIBRARY = 1, DH_HISTORY_STRIDED = 2 };
enum dh_history_meta {
    DH_META_PAD,
    DH_META_TIME,         /* number = slot and clock of the epoch that begins */
    DH_META_CONTEXT,      /* number = calling context from here on */
    DH_META_SIZE,         /* number = bytes of the range just before */
    DH_META_LOCK_CONTEXT, /* number = context of the next ACQUIRED */
    DH_META_ACQUIRED,     /* number = the lock, bit 0 set when shared */
    DH_META_RELEASED,     /* number = the lock */
    DH_META_NO_LOCKS,     /* the lock set is empty here; locks that are held follow as ACQUIRED */
    DH_META_RESET,        /* all cells and clocks were reset: what precedes has no epoch any more */
};

struct dh_race_history {
    uint64_t *cursor; /* position of the next word */
    uint64_t *part;   /* where the part began; parts are aligned to their size */
    uint64_t before;  /* words ever written before this part */
    uint64_t *words;  /* NULL: there is no history */
    uint64_t size;    /* a power of two */
    void *block;      /* the mapping */
};

/* Words ever written; modulo the size it is the position of the next one. */
static inline uint64_t dh_history_next(const struct dh_race_history *h)
{
    return __atomic_load_n(&h->before, __ATOMIC_ACQUIRE) +
           (uint64_t)(__atomic_load_n(&h->cursor, __ATOMIC_ACQUIRE) - __atomic_load_n(&h->part, __ATOMIC_RELAXED));
}

DH_ALWAYS_INLINE uint64_t dh_history_access(enum dh_history_kind kind, uintptr_t addr, unsigned log_size, bool write,
                                            uint32_t place)
{
    return (uint64_t)kind << 62 | (uint64_t)write << 61 | (uint64_t)log_size << 58 |
           (uint64_t)(place & DH_PLACE_NONE) << 32 | (uint32_t)addr;
}
DH_ALWAYS_INLINE uint64_t dh_history_meta(enum dh_history_meta what, uint64_t number)
{
    return (uint64_t)DH_HISTORY_META << 62 | (uint64_t)what << 56 | (number & (((uint64_t)1 << 56) - 1));
}
/* A part begins with the whole state (dh_race_history_room), so that no word is ever appended at its very beginning. */
DH_ALWAYS_INLINE bool dh_history_has_room(const struct dh_race_history *h, unsigned words)
{
    uintptr_t bytes = DH_HISTORY_PART * sizeof *h->words, at = (uintptr_t)h->cursor & (bytes - 1);
    return at && (words == 1 || at + words * sizeof *h->words <= bytes);
}
DH_ALWAYS_INLINE void dh_history_add(struct dh_race_history *h, uint64_t word)
{
    *h->cursor = word;
    __atomic_store_n(&h->cursor, h->cursor + 1, __ATOMIC_RELEASE);
}
/* Begins the next part; the rest of the present one is padded. */
void dh_history_next_part(struct dh_race_history *h);

bool dh_history_init(struct dh_race_history *h, uint64_t size);
void dh_history_release(struct dh_race_history *h);

enum { DH_HISTORY_LOCKS = 64 };
struct dh_history_lock {
    uintptr_t lock; /* bit 0 set when shared */
    uint32_t context;
};

/* The wanted access, and what the history has of it. */
struct dh_history_query {
    uint32_t time;  /* slot and clock */
    uintptr_t addr; /* one byte */
    bool wrote, atomic;
};
struct dh_history_answer {
    uint32_t place, context;
    uintptr_t addr;
    uint32_t size;
    uint32_t n_locks;
    struct dh_history_lock lock[DH_HISTORY_LOCKS];
};
/* The last plain read or write of each byte of the granule, with masks of the granule; returns how many. */
unsigned dh_history_last_accesses(const struct dh_race_history *h, uintptr_t granule, bool writes,
                                  struct dh_line_access pairs[4]);
bool dh_history_find(const struct dh_race_history *h, const struct dh_history_query *q, struct dh_history_answer *out);

#endif
