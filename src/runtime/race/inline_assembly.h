/* Inline assembly that ran and may have touched memory or synchronised in ways no hook told of. Layer: runtime.
 * Any thread, signal handlers. The first DH_ASSEMBLY_MAX different ones are remembered. */
#ifndef DH_RUNTIME_RACE_INLINE_ASSEMBLY_H
#define DH_RUNTIME_RACE_INLINE_ASSEMBLY_H

#include <stdint.h>

#define DH_ASSEMBLY_MAX 64

struct dh_assembly {
    uint32_t place;
    uintptr_t code; /* behind the hook's call: says which module the place belongs to */
};

/* How many different ones ran; more than are kept are not told apart. */
uint32_t dh_assembly_count(void);
/* i < dh_assembly_count() */
struct dh_assembly dh_assembly_get(uint32_t i);
/* At the end of the process: a line for whoever reads the findings, or asked for more words. */
void dh_assembly_report(void);

#endif
