/* What a run looks at more closely: sites and sections of AtomRace, noise and its targets. Layer: cmd. Complains by
 * itself. Everything is checked before the program starts. */
#ifndef DH_CMD_FOCUS_H
#define DH_CMD_FOCUS_H

#include "cmd/command.h"

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

/* Options of a command that runs a program, in the words of its table. */
#define DH_FOCUS_OPTIONS                                                                                               \
    {"sites", DH_OPTION_STRING, "TARGET,...", NULL,                                                                    \
     "where atomrace looks: var:NAME, fun:NAME, file:NAME, loc:FILE:LINE; without this, everywhere"},                  \
        {"sections", DH_OPTION_STRING, "FILE", NULL,                                                                   \
         "sections of the program that atomrace takes to be atomic (docs/formats/sections.md)"},                       \
        {"noise", DH_OPTION_STRING, "CLAUSE;...", NULL,                                                                \
         "delays that make rare interleavings likely: random[,FREQ[,STRENGTH[,sleep|yield|busy]]], sync, var:NAME, "   \
         "loc:FILE:LINE in the same way (FREQ of 1000, STRENGTH as 50us), auto:N% of the time where conflicting "      \
         "accesses have not met yet; var:@suspected and loc:@findings take targets from the store"},                   \
        {"seed", DH_OPTION_STRING, "N", NULL, "where the chances of noise begin (default: 1)"},                        \
        {"train", DH_OPTION_STRING, "FILE", NULL,                                                                      \
         "atomrace: suspect every pair of accesses that another thread came between, but for those in FILE; a run "    \
         "that ends well adds its own to FILE"}

void dh_focus_read(struct dh_focus *f, const struct dh_parsed *p);
/* Checks all of it, keeps the selection, and says which plan it takes. `db` may be NULL. False: it has complained. */
bool dh_focus_prepare(struct dh_focus *f, const char *command, const char *detect, const char *plan, const char *db);
/* What the runtime is to be told, by `add`. */
void dh_focus_tell(const struct dh_focus *f, void (*add)(const char *key, const char *value));
void dh_focus_release(struct dh_focus *f);

#endif
