/* What a run concentrates on: sites and sections of AtomRace, noise and its targets. Layer: launch. Everything is
 * checked before the program starts; what is wrong is an error of usage that names the option. */
#ifndef DH_LAUNCH_FOCUS_H
#define DH_LAUNCH_FOCUS_H

#include "host/err.h"

#include <stdbool.h>

struct dh_focus {
    const char *sites;    /* --sites: TARGET,...; NULL = all */
    const char *sections; /* --sections: file; NULL = none */
    const char *noise;    /* --noise; NULL = none */
    const char *seed;     /* --seed; NULL = the default */
    const char *train;    /* --train: file; NULL = none */
    char *plan;           /* made by prepare: the plan with the selection in its name */
    char *selection;      /* made by prepare: the file with the selection, or NULL */
};

/* Checks all of it, keeps the selection, and sets the plan that it needs. `db` may be NULL. */
bool dh_focus_prepare(struct dh_focus *f, const char *command, const char *detect, const char *plan, const char *db,
                      struct dh_err *err);
/* The options of the runtime that it needs, by `add`. */
void dh_focus_options(const struct dh_focus *f, void (*add)(const char *key, const char *value));
void dh_focus_release(struct dh_focus *f);

#endif
