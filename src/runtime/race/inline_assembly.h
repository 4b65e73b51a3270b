/* Inline assembly that was executed: its accesses and synchronisation have no hooks, so results are incomplete there.
 * Layer: runtime. Any thread, signal handlers. The first DH_ASSEMBLY_MAX different sites are kept. */
#ifndef DH_RUNTIME_RACE_INLINE_ASSEMBLY_H
#define DH_RUNTIME_RACE_INLINE_ASSEMBLY_H

#include <stdint.h>

#define DH_ASSEMBLY_MAX 64

struct dh_assembly {
    uint32_t place;
    uintptr_t code; /* return address of the hook's call: says which module the place belongs to */
};

/* How many different sites were executed, at most DH_ASSEMBLY_MAX. */
uint32_t dh_assembly_count(void);
/* i < dh_assembly_count() */
struct dh_assembly dh_assembly_get(uint32_t i);
/* At the end of the process: one line, if there are findings or the user asked for verbosity. */
void dh_assembly_report(void);

#endif
