/* A healing policy in force for a run: checked against the program, proven free of circles of locks, and in the name of
 * the plan. Layer: heal. */
#ifndef DH_HEAL_APPLY_H
#define DH_HEAL_APPLY_H

#include "host/err.h"

#include <stdbool.h>

/* The plan with the policy, owned by the caller. `partly`: what does not match is left out with a notice each. A
 * program without instrumentation, such as a script, is not checked: what it starts is when it starts. */
char *dh_policy_apply(const char *policy, bool partly, const char *plan, const char *program, struct dh_err *err);

#endif
