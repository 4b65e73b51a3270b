/* Why an argument that would rule out a race of two accesses does not hold for them, in plain words. Layer: analysis.
 */
#ifndef DH_ANALYSIS_EXPLAIN_H
#define DH_ANALYSIS_EXPLAIN_H

#include "analysis/races.h"

/* `one` and `other` are events. The caller frees the text. */
char *dh_explain_argument(const struct dh_symex *w, enum dh_argument argument, uint32_t one, uint32_t other);

#endif
