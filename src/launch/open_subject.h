/* The user's program as the subject of searches: its engine variant. Layer: launch. */
#ifndef DH_LAUNCH_OPEN_SUBJECT_H
#define DH_LAUNCH_OPEN_SUBJECT_H

#include "prove/subject.h"

#define DH_ENGINE_PLAN "engine"

/* `plan` is DH_ENGINE_PLAN, perhaps with a healing policy. argv and input are borrowed. `command` is for messages.
 * False: nothing is to be released. */
bool dh_open_subject(const char *plan, const char *command, char **argv, const char *input, struct dh_subject *s,
                     struct dh_err *err);

#endif
