/* Which file a code address belongs to. Layer: runtime. Known modules are remembered after dlclose, so that
 * stacks made earlier still resolve. Asks the dynamic linker, which takes its lock: for interposed functions and
 * the end of the process, never for hooks. */
#ifndef DH_RUNTIME_CORE_MODULES_H
#define DH_RUNTIME_CORE_MODULES_H

#include <stdint.h>

struct dh_module {
    uintptr_t start, end;
    uintptr_t base;   /* what to subtract for an address as the file has it */
    const char *path; /* absolute where that is known */
};

/* Makes sure that the modules of this context's frames are known. */
void dh_modules_note(uint32_t context);
/* NULL when the address is in no known module. */
const struct dh_module *dh_modules_find(uintptr_t address);

#endif
