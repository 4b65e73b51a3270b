/* Names of C++ for tables: long template arguments are left out, `Registry<..>::add`. Layer: report.
 * Only for people: identity, sorting and machine-readable forms use the whole name. */
#ifndef DH_REPORT_SHORT_NAME_H
#define DH_REPORT_SHORT_NAME_H

#include <stddef.h>

/* The name as it is if it is short enough; else without what stands in its longer `<...>`. The caller frees it. */
char *dh_short_name(const char *name);

#endif
