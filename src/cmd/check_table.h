/* What check came to: a table of what was seen and what to type next, a line for what is only suspected. Layer: cmd. */
#ifndef DH_CMD_CHECK_TABLE_H
#define DH_CMD_CHECK_TABLE_H

#include "check/chain.h"

/* `suspected`: suspicions are rows, too. */
void dh_check_table_print(const struct dh_check *c, const struct dh_found *found, bool suspected);

#endif
