/* Suppressions, from the file of the option `suppressions`. Layer: runtime. Read once at the start; counts are atomic.
 * The tool, which has symbol names, decides; without it the process can match modules only. */
#ifndef DH_RUNTIME_REPORT_SUPPRESSIONS_H
#define DH_RUNTIME_REPORT_SUPPRESSIONS_H

#include "event/finding_log.h"

/* Absolute, for the tool; NULL: nothing is suppressed. */
const char *dh_suppressions_path(void);
/* Without the tool: by module alone. */
bool dh_suppressions_match(const struct dh_log_finding *f, unsigned *index);
/* Counts a finding that suppression `index` matched; an index beyond the last counts for the last. */
void dh_suppressions_count(unsigned index);

#endif
