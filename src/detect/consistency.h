/* Object consistency (003 §7.2): what a thread does to an object in the scope of a function working on it must not be
 * interleaved with another thread's work on the same object. Layer: detect, also compiled into the inline checks.
 * Lock-free; nothing here allocates. Tests, the runtime and the model in tests/spin follow the same steps.
 *
 * Deviations from the paper, which keeps the active thread in the header of every object and compares it after each
 * access:
 * - C has no headers, and shared reads would contend for them. Writers store a word in a cell; what a thread has read
 * it keeps for itself, with the word that it saw. Two accesses of one scope with a foreign word in between are an
 *   interleaving; the bytes are known, and whether it can be serialised (Lu et al.'s four cases).
 * - A scope is an activation of a function on its object (calls on the same object belong to it: re-entrance), as long
 *   as the thread does not synchronise: a synchronisation splits the scope and gives it a new number, since monitors
 * and condition waits release the object (§7.2.3, treatment of monitors), and so may anything that orders another
 *   thread's work. So two accesses of one scope and what comes between are never ordered: a program without races gets
 *   no report.
 *
 * The word: tag of the address | slot of the thread | number of the scope | bytes written | READ | FRESH. Cells are a
 * table by address; a word that falls on an occupied cell replaces it, which loses findings and invents none. */
#ifndef DH_DETECT_CONSISTENCY_H
#define DH_DETECT_CONSISTENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DH_SCOPE_CELL_BITS = 22, /* of an address, above the three of a granule of eight bytes */
    DH_SCOPE_CELLS = 1 << DH_SCOPE_CELL_BITS,
    DH_SCOPE_SLOTS = 256, /* threads at a time; slot 0 is unused */
    DH_SCOPE_ACCESSES = 1024,
    DH_SCOPE_DEPTH = 512, /* activations that are distinguished; deeper ones belong to the last */
    DH_SCOPE_READERS = 256,
    DH_SCOPE_MASK_SHIFT = 2,
    DH_SCOPE_NUMBER_SHIFT = 10,
    DH_SCOPE_SLOT_SHIFT = 34,
    DH_SCOPE_TAG_SHIFT = 42
};
#define DH_SCOPE_FRESH 1u /* no other thread has read it since */
#define DH_SCOPE_READ 2u  /* another thread has, while the writer's scope was open */
#define DH_SCOPE_NUMBER_MASK 0xFFFFFFu
#define DH_SCOPE_SLOT ((uint64_t)(DH_SCOPE_SLOTS - 1) << DH_SCOPE_SLOT_SHIFT)
#define DH_SCOPE_TAG (~(uint64_t)0 << DH_SCOPE_TAG_SHIFT)
#define DH_SCOPE_OPEN (1u << 24)

/* The scope of the calling thread, as parts of words. */
struct dh_current_scope {
    uint64_t word; /* of a cell, but for tag and bytes; 0: the thread is not checked */
    uint64_t key;  /* lowest 18 bits of the number, above MORE and the 45 of a granule of four bytes */
    uint64_t what; /* the other 22, above all else */
};

/* An access of a scope, by granules of four bytes: most reads compare this and find nothing new. */
struct dh_scope_access {
    uint64_t key, seen;
};

/* The rest of each, separate, so that the processor's cache holds more of the former. what = place | WROTE | OVERLAP |
 * bytes of eight | number. */
struct dh_scope_accesses {
    struct dh_scope_access at[DH_SCOPE_ACCESSES];
    uint64_t what[DH_SCOPE_ACCESSES];
};
enum {
    DH_SCOPE_GRANULE_BITS = 45,
    DH_SCOPE_KEY_SHIFT = 46,
    DH_SCOPE_BYTES_SHIFT = 34,
    DH_SCOPE_HIGH_SHIFT = 42,
    DH_SCOPE_KEY_BITS = 18
};
#define DH_SCOPE_MORE ((uint64_t)1 << DH_SCOPE_GRANULE_BITS) /* of a key: it is more than a read, WROTE or OVERLAP */
#define DH_SCOPE_WROTE ((uint64_t)1 << 32)
#define DH_SCOPE_OVERLAP ((uint64_t)1 << 33) /* read while the scope that wrote it was open */

struct dh_scope_activation {
    uint64_t number, start;
    uintptr_t object;
};

