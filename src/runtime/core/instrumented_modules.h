/* Which modules (executable, libraries) are instrumented, and which range of place numbers belongs to which. Layer:
 * runtime. The executable numbers its places from 0; a library that joins gets a range above. Lock-free, any thread. */
#ifndef DH_RUNTIME_CORE_INSTRUMENTED_MODULES_H
#define DH_RUNTIME_CORE_INSTRUMENTED_MODULES_H

#include "event/file_identity.h"

#include <stdbool.h>
#include <stdint.h>

/* Finds what the executable maps read-only. */
void dh_modules_init(void);
/* Is it code of the executable, or of an instrumented library? Only calls from there are the program's own. */
bool dh_module_is_instrumented(uintptr_t code);
/* The file that is mapped at an address, and where. `path` is the dynamic linker's. */
struct dh_module_file {
    const char *path;
    struct dh_file_identity file;
    uintptr_t start, end, bias;
};
bool dh_module_file_at(uintptr_t address, struct dh_module_file *out);
/* NULL, or who numbers the places of a library that joins: its first one, instead of `first`. */
extern uint32_t (*dh_module_numbering)(const struct dh_module_file *file, uint32_t first);
/* The first number of the places of the library that lies there; UINT32_MAX for one that did not join. */
uint32_t dh_module_places(uintptr_t low, uintptr_t high);
/* An address of the module that the place belongs to (0 = the executable); the place as the module numbers it. */
uintptr_t dh_module_of_place(uint32_t *place);

/* What the executable maps read-only: nothing races there. */
extern uintptr_t dh_constant_start, dh_constant_size;
static inline __attribute__((always_inline)) bool dh_module_is_constant(uintptr_t addr)
{
    return addr - dh_constant_start < dh_constant_size;
}

#endif
