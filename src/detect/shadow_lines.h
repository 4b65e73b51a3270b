/* Shadow lines: 64 bytes whose history shadow cells cannot hold (concurrent readers, bytes with different histories,
 * atomics, races). Layer: detect. A line has a column for each slot that accessed it: which bytes it last read and
 * wrote, and when, exactly. A column is written by the thread that has the slot, without locks; others read it under a
 * sequence lock. Lines and columns are allocated and freed under the owner's lock. */
#ifndef DH_DETECT_SHADOW_LINES_H
#define DH_DETECT_SHADOW_LINES_H

#include "detect/clock.h"

#include <stddef.h>

/* Atomics conflict with plain accesses only. */
enum dh_access_kind { DH_READS, DH_WRITES, DH_ATOMIC_READS, DH_ATOMIC_WRITES, DH_ACCESS_KINDS };
#define DH_KIND_WIDE 8u /* flag: a wide epoch (epoch.h) */

static inline bool dh_kind_writes(enum dh_access_kind k)
{
    return k & 1;
}
static inline bool dh_kind_atomic(enum dh_access_kind k)
{
    return k & 2;
}
static inline bool dh_kinds_conflict(enum dh_access_kind a, enum dh_access_kind b)
{
    return (dh_kind_writes(a) || dh_kind_writes(b)) && !(dh_kind_atomic(a) && dh_kind_atomic(b));
}

/* These bytes were last accessed in this way at this time (slot and clock). */
struct dh_line_access {
    uint64_t bytes;
    uint32_t time;
    uint32_t kind;
};

enum { DH_COLUMN_ACCESSES = 3, DH_NO_SLOT = 0, DH_COLUMNS_INSIDE = 3, DH_KIND_SHIFT = 28 };

/* One cache line. */
struct dh_column {
    uint32_t sequence; /* odd while its thread changes it */
    uint32_t slot;     /* DH_NO_SLOT: imported from cells; changed under the lock */
    struct dh_column *more;
    uint64_t bytes[DH_COLUMN_ACCESSES]; /* its pairs: bytes, */
    uint32_t when[DH_COLUMN_ACCESSES];  /* and time with the kind above it */
    /* A thread with this serial found every write in the line ordered before it when there were so many. */
    uint32_t checked_by;
    uint64_t checked;
};

struct dh_shadow_line {
    uint32_t cells;       /* that refer to it */
    uint32_t spent;       /* granules that left it while others stayed: their bytes in columns are obsolete */
    uint32_t n, capacity; /* of columns, of `more` */
    uint32_t next_free;
    uint32_t has_wide;                 /* a wide epoch was imported */
    struct dh_column **more;           /* beyond those inside */
    uint64_t writes;                   /* ever added; goes on when the line is reused */
    uint32_t calm;                     /* since this time only its thread has accessed it; 0: not so */
    uint32_t slots[DH_COLUMNS_INSIDE]; /* of the columns inside, for a quick search */
    struct dh_column inside[DH_COLUMNS_INSIDE];
};

struct dh_shadow_lines {
    void *(*allocate)(size_t n); /* zeroed, never freed */
    struct dh_shadow_line *at;   /* by index; index 0 unused */
    uint32_t n, cap;
    uint32_t first_resting, last_resting, n_resting; /* freed lines, the oldest first */
    struct dh_column *free_columns;
};

void dh_shadow_lines_init(struct dh_shadow_lines *t, void *(*allocate)(size_t n), uint32_t cap);
void dh_shadow_lines_reset(struct dh_shadow_lines *t);

/* Under the lock. 0: no room. */
uint32_t dh_shadow_line_alloc(struct dh_shadow_lines *t);
void dh_shadow_line_free(struct dh_shadow_lines *t, uint32_t index);
/* After adding a write, before checking the other columns: of two simultaneous accesses one sees the other. */
static inline void dh_shadow_line_count_write(struct dh_shadow_line *line)
{
    __atomic_fetch_add(&line->writes, 1, __ATOMIC_SEQ_CST);
}
/* Under the lock: an access that a cell had. */
bool dh_shadow_line_import(struct dh_shadow_lines *t, struct dh_shadow_line *line, const struct dh_line_access *pair);
/* Under the lock: a wide epoch that is resolved. */
void dh_shadow_line_remove(struct dh_shadow_line *line, const struct dh_line_access *pair);
/* Under the lock; makes the slot's column when there is none. */
struct dh_column *dh_shadow_line_get_column(struct dh_shadow_lines *t, struct dh_shadow_line *line, unsigned slot);

