/* Static facts about critical sections, computed at the link: which variables a section may access, where it may wait,
 * where values flow. Layer: finding. Keyed by places of an event stream. Name lists live as long as the set. */
#ifndef DH_FINDING_SECTION_FACTS_H
#define DH_FINDING_SECTION_FACTS_H

#include "base/vec.h"
#include "event/scope_table.h"
#include "finding/modules.h"

struct dh_section_names {
    const struct dh_scope_row *row;
    const char **reads, **writes;
};

struct dh_section_facts {
    DH_VEC(struct dh_section_names) lists;
};

void dh_section_facts_release(struct dh_section_facts *s);
/* As dh_run_host.may_access, of a module's own place. */
const char *const *dh_section_may_access(struct dh_section_facts *s, const struct dh_known_module *m, uint32_t place,
                                         bool write, size_t *n);
/* The place of the n-th wait that the section that begins at `lock` may reach; UINT32_MAX after the last. */
uint32_t dh_section_may_wait(const struct dh_known_module *m, uint32_t lock, unsigned n, bool *nobody_signals);
/* As dh_run_host.flow; `lock` may be DH_NO_PLACE. */
int dh_section_value_flow(const struct dh_known_module *m, uint32_t read, uint32_t lock);

#endif
