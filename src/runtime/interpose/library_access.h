/* What a library function accesses on behalf of its caller. Layer: runtime. Only calls out of instrumented code count:
 * those of other libraries are ordered by what is not observed. */
#ifndef DH_RUNTIME_INTERPOSE_LIBRARY_ACCESS_H
#define DH_RUNTIME_INTERPOSE_LIBRARY_ACCESS_H

#include "runtime/core/instrumented_modules.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/sync/sync.h"

/* Would the two below have an effect? */
static inline bool dh_access_wanted(const uintptr_t *call_slot)
{
    return (dh_library_access_wanted() || dh_engine_on) && dh_module_is_instrumented(*call_slot);
}
void dh_access_read(const void *at, size_t size, const uintptr_t *call_slot);
void dh_access_write(void *at, size_t size, const uintptr_t *call_slot);

#endif
