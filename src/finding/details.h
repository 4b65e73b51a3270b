/* Everything of a finding as JSON text, for the store; not the form that users read. Layer: finding (jansson). */
#ifndef DH_FINDING_DETAILS_H
#define DH_FINDING_DETAILS_H

#include "finding/finding.h"

/* Owned by the caller. What the store keeps in columns (verdict, runs, times) is not in it; the level is that of
 * this evidence. */
char *dh_details_write(const struct dh_finding *f);
/* `out` is initialised here and released by the caller; false when the text is not what we wrote. */
bool dh_details_read(const char *text, struct dh_finding *out);

#endif
