/* What the link step knows of critical sections, asked by places of a stream. Layer: finding. Names are made once and
 * live as long as the set. */
#ifndef DH_FINDING_SCOPES_H
#define DH_FINDING_SCOPES_H

#include "base/vec.h"
#include "event/scope_table.h"
#include "finding/modules.h"

struct dh_scope_list {
    const struct dh_scope_row *row;
    const char **reads, **writes;
};

struct dh_scope_names {
    DH_VEC(struct dh_scope_list) lists;
};

void dh_scope_names_release(struct dh_scope_names *s);
/* As dh_run_host.may_access, of a module's own place. */
const char *const *dh_scopes_may_access(struct dh_scope_names *s, const struct dh_known_module *m, uint32_t place,
                                        bool write, size_t *n);
/* The place of the n-th wait that the section may come to that is begun at a place; UINT32_MAX behind the last. */
uint32_t dh_scopes_may_wait(const struct dh_known_module *m, uint32_t lock, unsigned n, bool *nobody_signals);
/* As dh_run_host.flow; `lock` may be DH_NO_PLACE. */
int dh_scopes_flow(const struct dh_known_module *m, uint32_t read, uint32_t lock);

#endif
