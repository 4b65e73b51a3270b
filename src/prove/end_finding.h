/* Ends of schedules that the engine found: as findings, compared, and copied out of the control region. Layer: prove.
 */
#ifndef DH_PROVE_END_FINDING_H
#define DH_PROVE_END_FINDING_H

#include "event/engine.h"
#include "finding/finding.h"
#include "finding/resolve.h"

/* The program of which they are ends. */
struct dh_end_context {
    struct dh_finding_resolver *resolver;
    const char *variant; /* file that ran */
    const char *program; /* that it stands for */
    uint8_t build[16];
    struct dh_engine_library *libraries; /* instrumented ones, as far as known; room for DH_ENGINE_LIBRARIES */
    uint32_t n_libraries;
};

/* Initialises `out`, fingerprint included, at level observed; released by the caller. */
void dh_end_finding(const struct dh_end_context *of, const struct dh_engine_found *found, struct dh_finding *out);
/* The same kind of end of the same threads at the same places. */
bool dh_end_is_same(const struct dh_engine_found *a, const struct dh_engine_found *b);

/* A checked copy of a record of the control region, into which the program can write; of at most `room` bytes. Owned by
 * the caller; NULL: it is broken. */
struct dh_engine_found *dh_found_end_copy(const struct dh_engine_found *f, uint64_t room);

#endif
