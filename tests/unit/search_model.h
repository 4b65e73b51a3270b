/* Model programs for tests of schedule searches: threads as lists of operations on a few variables and synchronisation
 * objects, an interpreter that drives a struct dh_strategy as the engine does, and an enumerator of everything that can
 * happen, which is the oracle. */
#ifndef DH_TESTS_SEARCH_MODEL_H
#define DH_TESTS_SEARCH_MODEL_H

#include "search/strategy.h"

enum { MODEL_THREADS = 8, MODEL_OPS = 48, MODEL_VARS = 8, MODEL_SYNCS = 6, MODEL_REGISTERS = 4 };

enum model_op {
    OP_END, /* of the list */
    /* visible */
    OP_READ,   /* var, register */
    OP_WRITE,  /* var, constant */
    OP_STORE,  /* var, register: writes it */
    OP_ADD,    /* var, constant, register for the old value: atomic */
    OP_CAS,    /* var, expected << 8 | desired, register for success: atomic */
    OP_ALOAD,  /* var, register: atomic */
    OP_ASTORE, /* var, constant: atomic */
    OP_WIDE,   /* var, how many from there are set to 0 */
    OP_FENCE,
    OP_LOCK,       /* lock */
    OP_TRYLOCK,    /* lock, register */
    OP_RDLOCK,     /* lock */
    OP_UNLOCK,     /* lock */
    OP_RDUNLOCK,   /* lock */
    OP_WAIT,       /* condition, lock */
    OP_TIMED_WAIT, /* condition, lock, register: 1 if out of time */
    OP_SIGNAL,     /* condition */
    OP_BROADCAST,  /* condition */
    OP_SEM_WAIT,   /* semaphore */
    OP_SEM_POST,   /* semaphore */
    OP_BARRIER,    /* barrier, threads */
    OP_CREATE,     /* thread */
    OP_JOIN,       /* thread */
    OP_SEND,       /* pipe */
    OP_RECEIVE,    /* pipe: waits until there is something */
    OP_FREE,       /* var */
    OP_IO,
    OP_YIELD,
    OP_EXIT,
    /* between visible ones */
    OP_JUMP_IF,     /* register, constant, target */
    OP_JUMP_UNLESS, /* register, constant, target */
    OP_JUMP,        /* target */
    OP_ASSERT,      /* register, constant */
    OP_ADD_LOCAL,   /* register, constant */
    OP_LEAVE,       /* the program, without a step for it */
};

struct model_line {
    uint8_t op;
    int16_t a, b, c;
};

struct model_program {
    const char *name;
    unsigned threads; /* those that nobody creates are there from the beginning */
    struct model_line line[MODEL_THREADS][MODEL_OPS];
    uint8_t semaphore[MODEL_SYNCS]; /* initial counts */
    bool spins;                     /* how often a loop turns is left out of the comparison: only ends are compared */
};

struct model_thread {
    uint8_t pc;
    bool created, begins, waiting, woken, asleep /* between wait and wake */, ended, yields;
    uint16_t passed; /* barriers: the round it is in */
    int16_t reg[MODEL_REGISTERS];
    uint64_t visited; /* lines it came to */
};

struct model_state {
    struct model_thread thread[MODEL_THREADS];
    int16_t var[MODEL_VARS];
    int8_t owner[MODEL_SYNCS]; /* thread + 1 */
    uint8_t readers[MODEL_SYNCS];
    uint8_t count[MODEL_SYNCS]; /* semaphores */
    uint8_t sent[MODEL_SYNCS];
    uint8_t arrived[MODEL_SYNCS];
    uint16_t round[MODEL_SYNCS];
    uint8_t printed[32]; /* what was said, in order */
    uint8_t n_printed;
    bool failed, exited, left;
};

void model_start(const struct model_program *p, struct model_state *s);
/* What thread t is about to do, and whether it can. */
void model_actor(const struct model_program *p, const struct model_state *s, unsigned t, struct dh_actor *actor);
/* Does it; `step` is what it really was. */
void model_move(const struct model_program *p, struct model_state *s, unsigned t, unsigned alternative,
                struct dh_step *step);
/* All threads; answers how many there are. */
unsigned model_actors(const struct model_program *p, const struct model_state *s, struct dh_actor *actors);
uint64_t model_hash(const struct model_state *s, bool with_yields);

/* Events of a run, each with a hash of its past: two runs in which the same happens in orders that do not matter have
 * the same sum. */
enum { MODEL_DEPTH = 4000 };
struct model_run {
    unsigned n;
    struct model_event {
        uint32_t thread;
        struct dh_step step;
        uint64_t hash;
    } event[MODEL_DEPTH];
    uint64_t sum;
};
void model_run_add(struct model_run *r, unsigned thread, unsigned alternative, const struct dh_step *step);

struct model_set {
    uint64_t *at;
    size_t n, room;
};
bool model_set_add(struct model_set *s, uint64_t value); /* false: was there */
bool model_set_has(const struct model_set *s, uint64_t value);
void model_set_release(struct model_set *s);

struct model_result {
    struct model_set classes; /* of runs to their end */
    struct model_set ends;    /* states at the end, with how it ended; not of failures */
    uint64_t schedules, steps, blocked, failed, cut;
    bool exhausted;
};
void model_result_release(struct model_result *r);

/* Everything: one representative of every class of beginnings (the hash of the state must be the same for all, or the
 * program dies: dependence would be wrong), or with `naive` every order. False: more than `most` steps. */
bool model_enumerate(const struct model_program *p, bool naive, uint64_t most, struct model_result *r);
/* As a strategy does it, until it is exhausted or after that many schedules. `found`: stop at the first failure or
 * deadlock. */
void model_explore(const struct model_program *p, const struct dh_strategy *strategy, struct dh_search *search,
                   uint64_t schedules, bool found, struct model_result *r);

/* A search whose memory comes from malloc and is released together. */
void model_search_init(struct dh_search *search, uint64_t seed);
void model_search_release(struct dh_search *search);

#define MODEL_VAR_AT(i) (0x10000u + 8u * (unsigned)(i))
#define MODEL_LOCK_AT(i) (0x20000u + 64u * (unsigned)(i))
#define MODEL_CONDITION_AT(i) (0x30000u + 64u * (unsigned)(i))
#define MODEL_SEMAPHORE_AT(i) (0x40000u + 64u * (unsigned)(i))
#define MODEL_BARRIER_AT(i) (0x50000u + 64u * (unsigned)(i))

#endif
