/* The result of check: a table of findings with the command to type next, a line that counts suspicions. Layer: cmd. */
#ifndef DH_CMD_CHECK_TABLE_H
#define DH_CMD_CHECK_TABLE_H

#include "check/chain.h"

/* `suspected`: suspicions are rows, too. */
void dh_check_table_print(const struct dh_check *c, const struct dh_found *found, bool suspected);

#endif
