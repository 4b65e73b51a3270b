/* Findings for programs: {"version":1,"findings":[...]}. Layer: report (jansson). */
#ifndef DH_REPORT_JSON_H
#define DH_REPORT_JSON_H

#include "base/str.h"
#include "finding/finding.h"

/* One element of the list, on one line. */
void dh_report_json(struct dh_str *out, const struct dh_finding *f);

#endif
