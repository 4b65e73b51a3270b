/* Failures of a policy in a run: locks that the runtime gave up, stored with the findings that they heal. Layer: heal.
 */
#ifndef DH_HEAL_FAILURES_H
#define DH_HEAL_FAILURES_H

#include "host/err.h"

#include <stdbool.h>

struct dh_heal_failures {
    char *folder, *failures;
};

/* Before the program starts. */
void dh_heal_failures_begin(struct dh_heal_failures *w);
/* When it has ended: `policy` was in force, the findings are in `db`. Releases w. */
bool dh_heal_failures_store(struct dh_heal_failures *w, const char *policy, const char *db, const char *program,
                            struct dh_err *err);

#endif