DH_ALWAYS_INLINE void dh_shadow_line_prefetch(const struct dh_shadow_line *line)
{
    __builtin_prefetch(line);
    for (int i = 0; i < DH_COLUMNS_INSIDE; i++)
        __builtin_prefetch(&line->inside[i]);
}
/* The slot's column, or NULL. */
DH_ALWAYS_INLINE struct dh_column *dh_shadow_line_find_column(const struct dh_shadow_line *line, unsigned slot)
{
    uint32_t n = __atomic_load_n(&line->n, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < DH_COLUMNS_INSIDE && i < n; i++)
        if (line->slots[i] == slot)
            return (struct dh_column *)&line->inside[i];
    struct dh_column **more = __atomic_load_n(&line->more, __ATOMIC_ACQUIRE);
    for (uint32_t i = DH_COLUMNS_INSIDE; i < n; i++)
        if (more[i - DH_COLUMNS_INSIDE]->slot == slot)
            return more[i - DH_COLUMNS_INSIDE];
    return NULL;
}
static inline struct dh_column *dh_shadow_line_column_at(const struct dh_shadow_line *line, uint32_t i)
{
    return i < DH_COLUMNS_INSIDE ? (struct dh_column *)&line->inside[i]
                                 : __atomic_load_n(&line->more, __ATOMIC_ACQUIRE)[i - DH_COLUMNS_INSIDE];
}
/* Whether the column has the access already. */
DH_ALWAYS_INLINE bool dh_column_has(const struct dh_column *c, uint64_t bytes, enum dh_access_kind kind, uint32_t time)
{
    uint32_t when = time | (uint32_t)kind << DH_KIND_SHIFT;
    for (; c; c = c->more)
        for (unsigned i = 0; i < DH_COLUMN_ACCESSES; i++)
            if (c->when[i] == when && !(bytes & ~c->bytes[i]))
                return true;
    return false;
}
/* By the thread that has the slot: a plain read at this time, where one column is enough; false: not done. For code
 * that may not call functions. */
DH_ALWAYS_INLINE bool dh_column_read(struct dh_column *c, uint64_t bytes, uint32_t time)
{
    int at = -1;
    for (int i = 0; i < DH_COLUMN_ACCESSES; i++) {
        bool read = !(c->when[i] >> DH_KIND_SHIFT & ~(uint32_t)DH_ATOMIC_READS);
        if (c->when[i] == time && c->bytes[i])
            at = i;
        else if (at < 0 && !(read ? c->bytes[i] & ~bytes : c->bytes[i]))
            at = i;
    }
    if (at < 0 || c->more)
        return false;
    __atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (int i = 0; i < DH_COLUMN_ACCESSES; i++)
        if (i != at && !(c->when[i] >> DH_KIND_SHIFT & ~(uint32_t)DH_ATOMIC_READS))
            c->bytes[i] &= ~bytes;
    c->bytes[at] = c->when[at] == time ? c->bytes[at] | bytes : bytes;
    c->when[at] = time;
    __atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELEASE);
    return true;
}
/* By the thread that has the slot. False: the column is full, dh_column_grow first (under the lock). */
bool dh_column_add(struct dh_column *c, const struct dh_line_access *now);
bool dh_column_grow(struct dh_shadow_lines *t, struct dh_column *c);

/* Every access of every other column; `see` returns false to stop. */
typedef bool dh_line_access_fn(void *arg, const struct dh_line_access *pair);
void dh_shadow_line_each_other(const struct dh_shadow_line *line, unsigned slot, dh_line_access_fn *see, void *arg);

#endif
