/* The store of findings: one SQLite file. Layer: finding. Format: docs/formats/store.md. Safe with several writers: one
 * transaction per run, which waits for another's end. The store owns nothing that it is given. */
#ifndef DH_FINDING_STORE_H
#define DH_FINDING_STORE_H

#include "finding/finding.h"
#include "host/err.h"

#include <stdbool.h>

#define DH_STORE_DEFAULT ".deadheat/findings.db"

struct dh_store;

enum dh_store_mode { DH_STORE_READ, DH_STORE_WRITE /* made if missing */ };

/* NULL with one line when it cannot be opened or is no store of findings of this version. While it is open, writing
 * beyond the limit of file sizes is an error instead of a signal. */
struct dh_store *dh_store_open(const char *path, enum dh_store_mode mode, struct dh_err *err);
void dh_store_close(struct dh_store *s);
/* Makes it if it is missing: what found nothing leaves a store that says so. */
bool dh_store_make(const char *path, struct dh_err *err);

struct dh_store_run {
    const char *program, *arguments;
    long long started; /* seconds since 1970 */
};

/* What is added between begin and commit is stored whole or not at all; close without commit takes it back. */
bool dh_store_begin(struct dh_store *s, const struct dh_store_run *run, long long *id, struct dh_err *err);
/* Whether a log, known by a name that no other has, is stored for the first time. */
bool dh_store_claim(struct dh_store *s, const char *log, bool *fresh, struct dh_err *err);
/* An equal finding is merged: its level rises, then the detector is who raised it; verdict and healing stay; evidence
 * of this build is replaced unless it says more. */
bool dh_store_add(struct dh_store *s, long long run, const struct dh_finding *f, struct dh_err *err);
/* What classifying came to, for this build: the finding's verdict, and the details as a JSON object. */
bool dh_store_classify(struct dh_store *s, const char *id, const char *build, enum dh_finding_verdict verdict,
                       const char *details, struct dh_err *err);
/* The state of healing. */
bool dh_store_heal(struct dh_store *s, const char *id, enum dh_finding_healing healing, struct dh_err *err);
/* How it came to that, for this build, as a JSON object. */
bool dh_store_healed(struct dh_store *s, const char *id, const char *build, const char *details, struct dh_err *err);
/* A lock that heals the finding was given up in a run: what was verified is only offered, and it is counted. */
bool dh_store_heal_failed(struct dh_store *s, const char *id, const char *build, struct dh_err *err);
bool dh_store_commit(struct dh_store *s, struct dh_err *err);
/* The newest run, 0 when there is none: for `since`. */
bool dh_store_last_run(struct dh_store *s, long long *id, struct dh_err *err);

/* "ARG ARG...", for dh_store_run.arguments; owned by the caller. */
char *dh_store_arguments(char *const *argv);
/* One finding of a run, in a transaction of its own. */
bool dh_store_put(const char *path, const struct dh_store_run *run, const struct dh_finding *f, struct dh_err *err);

struct dh_store_choice {
    const char *id;                         /* beginning of an id, or NULL */
    long long run;                          /* only those seen in it; 0 = all */
    long long since;                        /* only those seen in a run after it, of `program` if that is set */
    const char *program;                    /* file, or NULL for all */
    const char *kinds, *levels, *detectors; /* words separated by commas, or NULL for all */
};
/* Calls fn for each, longest known first, with the newest evidence. False when the store could not be read. */
bool dh_store_each(struct dh_store *s, const struct dh_store_choice *choice,
                   void (*fn)(void *arg, const struct dh_finding *f), void *arg, struct dh_err *err);

#endif
