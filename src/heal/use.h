/* --heal of every command that runs a program: the policy checked against it, and in the name of the plan. Layer: cmd.
 * Complains by itself. */
#ifndef DH_HEAL_USE_H
#define DH_HEAL_USE_H

#include "cmd/command.h"

#define DH_HEAL_OPTIONS                                                                                                \
    {"heal", DH_OPTION_STRING, "POLICY", NULL,                                                                         \
     "run under a healing policy, as 'deadheat heal' writes them (docs/healing.md)"},                                  \
        {"partly", DH_OPTION_FLAG, NULL, NULL, "apply what matches of a policy that no longer matches whole"}

/* The plan with what the options ask for, owned by the caller; a copy of it when they ask for nothing. NULL: it has
 * complained. */
char *dh_heal_plan(const struct dh_parsed *p, const char *command, const char *plan, const char *program);
/* The same for a file. */
char *dh_heal_plan_of(const char *policy, bool partly, const char *command, const char *plan, const char *program);

#endif
