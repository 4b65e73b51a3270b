/* Memory models: which values a load may answer, as an adversary that keeps to the rules of one model would.
 * Layer: memory (base, event only). Runs inside the checked program and in tests: no libc, memory by dh_memory.memory.
 * What a model keeps of a run lies in one arena that snapshot and restore copy whole, for this model only.
 * Not thread-safe: the driver makes one call at a time. */
#ifndef DH_MEMORY_MODEL_H
#define DH_MEMORY_MODEL_H

#include "event/site.h" /* enum dh_order */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DH_MEMORY_HISTORY = 32, /* writes that are kept of a location by default (004, §4.1) */
    DH_MEMORY_HISTORY_MOST = 64,
    DH_MEMORY_CANDIDATES = 128,    /* a load answers no more: those kept, and what hbmm foresees */
    DH_MEMORY_INITIAL = UINT32_MAX /* as thread of a write: what memory held when the location was first seen */
};

/* Limits that were met: answers stay legal, but are no longer all. A search is exact only if all are 0. */
struct dh_memory_lost {
    uint64_t removed;   /* writes dropped as too old, although a thread could have read them */
    uint64_t narrowed;  /* loads that only got the newest value: too much had happened to decide for others */
    uint64_t no_memory; /* accesses of which nothing could be kept */
};

/* How large write buffers become (004, Fig. 10). */
struct dh_memory_kept {
    uint64_t stores;
    uint32_t most;    /* writes of one location at a time, with what the rules drop left out */
    uint32_t written; /* and if nothing were ever dropped */
};

/* What a model works on. Filled by the driver, which keeps it until the end. */
struct dh_memory {
    uint32_t threads; /* most there can be; accesses of others see the newest and are not kept */
    uint32_t history; /* writes to keep of a location; 0: DH_MEMORY_HISTORY */
    bool no_gc;       /* keep writes that no thread can read (to test the rules that drop them) */
    /* Every access brings its thread's clock; of all edges the model itself applies only fork and join. Only
     * `hb`. */
    bool external_clocks;
    /* Zeroed, never given back, not restored with the program. NULL: no more. */
    void *(*memory)(struct dh_memory *, size_t);
    /* What real memory holds (before a store) and what it is to hold from now on: the newest write
     * in the model's order. Stores that wait in a buffer come here when they leave it, so the driver never stores by
     * itself: code that does not ask the model reads the newest. */
    uint64_t (*peek)(struct dh_memory *, uint64_t address, unsigned size);
    void (*poke)(struct dh_memory *, uint64_t address, unsigned size, uint64_t value);
    /* hbmm: writes that a run has shown are foreseen from the next pass on, not at once. */
    bool by_passes;
    struct dh_memory_lost lost;
    struct dh_memory_kept kept;
    void *host;
};

/* An access of one piece: 1, 2, 4 or 8 bytes as dh_memory_model.pieces says; wide or unaligned ones are several
 * accesses, each with a choice of its own, hence torn. */
struct dh_memory_access {
    uint32_t thread, site, occurrence; /* occurrence UINT32_MAX: not known, no run can speak of it */
    uint8_t size;
    uint8_t order; /* enum dh_order; NONE: a plain access */
    bool updates;  /* the load of a read-modify-write */
    uint64_t address;
    /* With external_clocks: happens-before of the thread as the driver knows it. What thread u did while its own entry
     * was at most clock[u] precedes; entries from `clocks` on are 0. */
    const uint32_t *clock;
    uint32_t clocks;
};

struct dh_access_piece {
    uint64_t address;
    uint8_t size;
};

/* A write that a load may answer. */
struct dh_candidate {
    uint64_t value;
    uint32_t thread, site, occurrence; /* of the store; DH_MEMORY_INITIAL: no thread's */
    uint32_t sequence;                 /* of the write among all of the run, from 1; 0: initial, or to come */
    uint16_t index;                    /* to give to `took` or `update` */
    bool is_future;                    /* hbmm: it has not happened yet, and must */
};

/* A store that waits in a buffer and could leave it now. */
struct dh_memory_drain {
    uint32_t thread, site, occurrence;
    uint32_t sequence;  /* of the store among all of the run */
    uint32_t group;     /* store barriers before it */
    bool waits_for_all; /* leaves after all stores before it */
    uint8_t size;
    uint64_t address, value;
};

