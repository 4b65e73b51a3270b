/* Who judges what a run wrote besides the baseline: a command of the user's, and sanitizers that the program was built
 * with. Layer: classify. */
#ifndef DH_CLASSIFY_ORACLE_H
#define DH_CLASSIFY_ORACLE_H

#include "base/str.h"
#include "prove/subject.h"

#define DH_ORACLE_FILE "{out}" /* in the command: the file with what the run wrote */

/* Asks the shell's command about standard output and error of a run: exit status 0 accepts it. False: it could not be
 * asked. */
bool dh_oracle_ask(const char *command, const char *output, size_t n, bool *accepts, struct dh_err *err);
/* The same about a run that nobody disturbs. False with one line: it does not accept that, so there is nothing to judge
 * by. */
bool dh_oracle_check(const char *command, const struct dh_subject *s, struct dh_err *err);

/* The line of a sanitizer's report in what a run wrote, owned by the caller; NULL: there is none. */
char *dh_sanitizer_line(const char *output);

#endif
