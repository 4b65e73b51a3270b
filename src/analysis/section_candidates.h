/* Candidates of atomic sections, as text for a section file. Layer: analysis. From suspected atomicity violations
 * (load-and-store, test-and-use) and from accesses that follow each other (001 §2, AI invariants). */
#ifndef DH_ANALYSIS_SECTION_CANDIDATES_H
#define DH_ANALYSIS_SECTION_CANDIDATES_H

#include "analysis/method_consistency.h"
#include "base/str.h"

/* Needs a site table. Answers how many there are. */
unsigned dh_section_candidates_print(struct dh_str *out, const struct dh_symex *symex,
                                     const struct dh_inconsistencies *c);

#endif