struct dh_memory_model {
    const char *name;
    const char *summary;
    /* NULL: no memory. */
    void *(*start)(struct dh_memory *);
    /* A run begins anew: nothing has happened. (What hbmm foresees stays.) */
    void (*begin)(void *self);

    /* Edges that do not come from accesses: fork and join, and release and acquire of an object (lock, condition,
     * barrier; any number). */
    void (*fork)(void *self, uint32_t parent, uint32_t child);
    void (*join)(void *self, uint32_t thread, uint32_t ended);
    void (*acquire)(void *self, uint32_t thread, uint64_t object);
    void (*release)(void *self, uint32_t thread, uint64_t object);
    /* An atomic access of something that is no location of the model's, and holds the newest value: as its order and
     * the fences around it have it. */
    void (*atomic)(void *self, uint32_t thread, uint64_t object, enum dh_order order, bool reads, bool writes);
    bool orders_sc; /* seq_cst matters beyond what it releases: of such accesses the driver says so by acquire and
                       release */

    /* Accesses of these bytes are to be made as these pieces, in rising order; answers how many, at most `room`. Where
     * accesses of other sizes were before, pieces are as small as the smallest. */
    unsigned (*pieces)(void *self, uint64_t address, uint64_t size, struct dh_access_piece *out, unsigned room);
    /* Which writes it may answer, at least one; the first is what real memory holds unless the thread must see a store
     * of its own, then come older ones (hbmm: then those to come). Changes nothing. 0: not kept, take real memory. */
    unsigned (*load)(void *self, const struct dh_memory_access *, struct dh_candidate *out, unsigned room);
    /* The load was made and answered this one, of those `load` answered at the same moment. */
    void (*took)(void *self, const struct dh_memory_access *, unsigned index);
    void (*store)(void *self, const struct dh_memory_access *, uint64_t value);
    /* The same in one: a read-modify-write took what `load` answered for `updates`, and wrote. (One that does not
     * write, a failed compare-exchange, is a load with the order of failure.) */
    void (*update)(void *self, const struct dh_memory_access *, unsigned index, uint64_t value);
    void (*fence)(void *self, uint32_t thread, enum dh_order order);

    /* Stores that can leave their buffers, by thread and address; NULL: the model has none. */
    unsigned (*enabled_steps)(void *self, struct dh_memory_drain *out, unsigned room);
    void (*step)(void *self, const struct dh_memory_drain *);
    /* A store of another thread that waits where this load reads, the last one: what it would see if nothing waited.
     * False: there is none. */
    bool (*waiting)(void *self, const struct dh_memory_access *, struct dh_candidate *out);

    /* Memory that is freed, or whose scope ended, has no past. */
    void (*forget)(void *self, uint64_t address, uint64_t size);
    /* Is what was read so far justified by what happened? NULL: always. Asked at the end of a run: one that is not did
     * not happen. */
    bool (*is_justified)(void *self);
    /* For models with is_justified, else NULL. A write that a run before this process has shown, wherever it is;
     * answers the index that a load takes it by, or UINT32_MAX. */
    uint32_t (*foresee)(void *self, const struct dh_candidate *write);
    /* With by_passes: what was shown since the last pass is foreseen from now on. False: there is nothing new. */
    bool (*next_pass)(void *self);

    /* To come back to this moment of the run. `to` has snapshot_size bytes, asked just before. */
    size_t (*snapshot_size)(void *self);
    void (*snapshot)(void *self, void *to);
    void (*restore)(void *self, const void *from);
};

/* models.def names them all; NULL ends the list. */
extern const struct dh_memory_model *const dh_memory_models[];
const struct dh_memory_model *dh_memory_model_by_name(const char *name);

/* Candidates of a compare-exchange: those with `expected` as for a read-modify-write of access->order, the others as
 * for a load of order `failure`. */
unsigned dh_memory_compare_exchange(const struct dh_memory_model *model, void *self,
                                    const struct dh_memory_access *access, uint64_t expected, enum dh_order failure,
                                    struct dh_candidate *out, unsigned room);

#endif