/* A thread. Other threads read its accesses for a report. */
struct dh_scope_thread {
    struct dh_current_scope *unit; /* where its checks look */
    uint32_t slot, index;          /* of the thread */
    uint64_t number, next;
    uint64_t start;   /* number of the scope with which the activation began */
    uint64_t floor;   /* scopes below ended with a synchronisation */
    uint64_t closed;  /* writes of scopes up to here may be ordered before others */
    uintptr_t object; /* of the activation, or 0 */
    struct dh_scope_activation scopes[DH_SCOPE_DEPTH];
    struct dh_scope_accesses entries;
    uint32_t open __attribute__((aligned(64))); /* lowest bits of the scope's number | DH_SCOPE_OPEN; 0: closed */
} __attribute__((aligned(64)));

struct dh_consistency {
    uint64_t *cells; /* DH_SCOPE_CELLS */
    struct dh_scope_thread *threads[DH_SCOPE_SLOTS];
    uint64_t readers[DH_SCOPE_READERS]; /* address / 4 << 8 | slot of the thread that set READ last */
};

enum dh_collision_kind {
    DH_COLLISION_NONE,
    DH_COLLISION_INTERLEAVED, /* two accesses of one scope, and one between that cannot be serialised */
    DH_COLLISION_OVERLAP,     /* read while another scope that had written it was open, and accessed again */
    DH_COLLISION_STALE        /* written in one critical section with what was read in another */
};

struct dh_collision {
    enum dh_collision_kind kind;
    uintptr_t addr; /* bytes of all three */
    uint32_t size;
    uint32_t thread;              /* index of the other */
    uint32_t before, other, here; /* places */
    bool before_writes, other_writes, here_writes;
};

/* For the report. */
static inline const char *dh_collision_text(const struct dh_collision *c)
{
    static const char *const interleaved[2][2] = {
        {"between two reads in one call of a function, another thread wrote it",
         "between a read and a write in one call of a function, another thread wrote it, and that is lost"},
        {"between a write and a read in one call of a function, another thread overwrote it",
         "between two writes in one call of a function, another thread read it"}};
    switch (c->kind) {
    case DH_COLLISION_OVERLAP:
        return c->here_writes
                   ? "it was read while another thread was in a function that had just written it, and then written"
                   : "it was read twice in one call of a function while another thread was in one that writes it";
    case DH_COLLISION_STALE:
        return "in one call of a function it was read in one critical section and written in another without being "
               "looked at again; another thread wrote it between the two";
    default:
        return interleaved[c->before_writes][c->here_writes];
    }
}

static inline unsigned dh_scope_byte_mask(uintptr_t addr, unsigned size)
{
    return ((1u << size) - 1) << (addr & 7);
}

static inline uint64_t *dh_scope_cell(uint64_t *cells, uintptr_t addr)
{
    return &cells[addr >> 3 & (DH_SCOPE_CELLS - 1)];
}

static inline uint64_t dh_scope_cell_word(const struct dh_current_scope *u, uintptr_t addr, unsigned size)
{
    return ((uint64_t)addr << (DH_SCOPE_TAG_SHIFT - 3 - DH_SCOPE_CELL_BITS) & DH_SCOPE_TAG) | u->word |
           dh_scope_byte_mask(addr, size) << DH_SCOPE_MASK_SHIFT;
}

static inline unsigned dh_scope_access_index(uintptr_t addr)
{
    return addr >> 2 & (DH_SCOPE_ACCESSES - 1);
}

/* Of an address that can be accessed: below 2^47. */
static inline uint64_t dh_scope_access_key(const struct dh_current_scope *u, uintptr_t addr)
{
    return addr >> 2 | u->key;
}

static inline uint64_t dh_scope_access_info(const struct dh_current_scope *u, uintptr_t addr, unsigned size,
                                            uint32_t place)
{
    return u->what | (uint64_t)dh_scope_byte_mask(addr, size) << DH_SCOPE_BYTES_SHIFT | place;
}

/* Before an access of at most eight bytes within one granule. False: dh_consistency_access must be asked. */
static inline __attribute__((always_inline)) bool dh_scope_check_read(const struct dh_current_scope *u,
                                                                      struct dh_scope_accesses *entries,
                                                                      uint64_t *cells, uintptr_t addr, unsigned size,
                                                                      uint32_t place)
{
    uint64_t seen = __atomic_load_n(dh_scope_cell(cells, addr), __ATOMIC_RELAXED), key = dh_scope_access_key(u, addr);
    struct dh_scope_access *e = &entries->at[dh_scope_access_index(addr)];
    uint64_t *what = &entries->what[dh_scope_access_index(addr)];
    if (__builtin_expect(e->key == key, 1))
        return e->seen == seen;
    if (e->key == (key | DH_SCOPE_MORE)) {
        if (e->seen != seen || *what & DH_SCOPE_OVERLAP)
            return false;
    } else if ((seen & (DH_SCOPE_FRESH | DH_SCOPE_READ)) && ((seen ^ u->word) & DH_SCOPE_SLOT)) {
        return false; /* foreign and perhaps of an open scope; older ones count only when they change */
    }
    e->key = key;
    e->seen = seen;
    *what = dh_scope_access_info(u, addr, size, place);
    return true;
}

