/* Pairs of accesses that need not happen at once, as runs that passed have shown. Layer: finding. The file is text:
 * `SITE<tab>SITE` a line, stable names, sorted; # begins a comment. */
#ifndef DH_FINDING_TRAINED_PAIRS_H
#define DH_FINDING_TRAINED_PAIRS_H

#include "base/vec.h"
#include "finding/finding.h"
#include "host/err.h"

#include <stdbool.h>

struct dh_trained_pairs {
    DH_VEC(char *) pairs; /* "SITE\tSITE", sorted */
    bool learning;        /* the run passed: what it broke is added */
    unsigned suspected;   /* that stay */
    size_t added;
};

/* A file that is not there is an empty one; false with the line that is none. */
bool dh_trained_pairs_read(struct dh_trained_pairs *t, const char *path, struct dh_err *err);
bool dh_trained_pairs_write(const struct dh_trained_pairs *t, const char *path, struct dh_err *err);
void dh_trained_pairs_release(struct dh_trained_pairs *t);
/* For each finding: learns it, or says whether it is one to keep. Others than suspected pairs of atomrace are. */
bool dh_trained_pairs_keep_finding(struct dh_trained_pairs *t, const struct dh_finding *f);

#endif
