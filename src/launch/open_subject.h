/* The user's program as the subject of searches: its engine variant. Layer: launch. */
#ifndef DH_LAUNCH_OPEN_SUBJECT_H
#define DH_LAUNCH_OPEN_SUBJECT_H

#include "prove/subject.h"

#define DH_ENGINE_PLAN "engine"

/* `plan` is DH_ENGINE_PLAN, perhaps with a healing policy. argv and input are borrowed. `command` is for messages.
 * False: nothing is to be released. */
bool dh_open_subject(const char *plan, const char *command, char **argv, const char *input, struct dh_subject *s,
                     struct dh_err *err);
/* From here on the child's threads are explored instead of the program's own. An error when its program has no variant;
 * the subject is as it was then. */
bool dh_follow_child(struct dh_subject *s, const struct dh_child_process *c, struct dh_err *err);
/* The same by number or name (--child), which a run of the program finds. */
bool dh_follow_named_child(struct dh_subject *s, const char *what, struct dh_err *err);

#endif
