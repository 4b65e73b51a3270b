/* The result of check: a table of findings with the command to type next, a line that counts suspicions. Layer: cmd. */
#ifndef DH_CMD_CHECK_TABLE_H
#define DH_CMD_CHECK_TABLE_H

#include "check/chain.h"

/* A program that a script started. */
struct dh_check_part {
    struct dh_check check; /* of it */
    char *words;           /* its command */
    char *folder;          /* to be typed before the command; NULL: it is ours */
    char *result;          /* in one line */
};

/* `suspected`: suspicions are rows, too. */
void dh_check_table_print(const struct dh_check *c, const struct dh_found *found, bool suspected);
/* The same of a script, whose findings are those of its parts. */
void dh_check_table_print_parts(const struct dh_check *c, const struct dh_found *found, bool suspected,
                                const struct dh_check_part *parts, size_t n);
/* "nothing found in 3 runs ..." or "2 findings: 1 proven, 1 observed", for the table of somebody else. */
void dh_check_line_print(const struct dh_check *c, const struct dh_found *found);

#endif
