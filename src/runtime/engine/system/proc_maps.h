/* Mappings of the process, from /proc/self/maps. Layer: runtime. Uses no libc. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_PROC_MAPS_H
#define DH_RUNTIME_ENGINE_SYSTEM_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_proc_mapping {
    uintptr_t low, high;
    bool readable, writable, executable, shared;
    bool kernel;                    /* [vvar] and the like */
    uint64_t offset, device, inode; /* of a file; 0 */
    const char *path;               /* until `each` returns */
};

/* Calls `each` for every mapping, lowest first; false: /proc cannot be read, or `each` said so. */
bool dh_proc_maps_each(bool (*each)(const struct dh_proc_mapping *, void *), void *argument);

#endif
