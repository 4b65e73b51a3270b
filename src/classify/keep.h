/* Races of the store that are to be classified, and verdicts on their way back. Layer: classify. */
#ifndef DH_CLASSIFY_KEEP_H
#define DH_CLASSIFY_KEEP_H

#include "classify/classify.h"
#include "finding/store.h"

/* Copies of the program's races that were observed or proven; of all, or of those whose id begins so, or that were seen
 * in a run (0: in any). No store is none. */
struct dh_races {
    DH_VEC(struct dh_finding *) at;
};
bool dh_races_read(struct dh_races *r, const char *db, const char *id, long long run, const struct dh_subject *s,
                   struct dh_err *err);
void dh_races_release(struct dh_races *r);

/* A JSON object: verdict, model, heuristic, counts, words, witness ("" for none), and the verdicts of its pairs; of a
 * finding, its own. Owned by the caller. */
char *dh_classified_json(const struct dh_classified *c, const char *witness, const struct dh_finding *f);
/* The verdict of every finding of the variable, and the failing run as a witness in the folder: *path, or NULL. */
bool dh_classified_keep(const struct dh_classified *c, struct dh_subject *s, const char *db, const char *folder,
                        char **path, struct dh_err *err);

/* The verdict on one finding that follows from something else, with the reason and a witness ("" for none). */
bool dh_verdict_keep(const struct dh_finding *f, const char *program, const char *db, enum dh_finding_verdict verdict,
                     const char *why, const char *witness, struct dh_err *err);

#endif
