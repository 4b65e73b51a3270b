/* Shadow memory of a schedule: for each granule of eight bytes the accesses that no later one stands for. Layer:
 * search, part of schedule_races.h. Tables of its own, as it is KEEP memory.
 *
 * Most granules have one plain access that counts: it is a packed cell of eight bytes in the block of its granule. What
 * else there is (several accesses, atomics, visible steps, frees) is in a granule of the pool, and the cell keeps only
 * what the latest thread need not have checked again in its epoch. Long accesses of memory that has no block yet are
 * kept as ranges, which a block takes over when it is made. */
#ifndef DH_SEARCH_SHADOW_H
#define DH_SEARCH_SHADOW_H

#include "event/happens_before.h"
#include "search/grow.h"
#include "search/schedule_races.h"
#include "search/shadow_known.h"

struct dh_shadow_cell {
    uint32_t clock;
    uint16_t thread;
    uint8_t mask;  /* of the bytes; 0: empty */
    uint8_t flags; /* as dh_schedule_access; SHADOW_FREES */
    uint32_t site, occurrence;
};

enum {
    DH_SHADOW_FREES = 1 << 7,
    DH_SHADOW_CELLS = 3,
    DH_SHADOW_OVERFLOW_CELLS = 7,
};

struct dh_shadow_granule {
    struct dh_shadow_cell cell[DH_SHADOW_CELLS];
    uint32_t more; /* index + 1 of more cells */
};

struct dh_shadow_overflow {
    struct dh_shadow_cell cell[DH_SHADOW_OVERFLOW_CELLS];
    uint32_t more;
};

/* A long access, for the blocks in it that are not there yet. */
struct dh_shadow_range {
    uint64_t low, high; /* granules, `high` is behind it */
    struct dh_shadow_cell cell;
};
enum { DH_SHADOW_RANGES = 64, DH_SHADOW_RANGE_LEAST = 1024 };

struct dh_shadow {
    struct dh_shadow_known known; /* the table of blocks */
    struct dh_search *search;
    uint32_t blocks; /* ever made: they stay with their addresses */
    struct dh_shadow_granule *granule;
    uint32_t granule_room, granules;
    struct dh_shadow_overflow *overflow;
    uint32_t overflow_room, overflows;
    uint32_t generation; /* of all tables, in step with known.generation */
    struct dh_shadow_range range[DH_SHADOW_RANGES];
    uint32_t ranges;
    uint8_t *shared; /* by site: it accessed memory that another thread accessed, too; NULL: nobody asks */
    uint32_t shared_room;
};

struct dh_shadow_bytes {
    uint64_t address, size;
};

/* Which earlier accesses that conflict with it and come before it an access asks for. */
struct dh_shadow_wish {
    bool (*is_one)(const struct dh_shadow_wish *w, const struct dh_shadow_cell *before);
};

/* What an access meets: an earlier one that it races with, and one that it asks for. */
struct dh_shadow_met {
    struct dh_shadow_cell raced, before;
    uint64_t at; /* granule of the race */
    bool races, is_ordered;
};

bool dh_shadow_init(struct dh_shadow *s, struct dh_search *search);
void dh_shadow_begin(struct dh_shadow *s);
/* Checks an access and records it; `me` with clock, thread, flags, site. `only_known`: not where nothing is recorded;
 * `wish`: NULL for none. Of several that it meets, one of each kind. */
struct dh_shadow_met dh_shadow_access(struct dh_shadow *s, struct dh_shadow_bytes bytes, struct dh_shadow_cell me,
                                      const struct dh_hb_clock *known, bool only_known,
                                      const struct dh_shadow_wish *wish);
/* A granule of which every access is checked, in this schedule. */
void dh_shadow_watch(struct dh_shadow *s, uint64_t address);
void dh_shadow_forget(struct dh_shadow *s, struct dh_shadow_bytes bytes);

#endif
