/* The file that the option `suppressions` names. Layer: runtime. Read once at the start; counts are atomic. The tool,
 * which knows names, decides; what the process knows without it are the files that code lies in. */
#ifndef DH_RUNTIME_REPORT_SUPPRESSIONS_H
#define DH_RUNTIME_REPORT_SUPPRESSIONS_H

#include "event/finding_log.h"

/* Tells malformed lines, or that the file cannot be read, in one line each. */
void dh_suppressions_start(void);
/* For the tool: absolute; NULL when nothing is suppressed. */
const char *dh_suppressions_path(void);
/* Without the tool: by module alone. */
bool dh_suppressions_match(const struct dh_log_finding *f, unsigned *index);
/* One more finding that suppression `index` kept quiet; beyond the last: any of those behind. */
void dh_suppressions_count(unsigned index);
/* At the end of the process: how many each kept quiet. */
void dh_suppressions_report(void);

#endif
