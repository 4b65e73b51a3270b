/* Shared by the files of the adversary: adversary.c (start and end of schedules), tracked_memory.c (memory that the
 * model knows), candidates.c (values of a load, and which is picked), access.c (around an access), order.c
 * (happens-before and store buffers for the model). Layer: runtime. In KEEP memory. */
#ifndef DH_RUNTIME_ENGINE_ADVERSARY_INTERNAL_H
#define DH_RUNTIME_ENGINE_ADVERSARY_INTERNAL_H

#include "memory/heuristics.h"
#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/adversary/drains.h"
#include "runtime/platform/bytes.h"
#include "search/step.h"

enum { PIECES = 16, TRACKED_BITS = 14, GRANULE_SHIFT = 3, WORD = 8, STREAKS = 256 };

/* A piece of the access that is being made. */
struct dh_adversary_piece {
    struct dh_access_piece piece;
    uint64_t held;      /* by memory before the access */
    uint32_t candidate; /* that it reads: index for the model */
    bool reads, writes;
    bool only_loads; /* the candidate cannot be updated: a compare-exchange that succeeds on it is not possible */
};

/* Consecutive stale reads of a task at a place. */
struct dh_stale_streak {
    uint64_t schedule;
    uint32_t task, place, stale;
};

extern struct dh_adversarial_memory {
    struct dh_memory memory;
    const struct dh_memory_model *model;
    void *self;
    struct dh_picker *picker;
    bool buffers;             /* the model has store buffers */
    bool buffers_per_address; /* PSO */
    bool saw_other_atomics;   /* at places that are not adversarial */
    bool inexact;             /* not all values are tried */
    /* Granules of eight bytes that were accessed at adversarial places in this schedule. */
    struct dh_tracked_granule {
        uint64_t granule;
        uint64_t schedule;
        uint32_t first; /* task that accessed it */
        bool shared;    /* another did, too */
        bool mixed;     /* accesses of different bytes overlap */
        uint8_t once;   /* bytes of the first access, a bit each */
        uint8_t bytes;  /* of all accesses */
    } tracked[1 << TRACKED_BITS];
    unsigned n_tracked;
    struct dh_adversary_bounds bounds;
    uint64_t schedule; /* number, from 1 */

    struct dh_step step;                      /* the access that is being made, */
    struct dh_adversary_piece pieces[PIECES]; /* in pieces */
    unsigned n_pieces;                        /* 0: it does not concern the model */
    bool had_choice, was_stale;               /* it had several candidates; read a stale one */

    struct dh_stale_streak streaks[STREAKS];
    struct dh_candidate candidates[DH_MEMORY_CANDIDATES];
    unsigned n_updatable;                                   /* the others can only be loaded */
    struct dh_engine_foreseen foreseen[DH_ENGINE_FORESEEN]; /* future writes that loads read */
    uint32_t n_foreseen;
    uint32_t witness_index[DH_ENGINE_FORESEEN]; /* replay: the model's indices of those in the witness */
    struct dh_engine_stale_read stale[DH_ENGINE_STALE_READS];
    uint32_t n_stale;
} *dh_adversarial_memory;

/* ---- memory ---- */

static inline uint64_t dh_adversary_peek(struct dh_memory *m, uint64_t address, unsigned size)
{
    uint64_t value = 0;
    (void)m;
    dh_bytes_copy(&value, (const void *)(uintptr_t)address, size);
    return value;
}

/* Read-only memory is not written if it holds the value. */
static inline void dh_adversary_poke(struct dh_memory *m, uint64_t address, unsigned size, uint64_t value)
{
    if (dh_adversary_peek(m, address, size) != value)
        dh_bytes_copy((void *)(uintptr_t)address, &value, size);
}

static inline uint8_t dh_adversary_marks(uint32_t place)
{
    return place < dh_engine->control->adversary_size ? dh_engine_adversary(dh_engine->control)[place] : 0;
}

/* Address that a load reads. */
static inline uint64_t dh_adversary_source(const struct dh_step *s)
{
    return s->kind == DH_STEP_COPY ? s->second : s->object;
}

static inline bool dh_adversary_is_load(const struct dh_step *s)
{
    return s->kind == DH_STEP_READ || (s->kind == DH_STEP_COPY && s->flags & DH_STEP_RANGE);
}

/* The memory order of a step: a failed compare-exchange has another. */
static inline uint8_t dh_adversary_order(const struct dh_step *s, bool wrote)
{
    return s->flags & DH_STEP_COMPARES && !wrote && s->second ? (uint8_t)s->second : s->order;
}

/* ---- tracked_memory.c ---- */

/* The bytes of a granule that an access touches, a bit each. */
static inline uint8_t dh_adversary_bytes(uint64_t granule, uint64_t at, uint64_t size)
{
    uint64_t first = granule << GRANULE_SHIFT, last = first + WORD;
    uint64_t from = at > first ? at - first : 0, to = at + size < last ? at + size - first : WORD;
    return (uint8_t)(((1u << to) - 1) & ~((1u << from) - 1));
}

struct dh_tracked_granule *dh_adversary_granule(uint64_t granule);
bool dh_adversary_is_tracked(uint64_t at, uint64_t size);
/* False: there is no room. */
bool dh_adversary_track(uint64_t at, uint64_t size, uint32_t by);

/* ---- candidates.c ---- */

/* Have all other tasks ended? */
bool dh_adversary_is_alone(void);
bool dh_adversary_is_sampled(uint64_t at, unsigned rate);
/* Splits an access into pieces that the model can serve; 0: too many. */
unsigned dh_adversary_pieces(const struct dh_step *s, uint64_t at, struct dh_access_piece pieces[PIECES]);
struct dh_memory_access dh_adversary_access(const struct dh_step *s, uint32_t thread, const struct dh_access_piece *p);
/* Candidates of a piece, the newest first; at least one. */
unsigned dh_adversary_values(const struct dh_step *s, uint32_t thread, const struct dh_access_piece *p);
/* Limits the candidates of a piece, so that all pieces together have few alternatives. */
unsigned dh_adversary_limit(unsigned n, unsigned so_far);
struct dh_stale_streak *dh_adversary_stale_streak(uint32_t task, uint32_t place);

/* ---- access.c ---- */

/* Is the place adversarial at this address? */
bool dh_adversary_chooses(const struct dh_step *s, uint64_t at);
/* Does the model know memory that this access touches? */
bool dh_adversary_concerns(const struct dh_step *s, uint64_t at);

#endif
