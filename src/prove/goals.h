/* Findings of the store as goals of a search, and proofs as findings of the store. Layer: prove. */
#ifndef DH_PROVE_GOALS_H
#define DH_PROVE_GOALS_H

#include "base/vec.h"
#include "finding/store.h"
#include "prove/campaign.h"

struct dh_goals {
    DH_VEC(struct dh_finding *) findings; /* copies */
    DH_VEC(struct dh_goal) goals;         /* as many */
};

struct dh_goals_wanted {
    const char *db;
    const char *id;      /* beginning of one, or NULL: all that are not proven */
    long long run;       /* only what was seen in it; 0: all */
    const char *program; /* file */
    const char *build;
};

/* No store is no goal. `proven` counts those left out because they are. */
bool dh_goals_read(struct dh_goals *g, const struct dh_goals_wanted *w, unsigned *proven, struct dh_err *err);
void dh_goals_release(struct dh_goals *g);

/* Keeps a proof: the witness as a file of that folder, the finding at level proven. `path` gets the file's. */
bool dh_proof_keep(const struct dh_proof *p, const struct dh_subject *s, const char *db, const char *folder,
                   char **path, struct dh_err *err);

/* Keeps what was observed on the way. */
bool dh_observed_keep(const struct dh_finding *f, const struct dh_subject *s, const char *db, struct dh_err *err);

/* Where the witnesses of a store are kept, owned by the caller. */
char *dh_witness_folder(const char *db);

#endif
