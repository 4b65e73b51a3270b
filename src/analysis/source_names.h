/* What the source calls variables, locks and threads. Layer: analysis. From the site table where an instruction has a
 * row in it, else from the instruction's place. Where unification lost precision or memory holds now one type and now
 * another, declared names tell objects apart: a heuristic, never part of a proof. */
#ifndef DH_ANALYSIS_SOURCE_NAMES_H
#define DH_ANALYSIS_SOURCE_NAMES_H

#include "analysis/symex.h"
#include "event/site.h"

/* Row of an instruction in the site table, NULL: none. */
const struct dh_site *dh_source_site(const struct dh_symex *w, uint32_t inst);
/* Whether two instructions may access one variable, as declared. Needs a site table. */
bool dh_source_may_be_same(const struct dh_symex *w, uint32_t one, uint32_t other);
/* Whether they access different fields of structures. */
bool dh_source_fields_differ(const struct dh_symex *w, uint32_t one, uint32_t other);
/* The same number for the same field or variable, 0: no name. */
uint32_t dh_source_field_id(const struct dh_symex *w, uint32_t inst);
/* The same with the type that it is a field of. */
uint32_t dh_source_variable_id(const struct dh_symex *w, uint32_t inst);
/* A global that the node stands for and where in the node it begins, NULL: none. */
const struct dh_global *dh_source_global(const struct dh_symex *w, uint32_t node, int32_t *offset);
/* "vault.lock": the caller frees it. */
char *dh_source_lock(const struct dh_symex *w, const struct dh_symex_lock *h);
const char *dh_source_function(const struct dh_program *p, uint32_t function);
/* The function that it begins with. */
const char *dh_source_thread(const struct dh_symex *w, uint32_t thread);

#endif
