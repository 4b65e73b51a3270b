/* check of a script, make or a test harness: one run of it, then the chain for each program of ours that it started, in
 * processes of their own which share the budget; one table at the end. Layer: cmd. */
#ifndef DH_CMD_CHECK_SCRIPT_H
#define DH_CMD_CHECK_SCRIPT_H

#include "check/chain.h"
#include "cmd/command.h"
#include "report/formats.h"

/* Answers the exit code. `c` is the script's own. */
int dh_check_script(struct dh_check *c, const struct dh_parsed *p, const struct dh_report_format *format,
                    bool suspected);

#endif
