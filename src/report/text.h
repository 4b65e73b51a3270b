/* A finding as text for people: both accesses, locks, values, the object, the threads, one SUMMARY line. Layer: report.
 * Places are FILE:LINE:COLUMN, for editors to jump to; below the working directory as seen from there. */
#ifndef DH_REPORT_TEXT_H
#define DH_REPORT_TEXT_H

#include "base/str.h"
#include "finding/finding.h"

/* As the program prints it when it happens. */
void dh_text_finding(struct dh_str *out, const struct dh_finding *f);
/* "data race on counter (int)". */
void dh_text_title(struct dh_str *out, const struct dh_finding *f);
/* "bank.c:12:5 in deposit" of an access; "?" when nothing is known. */
void dh_text_place(struct dh_str *out, const struct dh_finding_access *a);
/* The path as seen from the working directory; borrowed. */
const char *dh_text_path(const char *path);

#endif
