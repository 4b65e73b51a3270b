/* Locations of a run with the writes that are kept of each, oldest first. Layer: memory. A location is a naturally
 * aligned piece of 1 to 8 bytes; where accesses of another size come, it is split and each half keeps the past.
 * All of it lies in the run's arena, hence tables of its own. */
#ifndef DH_MEMORY_LOCATIONS_H
#define DH_MEMORY_LOCATIONS_H

#include "memory/run_arena.h"

/* A store that loads may still read, with what each model keeps of it. */
struct dh_memory_write {
    uint64_t value;
    uint32_t thread, site, occurrence, sequence;
    uint32_t epoch; /* of its thread's clock */
    bool is_plain, has_message;
    /* c11 (c11_order.h): */
    bool is_known;     /* to everyone, as the initial one is */
    bool is_updated;   /* an update has read it; no other may */
    bool is_logged;    /* an event of the log speaks of it */
    uint8_t head;      /* index of the write that the chain of updates began with */
    uint8_t rank;      /* in the modification order that real memory goes by */
    uint8_t trial;     /* and in the one that is being tried */
    uint64_t before;   /* set of indices of writes that precede in every modification order */
    uint32_t clocks[]; /* as many as the model asked for */
};

struct dh_location {
    uint64_t address;
    struct dh_location *next; /* of the same hash, or free */
    uint8_t size;
    bool is_narrow;  /* only the newest is answered from now on */
    uint32_t count;  /* at least one: what was there in the beginning */
    uint32_t pushed; /* writes since then */
    uint32_t newest; /* index of the one that real memory holds: the last, but in c11 */
    struct dh_memory_write *write[];
};

struct dh_locations {
    struct dh_run_arena arena;
    uint32_t history; /* writes that a location can have */
    uint32_t clocks;  /* entries of dh_memory_write.clocks */
    struct dh_locations_root {
        struct dh_location **bucket;
        uint32_t buckets, count;
        uint32_t sequence;
        struct dh_location *free_locations;
        struct dh_memory_write *free_writes; /* linked by `before` */
    } *root;
};

/* `l` is zeroed. `clocks` entries per write. */
void dh_locations_init(struct dh_locations *l, struct dh_memory *memory, uint32_t history, uint32_t clocks);
/* An empty arena with an empty table: false, no memory. */
bool dh_locations_begin(struct dh_locations *l);

/* NULL: nothing was there yet. Exactly these bytes, as a piece. */
struct dh_location *dh_location_find(struct dh_locations *l, uint64_t address, unsigned size);
/* Made, with what memory holds as its initial write, if it is not there or memory was changed outside of the model;
 * what overlaps it is split, or forgotten if smaller. NULL: no memory. */
struct dh_location *dh_location_get(struct dh_locations *l, uint64_t address, unsigned size);
/* A new write after all others, which must have room. NULL: no memory. */
struct dh_memory_write *dh_location_push(struct dh_locations *l, struct dh_location *at,
                                         const struct dh_memory_access *access, uint64_t value);
/* The write at this index, which is not the newest, is no more. */
void dh_location_drop(struct dh_locations *l, struct dh_location *at, uint32_t index);

unsigned dh_locations_pieces(struct dh_locations *l, uint64_t address, uint64_t size, struct dh_access_piece *out,
                             unsigned room);
/* Are there locations with some of a piece's bytes, but not that very one? Then someone did not ask for pieces. */
bool dh_locations_differ(struct dh_locations *l, uint64_t address, unsigned size);
/* Would an access of these bytes split a location? */
bool dh_locations_would_split(struct dh_locations *l, uint64_t address, uint64_t size);
void dh_locations_forget(struct dh_locations *l, uint64_t address, uint64_t size);

static inline struct dh_memory_write *dh_location_newest(const struct dh_location *at)
{
    return at->write[at->newest];
}

static inline struct dh_candidate dh_candidate_of(const struct dh_memory_write *w, uint32_t index)
{
    return (struct dh_candidate){.value = w->value,
                                 .thread = w->thread,
                                 .site = w->site,
                                 .occurrence = w->occurrence,
                                 .sequence = w->sequence,
                                 .index = (uint16_t)index};
}

#endif
