/* Shadow memory of a schedule: for each granule of eight bytes the accesses that no later one stands for, in a hash
 * table of its own, as it is KEEP memory. Layer: search, part of schedule_races.h. */
#ifndef DH_SEARCH_SHADOW_H
#define DH_SEARCH_SHADOW_H

#include "event/happens_before.h"
#include "search/grow.h"
#include "search/schedule_races.h"

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
    DH_SHADOW_PAGES = 4096,
    DH_SHADOW_PAGE_SHIFT = 9
};

struct dh_shadow_granule {
    uint64_t key;
    uint32_t generation;
    uint32_t more; /* index + 1 of more cells */
    struct dh_shadow_cell cell[DH_SHADOW_CELLS];
};

struct dh_shadow_overflow {
    struct dh_shadow_cell cell[DH_SHADOW_OVERFLOW_CELLS];
    uint32_t more;
};

/* An access of so many granules that it is kept as a whole. */
struct dh_shadow_range {
    uint64_t low, high; /* granules, `high` is behind it */
    struct dh_shadow_cell cell;
};
enum { DH_SHADOW_RANGES = 64, DH_SHADOW_RANGE_LEAST = 1024 };

struct dh_shadow {
    struct dh_search *search;
    struct dh_shadow_granule *granule;
    uint32_t granule_room, used;
    struct dh_shadow_overflow *overflow;
    uint32_t overflow_room, overflows;
    uint32_t generation;
    struct dh_shadow_range range[DH_SHADOW_RANGES];
    uint32_t ranges;
    uint32_t pages[DH_SHADOW_PAGES]; /* by hash: generation in which something was recorded there */
};

static inline uint32_t dh_shadow_home(const struct dh_shadow *s, uint64_t granule)
{
    return (uint32_t)(granule * 0x9e3779b97f4a7c15u >> 32) & (s->granule_room - 1);
}

static inline uint32_t dh_shadow_page(uint64_t granule)
{
    return (uint32_t)((granule >> DH_SHADOW_PAGE_SHIFT) * 0x9e3779b97f4a7c15u >> 32) & (DH_SHADOW_PAGES - 1);
}

bool dh_shadow_init(struct dh_shadow *s, struct dh_search *search);
void dh_shadow_begin(struct dh_shadow *s);
/* Checks an access of one granule and records it; `me` with clock, thread, mask, flags, site. True: it races with
 * `raced`. */
bool dh_shadow_access(struct dh_shadow *s, uint64_t granule, const struct dh_shadow_cell *me,
                      const struct dh_hb_clock *known, struct dh_shadow_cell *raced);
/* The same for whole granules from `low` up to `high`, of which `*at` races. False, and `*done` not set: there is no
 * room for more ranges. */
bool dh_shadow_access_range(struct dh_shadow *s, uint64_t low, uint64_t high, const struct dh_shadow_cell *me,
                            const struct dh_hb_clock *known, struct dh_shadow_cell *raced, uint64_t *at, bool *done);
/* Quick: no other access is recorded, and the thread made the same or a stronger one in this epoch. */
static inline bool dh_shadow_is_known(const struct dh_shadow *s, uint64_t granule, const struct dh_shadow_cell *me)
{
    const struct dh_shadow_granule *g = &s->granule[dh_shadow_home(s, granule)];
    const struct dh_shadow_cell *c = g->cell;
    return !s->ranges && g->key == granule && g->generation == s->generation && c->clock == me->clock &&
           c->thread == me->thread && !(me->mask & ~c->mask) && !c[1].mask && !c[2].mask && !g->more &&
           !(me->flags & ~c->flags & (DH_STEP_WRITES | DH_SHADOW_FREES)) && !(c->flags & ~me->flags & DH_STEP_ATOMIC);
}
void dh_shadow_forget(struct dh_shadow *s, uint64_t granule, unsigned mask);
/* Ranges that have any of these granules lose them. */
void dh_shadow_forget_ranges(struct dh_shadow *s, uint64_t low, uint64_t high);
/* False: nothing is recorded on the page (512 granules) of this one. */
static inline bool dh_shadow_knows_page(const struct dh_shadow *s, uint64_t granule)
{
    return s->pages[dh_shadow_page(granule)] == s->generation;
}

#endif
