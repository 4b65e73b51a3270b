/* What a found end is as a finding, and whether two ends are the same. Layer: prove. */
#ifndef DH_PROVE_ENDING_H
#define DH_PROVE_ENDING_H

#include "event/engine.h"
#include "finding/finding.h"
#include "finding/resolve.h"

/* Whose ends they are. */
struct dh_ending_of {
    struct dh_finding_resolver *resolver;
    const char *variant; /* file that ran */
    const char *program; /* that it stands for */
    uint8_t build[16];
    char *libraries[DH_ENGINE_LIBRARIES]; /* instrumented ones, as far as known, in the order of their places */
    uint32_t n_libraries;
};

/* `out` is initialised here, fingerprint included, at level observed; released by the caller. */
void dh_ending_finding(const struct dh_ending_of *of, const struct dh_engine_found *found, struct dh_finding *out);
/* The same kind of end of the same threads at the same places. */
bool dh_ending_same(const struct dh_engine_found *a, const struct dh_engine_found *b);

#endif
