/* Pairs of accesses that need not happen at once, as runs that passed have shown. Layer: finding. The file is text:
 * `SITE<tab>SITE` a line, stable names, sorted; # begins a comment. */
#ifndef DH_FINDING_TRAIN_H
#define DH_FINDING_TRAIN_H

#include "base/vec.h"
#include "finding/finding.h"
#include "host/err.h"

#include <stdbool.h>

struct dh_train {
    DH_VEC(char *) pairs; /* "SITE\tSITE", sorted */
    bool learning;        /* the run passed: what it broke is added */
    unsigned suspected;   /* that stay */
    size_t added;
};

/* A file that is not there is an empty one; false with the line that is none. */
bool dh_train_read(struct dh_train *t, const char *path, struct dh_err *err);
bool dh_train_write(const struct dh_train *t, const char *path, struct dh_err *err);
void dh_train_release(struct dh_train *t);
/* For each finding: learns it, or says whether it is one to keep. Others than suspected pairs of atomrace are. */
bool dh_train_keeps(struct dh_train *t, const struct dh_finding *f);

#endif