/* A write where the last one was this thread's, and no other thread has read it since. By compare-and-swap: with a load
 * and a store, another thread's word could be lost between the two (the model's mutant STORE). */
static inline __attribute__((always_inline)) bool dh_scope_check_write(const struct dh_current_scope *u,
                                                                       struct dh_scope_accesses *entries,
                                                                       uint64_t *cells, uintptr_t addr, unsigned size,
                                                                       uint32_t place)
{
    uint64_t *cell = dh_scope_cell(cells, addr), old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint64_t now = dh_scope_cell_word(u, addr, size), key = dh_scope_access_key(u, addr) | DH_SCOPE_MORE;
    struct dh_scope_access *e = &entries->at[dh_scope_access_index(addr)];
    if (old == now) {
        if (e->key == key) /* and not OVERLAP, or the word would be another thread's */
            return true;
    } else if ((old ^ now) & (DH_SCOPE_TAG | DH_SCOPE_SLOT | DH_SCOPE_READ) ||
               !__atomic_compare_exchange_n(cell, &old, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return false;
    }
    e->key = key;
    e->seen = now;
    entries->what[dh_scope_access_index(addr)] = dh_scope_access_info(u, addr, size, place) | DH_SCOPE_WROTE;
    return true;
}

/* The whole check, before the access. True: there is a collision. */
bool dh_consistency_access(struct dh_consistency *c, struct dh_scope_thread *t, uintptr_t addr, unsigned size,
                           bool write, uint32_t place, struct dh_collision *out);

/* ---- scopes ---- */

/* A thread gets a slot, or its own again; `t` is zeroed or was another thread's, whose numbers it continues. */
void dh_scope_thread_begin(struct dh_scope_thread *t, uint32_t slot, uint32_t index, struct dh_current_scope *unit);
void dh_scope_thread_end(struct dh_scope_thread *t);
/* After an acquire: a new scope begins. */
void dh_scope_split(struct dh_scope_thread *t);
/* Before a release: a thread that reads what was written may be ordered after it. */
void dh_scope_close(struct dh_scope_thread *t);

static inline void dh_scope_set_number(struct dh_scope_thread *t, uint64_t number)
{
    struct dh_current_scope *u = t->unit;
    t->number = number;
    u->word = (uint64_t)t->slot << DH_SCOPE_SLOT_SHIFT | (number & DH_SCOPE_NUMBER_MASK) << DH_SCOPE_NUMBER_SHIFT |
              DH_SCOPE_FRESH;
    u->key = number << DH_SCOPE_KEY_SHIFT;
    u->what = number >> DH_SCOPE_KEY_BITS << DH_SCOPE_HIGH_SHIFT;
    uint32_t open = number > t->closed ? (uint32_t)(number & DH_SCOPE_NUMBER_MASK) | DH_SCOPE_OPEN : 0;
    __atomic_store_n(&t->open, open, __ATOMIC_RELEASE);
}

/* The activation number `depth` of the thread, from 0, begins. The thread's first function has no object: what a
 * thread does from its start to its end is not meant to be atomic. */
static inline void dh_scope_push(struct dh_scope_thread *t, uint32_t depth, uintptr_t object)
{
    if (depth >= DH_SCOPE_DEPTH)
        return;
    t->scopes[depth] = (struct dh_scope_activation){t->number, t->start, t->object};
    if (object && object == t->object)
        return;
    t->object = depth ? object : 0;
    t->start = ++t->next;
    dh_scope_set_number(t, t->next);
}

/* It ends, and with it all deeper ones. */
static inline void dh_scope_pop(struct dh_scope_thread *t, uint32_t depth)
{
    if (depth >= DH_SCOPE_DEPTH)
        return;
    const struct dh_scope_activation *s = &t->scopes[depth];
    t->object = s->object;
    t->start = s->start;
    uint64_t number = s->number < t->floor ? ++t->next : s->number;
    if (number != t->number)
        dh_scope_set_number(t, number);
}

#endif
