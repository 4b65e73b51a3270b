/* Matches findings against a suppression file (event/suppression.h). Layer: finding. The list owns the file's text. */
#ifndef DH_FINDING_SUPPRESS_H
#define DH_FINDING_SUPPRESS_H

#include "base/vec.h"
#include "event/suppression.h"
#include "finding/finding.h"
#include "host/file.h"

struct dh_suppressions {
    struct dh_bytes text;
    DH_VEC(struct dh_suppression) rows;
};

/* Whether the file can be read; lines that are malformed are left out, and `err` gets the first of them as
 * FILE:LINE: what (err->text stays NULL when all are good). */
bool dh_suppressions_read(struct dh_suppressions *s, const char *path, struct dh_err *err);
void dh_suppressions_release(struct dh_suppressions *s);
/* The first that matches, or NULL. */
const struct dh_suppression *dh_suppressions_find(const struct dh_suppressions *s, const struct dh_finding *f);

#endif
