/* Witnesses (.dhw): a schedule that leads a program to a defect, by stable names of places of one build. Layer: prove.
 * Format: docs/formats/witness.md. The reader checks everything and reports one line. A witness owns all its strings;
 * none is NULL. */
#ifndef DH_PROVE_WITNESS_H
#define DH_PROVE_WITNESS_H

#include "base/str.h"
#include "base/vec.h"
#include "host/err.h"
#include "prove/racy_elements.h"

#include <stdbool.h>
#include <stdint.h>

#define DH_WITNESS_SUFFIX ".dhw"
enum { DH_WITNESS_VERSION = 1 };

struct dh_witness_build {
    char *id;   /* 32 hexadecimal digits */
    char *name; /* of the file, without folder */
};

struct dh_witness_input {
    char *hash; /* of the content: 32 hexadecimal digits */
    char *path;
};

/* A decision: a thread (creation index) executes its step at a place, for the `occurrence`th time. */
struct dh_witness_step {
    uint32_t thread, occurrence, alternative;
    uint8_t kind; /* enum dh_step_kind */
    char *place;  /* name (prove/place_names.h) */
};

/* A place that has marks. */
struct dh_witness_mark {
    uint32_t marks; /* enum dh_engine_mark without DH_ENGINE_VISIBLE */
    char *place;
};

/* A future write that a load reads. */
struct dh_witness_foreseen {
    uint32_t thread, occurrence;
    uint64_t value;
    char *place;
};

/* Exit status and sums of output (event/engine.h); UINT64_MAX: any. */
struct dh_witness_outcome {
    int status;
    uint64_t output, errors;
};

struct dh_witness {
    char *kind;      /* of the end: "race", "deadlock", ... */
    char *finding;   /* id, or "" */
    char *program;   /* argv[0] */
    char *input;     /* file of standard input, or "" */
    char *child;     /* file of the child process that it is about, or "" */
    uint64_t follow; /* which child that is (prove/children.h); 0: the program itself */
    char *text;      /* of a failed assertion, or "" */
    int signal, status;
    uint32_t threads;
    uint32_t undisturbed, quantum;     /* steps before those below, and how many of a thread in turn; 0: none */
    bool spurious;                     /* spurious wakeups */
    bool all_visible;                  /* every access is a step */
    bool only_visible;                 /* plain accesses elsewhere are not even counted */
    bool watchdogs;                    /* handlers of timers come when nothing else can happen */
    bool fresh;                        /* what cannot be undone is done for real */
    char *model;                       /* memory model of the alternatives of loads; "" for none */
    struct dh_witness_outcome outcome; /* of a wrong result */
    char *visible_hash;
    DH_VEC(struct dh_witness_build) builds; /* the program's own first */
    DH_VEC(char *) arguments;
    DH_VEC(char *) environment; /* NAME=VALUE */
    DH_VEC(struct dh_witness_input) inputs;
    DH_VEC(char *) visible; /* names of visible places, besides synchronisation and atomics */
    DH_VEC(struct dh_witness_mark) marks;
    DH_VEC(struct dh_witness_mark) stale;        /* adversarial places: enum dh_engine_adversary */
    DH_VEC(struct dh_racy_element) elements;     /* always served */
    DH_VEC(struct dh_witness_foreseen) foreseen; /* named by steps, by number */
    DH_VEC(struct dh_witness_step) steps;
    DH_VEC(struct dh_witness_step) parties; /* the threads at the end */
};

void dh_witness_init(struct dh_witness *w);
void dh_witness_release(struct dh_witness *w);

/* Everything but the mark. */
void dh_witness_print(struct dh_str *out, const struct dh_witness *w);
/* `mark` gets the mark of the last line, 32 hexadecimal digits; `body` the number of bytes before it. Names of steps
 * and ends, counts, and the hash of the visible set are checked. */
bool dh_witness_parse(struct dh_witness *w, const char *text, size_t n, char mark[33], size_t *body,
                      struct dh_err *err);
/* Independent of their order. */
void dh_witness_hash_visible(const struct dh_witness *w, char hash[33]);
/* Whether a variable may be set by a witness: never LD_* or our own. */
bool dh_witness_may_set(const char *name_and_value);

/* ---- files ---- */

/* With this user's mark. */
bool dh_witness_write(const struct dh_witness *w, const char *path, struct dh_err *err);
/* `ours`: the mark is this user's. `strange`: it is of another version of the format. */
bool dh_witness_read(struct dh_witness *w, const char *path, bool *ours, bool *strange, struct dh_err *err);

#endif
