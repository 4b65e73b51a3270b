/* What the files of adversary*.c share: adversary.c (its life), _tracked.c (which memory the model knows), _values.c
 * (which values there are, and which is picked), _access.c (around the access), _order.c (what orders, and what waits
 * in store buffers). Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_ADVERSARY_INTERNAL_H
#define DH_RUNTIME_ENGINE_ADVERSARY_INTERNAL_H

#include "memory/heuristics.h"
#include "runtime/core/bytes.h"
#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/adversary/drains.h"
#include "search/step.h"

enum { PIECES = 16, TRACKED_BITS = 14, GRANULE_SHIFT = 3, WORD = 8, PATIENCES = 256 };

/* A piece of the access that is being made. */
struct dh_adversary_piece {
    struct dh_piece piece;
    uint64_t held; /* by memory, before it */
    uint32_t took; /* of what it reads: index to give to the model */
    bool reads, writes;
    bool only_loads; /* what it took cannot be updated any more: a compare-exchange that does so did not happen */
};

struct dh_stale_streak {
    uint64_t schedule;
    uint32_t task, place, stale;
};

extern struct dh_adversarial_memory {
    struct dh_memory memory;
    const struct dh_memory_model *model;
    void *self;
    struct dh_picker *picker;
    bool buffers;    /* the model keeps stores back: a thread must see its own */
    bool by_address; /* each address for itself */
    bool others;     /* there were atomics that the model is not told of as accesses */
    bool unsure;     /* something was left out: the values tried are not all there are */
    /* Granules of eight bytes that were accessed at adversarial places in this schedule. */
    struct dh_tracked_granule {
        uint64_t granule;
        uint64_t schedule;
        uint32_t first; /* task that accessed it */
        bool shared;    /* another did, too */
        bool mixed;     /* not always the same bytes of it: */
        uint8_t once;   /* these the first time, a bit each, */
        uint8_t bytes;  /* and these in all */
    } tracked[1 << TRACKED_BITS];
    unsigned n_tracked;
    struct dh_adversary_bounds state;
    uint64_t schedule; /* number, from 1 */

    struct dh_step step; /* the access that is being made */
    struct dh_adversary_piece parts[PIECES];
    unsigned n_parts; /* 0: the model has no say in it */
    bool was_open, was_stale;

    struct dh_stale_streak patience[PATIENCES];
    struct dh_candidate candidates[DH_MEMORY_CANDIDATES];
    unsigned n_updatable;                                   /* of them; those behind can only be loaded */
    struct dh_engine_foreseen foreseen[DH_ENGINE_FORESEEN]; /* writes that were taken before their time */
    uint32_t n_foreseen;
    uint32_t given[DH_ENGINE_FORESEEN]; /* replay: indices of those that the witness names */
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

/* What does not change may lie where nobody can write. */
static inline void dh_adversary_poke(struct dh_memory *m, uint64_t address, unsigned size, uint64_t value)
{
    if (dh_adversary_peek(m, address, size) != value)
        dh_bytes_copy((void *)(uintptr_t)address, &value, size);
}

static inline uint8_t dh_adversary_marks(uint32_t place)
{
    return place < dh_engine->control->adversary_size ? dh_engine_adversary(dh_engine->control)[place] : 0;
}

/* Where a load reads. */
static inline uint64_t dh_adversary_source(const struct dh_step *s)
{
    return s->kind == DH_STEP_COPY ? s->second : s->object;
}

static inline bool dh_adversary_is_load(const struct dh_step *s)
{
    return s->kind == DH_STEP_READ || (s->kind == DH_STEP_COPY && s->flags & DH_STEP_RANGE);
}

/* The order of a step: a compare-exchange in vain has another. */
static inline uint8_t dh_adversary_order(const struct dh_step *s, bool wrote)
{
    return s->flags & DH_STEP_COMPARES && !wrote && s->second ? (uint8_t)s->second : s->order;
}

/* ---- adversary_tracked.c ---- */

/* Which bytes of a granule an access has. */
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

/* ---- adversary_values.c ---- */

/* Is nobody else there to disagree with? */
bool dh_adversary_is_alone(void);
bool dh_adversary_is_sampled(uint64_t at, unsigned rate);
/* 0: too many to be told one by one. */
unsigned dh_adversary_pieces(const struct dh_step *s, uint64_t at, struct dh_piece pieces[PIECES]);
struct dh_access dh_adversary_access(const struct dh_step *s, uint32_t thread, const struct dh_piece *p);
/* Values of one piece, the newest first: never none. */
unsigned dh_adversary_values(const struct dh_step *s, uint32_t thread, const struct dh_piece *p);
/* How many ways a piece has when there are so many already. */
unsigned dh_adversary_limit(unsigned n, unsigned so_far);
/* Of stale reads on end by one task at one place. */
struct dh_stale_streak *dh_adversary_patience(uint32_t task, uint32_t place);

/* ---- adversary_access.c ---- */

/* Is the place adversarial, at this address? */
bool dh_adversary_chooses(const struct dh_step *s, uint64_t at);
/* Does the model have a say in an access of these bytes at this place? */
bool dh_adversary_concerns(const struct dh_step *s, uint64_t at);

#endif
