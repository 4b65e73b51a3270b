/* A witness with the program that it is of, ready to be replayed with kernel threads. Layer: launch. Owns what it
 * holds. Zero-initialise; release when done, also after a failure. */
#ifndef DH_LAUNCH_WITNESS_RUN_H
#define DH_LAUNCH_WITNESS_RUN_H

#include "prove/subject.h"

#define DH_REPLAY_PATIENCE_NS 60000000000ull

struct dh_witness_run {
    struct dh_witness witness;
    struct dh_subject subject;
    struct dh_resolved_witness plot;
    DH_VEC(char *) argv, environment; /* end with NULL; strings are the witness's and the caller's */
    bool is_healed;                   /* the program runs under a policy */
    bool for_real;                    /* its files and descriptors are the kernel's, not those of the search */
    bool has_witness, has_subject;
};

/* `ours`: this user made the witness here. A file that is none is an error of usage, one of another version is not. */
bool dh_witness_run_read(struct dh_witness_run *r, const char *path, bool *ours, struct dh_err *err);
/* `program` as the user calls it, or NULL: as the witness does. Arguments, environment and input are the witness's. A
 * policy is in force when the plan has more than the engine (`healed`). */
bool dh_witness_run_open(struct dh_witness_run *r, char *program, const char *plan, bool healed, struct dh_err *err);
/* Once. `same`: the end of the witness came again; under a policy also any failure in place of one. Else `why` gets
 * what happened instead. */
bool dh_witness_run_once(struct dh_witness_run *r, bool *same, struct dh_str *why, struct dh_err *err);
void dh_witness_run_release(struct dh_witness_run *r);

#endif
