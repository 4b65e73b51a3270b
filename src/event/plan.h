/* Plans: which site gets which class of hooks. Layer: event. CONTRACTS: pruning is per class.
 * Caller owns the bits array. */
#ifndef DH_EVENT_PLAN_H
#define DH_EVENT_PLAN_H

#include "event/site_mark.h"

#include <stdbool.h>
#include <stdint.h>

enum dh_class {
    DH_CLASS_RACE = 1 << 0,
    DH_CLASS_LOCKSET = 1 << 1,
    DH_CLASS_VIEW = 1 << 2,
    DH_CLASS_CONSISTENCY = 1 << 3,
    DH_CLASS_ATOMRACE = 1 << 4,
    DH_CLASS_ENGINE = 1 << 5,
    DH_CLASS_STALE = 1 << 6,
    DH_CLASS_HEAL = 1 << 7,
    DH_CLASS_SCOPE = 1 << 8,      /* activations of functions: of the site that is the function's own */
    DH_CLASS_PRODUCTION = 1 << 9, /* of no site: healing alone, with a runtime that does nothing else */
    DH_CLASS_ALIVE = 1 << 10      /* instead of race: only whether the memory was freed */
};

/* Race and lockset share one filter and are placed late, and so is consistency, which filters by itself; every other
 * class is placed exactly at the tags. Healing has a step of its own, around those. */
#define DH_CLASSES_LATE (DH_CLASS_RACE | DH_CLASS_LOCKSET | DH_CLASS_CONSISTENCY | DH_CLASS_ALIVE)
#define DH_CLASSES_EXACT (DH_CLASS_VIEW | DH_CLASS_ATOMRACE | DH_CLASS_ENGINE | DH_CLASS_STALE)

/* How much of what is proven safe is left out (003 §7.1.4). */
enum dh_degree {
    DH_DEGREE_ALL,           /* nothing */
    DH_DEGREE_OPTIMIZED,     /* as CONFLICT, and checks that follow from others are left out */
    DH_DEGREE_CONFLICT,      /* as CONFLICT_SELF, and checks of a function's object are made together */
    DH_DEGREE_CONFLICT_SELF, /* each access that may conflict is checked by itself */
};

/* What a program counts while it runs, for measuring (event/counters.h). */
enum dh_count_mode {
    DH_COUNT_NOTHING,
    DH_COUNT_EVENTS, /* accesses, calls and lock operations, as the source has them */
    DH_COUNT_CHECKS  /* checks that were placed, and how many of them go on in the runtime */
};

struct dh_heal_plan;

struct dh_plan {
    uint16_t everywhere;   /* classes of sites that have no entry of their own */
    const uint16_t *bits;  /* per site, or NULL: `everywhere` holds for all */
    const uint32_t *marks; /* per site, for AtomRace's hooks (event/site_mark.h), or NULL: every access collides */
    uint32_t n_bits;
    uint8_t degree;            /* dh_degree */
    uint8_t tally;             /* dh_count_mode */
    bool degree_given;         /* else it is the program's own */
    bool no_arrays;            /* elements of arrays are not checked */
    bool no_copies;            /* functions are not cloned for contexts in which fewer checks are needed */
    bool proven;               /* bits leave out what is proven safe; for an uncertain site `everywhere` holds */
    struct dh_heal_plan *heal; /* what healing does where (event/heal.h), or NULL */
};

static inline unsigned dh_plan_classes(const struct dh_plan *p, uint32_t site)
{
    return p->bits && site < p->n_bits ? p->bits[site] : p->everywhere;
}

/* Checks that accesses in a function clone do not need in its calling contexts (003 §7.3). */
enum dh_clone_exemption {
    DH_EXEMPT_RACE = 1 << 0,
    DH_EXEMPT_CONSISTENCY = 1 << 1,
    DH_EXEMPT_TO_ALIVE = 1 << 2 /* race, but not whether the memory was freed */
};

static inline unsigned dh_plan_exempt(unsigned classes, unsigned exempt)
{
    if (exempt & DH_EXEMPT_TO_ALIVE && classes & DH_CLASS_RACE)
        classes = (classes & ~(unsigned)DH_CLASS_RACE) | DH_CLASS_ALIVE;
    if (exempt & DH_EXEMPT_RACE)
        classes &= ~(unsigned)(DH_CLASS_RACE | DH_CLASS_ALIVE);
    if (exempt & DH_EXEMPT_CONSISTENCY)
        classes &= ~(unsigned)DH_CLASS_CONSISTENCY;
    return classes;
}

static inline uint32_t dh_plan_mark(const struct dh_plan *p, uint32_t site)
{
    return !p->marks ? (uint32_t)DH_SITE_MARK_COLLIDE : site < p->n_bits ? p->marks[site] : 0;
}

#endif
