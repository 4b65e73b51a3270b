/* Oracles besides the baseline: a command of the user that judges output, and reports of sanitizers in the program.
 * Layer: classify. */
#ifndef DH_CLASSIFY_ORACLE_H
#define DH_CLASSIFY_ORACLE_H

#include "base/str.h"
#include "prove/subject.h"

#define DH_ORACLE_FILE "{out}" /* in the command: the file with what the run wrote */

/* Runs the shell command on standard output and error of a run: exit status 0 accepts it. False: it could not be run.
 */
bool dh_oracle_ask(const char *command, const char *output, size_t n, bool *accepts, struct dh_err *err);
/* The same for a run without an adversary. False: it refuses that one, too. */
bool dh_oracle_check(const char *command, const struct dh_subject *s, struct dh_err *err);

/* The line of a sanitizer's report in what a run wrote, owned by the caller; NULL: there is none. */
char *dh_sanitizer_line(const char *output);

#endif
