/* Witnesses .dhw: a schedule that leads a program to a defect, in words that hold for every run of the same build.
 * Layer: prove. Format: docs/formats/witness.md. The reader trusts nothing; what it refuses it refuses in one line. A
 * witness owns all its strings; none is NULL. */
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
    char *id;   /* of what was linked: 32 hexadecimal digits */
    char *name; /* of the file, without its folder */
};

struct dh_witness_input {
    char *hash; /* of the content: 32 hexadecimal digits */
    char *path;
};

/* A thread (creation index) goes on with what it is about to do at a place, for the `occurrence`th time. */
struct dh_witness_step {
    uint32_t thread, occurrence, alternative;
    uint8_t kind; /* enum dh_step_kind */
    char *place;  /* name (prove/place_names.h) */
};

/* A place where a section begins or ends, or that belongs to one. */
struct dh_witness_mark {
    uint32_t marks; /* enum dh_engine_mark without DH_ENGINE_VISIBLE */
    char *place;
};

/* A write that a load takes before it happens. */
struct dh_witness_foreseen {
    uint32_t thread, occurrence;
    uint64_t value;
    char *place;
};

/* What exit status and output came to (event/engine.h); UINT64_MAX: whatever it is. */
struct dh_witness_outcome {
    int status;
    uint64_t output, errors;
};

struct dh_witness {
    char *kind;    /* of the end: "race", "deadlock", ... */
    char *finding; /* id, or "" */
    char *program; /* as it was called */
    char *input;   /* what standard input was, or "" for nothing */
    char *text;    /* of a failed assertion, or "" */
    int signal, status;
    uint32_t threads;
    bool spurious;    /* waits may end by themselves */
    bool all_visible; /* every access is a step */
    char *model;      /* of memory, by which loads answer what the alternative of their step says; "" for none */
    struct dh_witness_outcome outcome; /* of a wrong result */
    char *visible_hash;
    DH_VEC(struct dh_witness_build) builds; /* the program's own first */
    DH_VEC(char *) arguments;
    DH_VEC(char *) environment; /* NAME=VALUE */
    DH_VEC(struct dh_witness_input) inputs;
    DH_VEC(char *) visible; /* names of places whose accesses are steps, besides synchronisation and atomics */
    DH_VEC(struct dh_witness_mark) marks;
    DH_VEC(struct dh_witness_mark) stale;    /* places whose loads the model has a say in: enum dh_engine_adversary */
    DH_VEC(struct dh_racy_element) elements; /* that are served beside the sample */
    DH_VEC(struct dh_witness_foreseen) foreseen; /* that steps speak of, by number */
    DH_VEC(struct dh_witness_step) steps;
    DH_VEC(struct dh_witness_step) parties; /* who stands where at the end */
};

void dh_witness_init(struct dh_witness *w);
void dh_witness_release(struct dh_witness *w);

/* Everything but the mark. */
void dh_witness_print(struct dh_str *out, const struct dh_witness *w);
/* `mark` gets what stands in the last line, 32 hexadecimal digits; `body` how many bytes it is of. Names of steps and
 * ends are known, counts hold, the hash of the visible set fits. */
bool dh_witness_parse(struct dh_witness *w, const char *text, size_t n, char mark[33], size_t *body,
                      struct dh_err *err);
/* Of the names, in any order. */
void dh_witness_hash_visible(const struct dh_witness *w, char hash[33]);
/* Whether a variable may be set by a witness: never LD_* or our own. */
bool dh_witness_may_set(const char *name_and_value);

/* ---- files ---- */

/* With a mark that this user's witnesses have. */
bool dh_witness_write(const struct dh_witness *w, const char *path, struct dh_err *err);
/* `ours`: whether the mark is this user's. *strange: it is a witness of a version that is not ours. */
bool dh_witness_read(struct dh_witness *w, const char *path, bool *ours, bool *strange, struct dh_err *err);

#endif
