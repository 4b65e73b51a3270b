/* Why an argument that would have put a pair of accesses aside does not hold for this one, in plain words. Layer: cmd.
 */
#ifndef DH_CMD_SCAN_REASONS_H
#define DH_CMD_SCAN_REASONS_H

#include "analysis/races.h"
#include "cmd/scan_findings.h"

/* Of two events of the walk. The caller frees it. */
char *dh_scan_reason(const struct dh_scan_names *n, enum dh_argument argument, uint32_t one, uint32_t other);

#endif
