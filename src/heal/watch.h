/* What became of a policy in a run: locks that were given up are told to the findings that they heal. Layer: cmd. */
#ifndef DH_HEAL_WATCH_H
#define DH_HEAL_WATCH_H

#include <stdbool.h>

struct dh_heal_watch {
    char *folder, *failures;
};

/* Adds to DEADHEAT_OPTIONS, for whatever is started from here. */
void dh_heal_add_option(const char *key, const char *value);

/* Before the program starts. */
void dh_heal_watch_begin(struct dh_heal_watch *w);
/* When it has ended: `policy` was in force, the findings are in `db`. Complains by itself. */
void dh_heal_watch_end(struct dh_heal_watch *w, const char *policy, const char *db, const char *program);

#endif
