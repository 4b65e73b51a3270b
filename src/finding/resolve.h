/* Resolves a record of the findings log into a finding with names and source locations. Layer: finding. Reads container
 * and symbols of the record's modules and keeps them open. Frames of a module that cannot be read, or was built again
 * since, stay FILE+OFFSET; nothing fails. */
#ifndef DH_FINDING_RESOLVE_H
#define DH_FINDING_RESOLVE_H

#include "event/finding_log.h"
#include "finding/finding.h"

struct dh_finding_resolver;
struct dh_finding_resolver *dh_resolver_new(void);
void dh_resolver_free(struct dh_finding_resolver *r);
/* Its modules; borrowed. */
struct dh_modules *dh_resolver_modules(struct dh_finding_resolver *r);
/* `out` is initialised here, fingerprint included, and released by the caller. `p` may be NULL. */
void dh_resolve(struct dh_finding_resolver *r, const struct dh_log_process *p, const struct dh_log_finding *from,
                struct dh_finding *out);

#endif
