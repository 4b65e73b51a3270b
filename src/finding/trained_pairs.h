/* Training of AtomRace's access pairs, as in AVIO: a pair that another thread interleaved in a run that passed need not
 * be atomic, and is not reported. Layer: finding. The file is text: a line `SITE<tab>SITE` of stable names, sorted;
 * # begins a comment. */
#ifndef DH_FINDING_TRAINED_PAIRS_H
#define DH_FINDING_TRAINED_PAIRS_H

#include "base/vec.h"
#include "finding/finding.h"
#include "host/err.h"

#include <stdbool.h>

struct dh_trained_pairs {
    DH_VEC(char *) pairs; /* "SITE\tSITE", sorted */
    bool learning;        /* the run passed: its violated pairs are added */
    unsigned suspected;   /* findings kept */
    size_t added;
};

/* A missing file is empty; err names a malformed line. */
bool dh_trained_pairs_read(struct dh_trained_pairs *t, const char *path, struct dh_err *err);
bool dh_trained_pairs_write(const struct dh_trained_pairs *t, const char *path, struct dh_err *err);
void dh_trained_pairs_release(struct dh_trained_pairs *t);
/* Learns the finding's pair, or returns whether to keep the finding. All but suspected pairs of AtomRace are kept. */
bool dh_trained_pairs_keep_finding(struct dh_trained_pairs *t, const struct dh_finding *f);

#endif
