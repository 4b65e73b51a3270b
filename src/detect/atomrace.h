/* AtomRace's primitive sections (001 Fig. 2): two threads between the before- and after-events of accesses to common
 * bytes, one of them writing. Layer: detect; inside checked programs. No allocation, no locks, any number of threads.
 *
 * Unlike the figure, which keeps one accessing thread for each variable, only writes are published: in one word for
 * each eight bytes, which names the thread and the number of its write and stays when the write is over. A reader
 * compares the word at its two events. It finds a writer that is active at its `before`, or one whose `before` falls
 * between its own two, and these are all ways in which two sections can overlap. Words are lost when addresses share a
 * cell or two writers come at the same time: then a collision is missed, never invented.
 *
 * Why none is invented: nothing between the events of one access synchronises, so for the other access to be ordered
 * before or after this one its thread must have passed, by the synchronisation, the store or load of the word that
 * shows it. A thread that synchronises in between after all (a signal handler), leaves by longjmp or ends, must call
 * dh_atom_abandon. Atomic accesses synchronise by themselves and take no part. */
#ifndef DH_DETECT_ATOMRACE_H
#define DH_DETECT_ATOMRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DH_ATOM_CELL_BITS = 12,
    DH_ATOM_CELLS = 1 << DH_ATOM_CELL_BITS,
    DH_ATOM_THREAD_BITS = 12,
    DH_ATOM_THREADS = (1 << DH_ATOM_THREAD_BITS) - 1, /* no word has every bit set */
    DH_ATOM_NUMBER_BITS = 11,
    DH_ATOM_RECORDED_WRITES = 256 /* writes of a thread that can still be found */
};

/* An access as a report needs it. */
struct dh_atom_access {
    uintptr_t addr;
    uint32_t size, place, context;
    bool write;
};

/* A recent write of a thread, by the low bits of its number; `number` is 0 while it is being changed. */
struct dh_atom_recorded_write {
    uint64_t number;
    struct dh_atom_access access;
};

struct dh_atom_thread {
    uint32_t slot;   /* below DH_ATOM_THREADS */
    uint64_t number; /* of the last write; numbers begin at 1 */
    struct dh_atom_recorded_write past[DH_ATOM_RECORDED_WRITES];
};

struct dh_atom_table {
    uint64_t cells[DH_ATOM_CELLS];
};

/* One cell's part of an access between its events. */
struct dh_atom_piece {
    uint64_t *cell;
    uint64_t mine; /* a writer's word, active; a reader's tag and bytes */
    uint64_t seen; /* at `before` */
};

/*   63..32 tag   31..24 bytes   23 active   22..11 thread   10..0 number   */
#define DH_ATOM_ACTIVE ((uint64_t)1 << 23)
#define DH_ATOM_WRITER (((uint64_t)1 << 23) - 1)
#define DH_ATOM_TAG (~(uint64_t)0 << 32)

static inline uint32_t dh_atom_slot(uint64_t word)
{
    return (uint32_t)(word >> DH_ATOM_NUMBER_BITS) & ((1u << DH_ATOM_THREAD_BITS) - 1);
}

/* Whether the word is of another thread and has bytes of the piece. */
static inline bool dh_atom_conflicts(uint64_t word, uint64_t mine, uint32_t slot)
{
    return !((word ^ mine) & DH_ATOM_TAG) && (word & mine & (uint64_t)0xFF << 24) && dh_atom_slot(word) != slot;
}

static inline uint64_t *dh_atom_cell(struct dh_atom_table *t, uintptr_t addr)
{
    return &t->cells[addr >> 3 & (DH_ATOM_CELLS - 1)];
}

/* Tag and bytes of an access that lies within eight bytes. */
static inline uint64_t dh_atom_word(uintptr_t addr, uint32_t size)
{
    uint64_t bytes = (((uint64_t)1 << size) - 1) << (addr & 7) & 0xFF;
    return (uint64_t)(addr >> (3 + DH_ATOM_CELL_BITS)) << 32 | bytes << 24;
}

/* The event before a read. Returns the word of an active write, or 0. */
static inline uint64_t dh_atom_before_read(struct dh_atom_piece *p, const struct dh_atom_thread *me)
{
    p->seen = __atomic_load_n(p->cell, __ATOMIC_ACQUIRE);
    return p->seen & DH_ATOM_ACTIVE && dh_atom_conflicts(p->seen, p->mine, me->slot) ? p->seen : 0;
}

/* The event after a read. Returns the word of a write that began meanwhile, or 0. */
static inline uint64_t dh_atom_after_read(const struct dh_atom_piece *p, const struct dh_atom_thread *me)
{
    uint64_t now = __atomic_load_n(p->cell, __ATOMIC_ACQUIRE);
    return (now ^ p->seen) & (DH_ATOM_TAG | DH_ATOM_WRITER) && dh_atom_conflicts(now, p->mine, me->slot) ? now : 0;
}

static inline uint64_t dh_atom_before_write(struct dh_atom_piece *p, const struct dh_atom_thread *me)
{
    p->mine |=
        DH_ATOM_ACTIVE | (uint64_t)me->slot << DH_ATOM_NUMBER_BITS | (me->number & ((1u << DH_ATOM_NUMBER_BITS) - 1));
    uint64_t met = dh_atom_before_read(p, me);
    __atomic_store_n(p->cell, p->mine, __ATOMIC_RELEASE);
    return met;
}

static inline uint64_t dh_atom_after_write(const struct dh_atom_piece *p, const struct dh_atom_thread *me)
{
    uint64_t now = __atomic_load_n(p->cell, __ATOMIC_ACQUIRE);
    if (now == p->mine) {
        __atomic_store_n(p->cell, now & ~DH_ATOM_ACTIVE, __ATOMIC_RELEASE);
        return 0;
    }
    return dh_atom_conflicts(now, p->mine, me->slot) ? now : 0;
}

/* The write is not active any more, though its `after` never comes. */
static inline void dh_atom_abandon(const struct dh_atom_piece *p)
{
    if (__atomic_load_n(p->cell, __ATOMIC_ACQUIRE) == p->mine)
        __atomic_store_n(p->cell, p->mine & ~DH_ATOM_ACTIVE, __ATOMIC_RELEASE);
}

/* Numbers and records a write of the thread, before its pieces are published. */
void dh_atom_record_write(struct dh_atom_thread *me, const struct dh_atom_access *a);
/* The write that a word of the thread names, which `by` collided with; false: it is too long ago. */
bool dh_atom_find_write(const struct dh_atom_thread *other, uint64_t word, const struct dh_atom_access *by,
                        struct dh_atom_access *out);

#endif
