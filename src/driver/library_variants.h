/* Variants of the instrumented libraries that a program loads (driver/libraries.h), and how the dynamic linker finds
 * them. Layer: driver. */
#ifndef DH_DRIVER_LIBRARY_VARIANTS_H
#define DH_DRIVER_LIBRARY_VARIANTS_H

#include "base/vec.h"
#include "host/err.h"

struct dh_library_variants {
    /* Holds them under the names that the dynamic linker asks for, to be put first in LD_LIBRARY_PATH, and under
     * DEVICE-INODE of the library, for dlopen by path. NULL when none is needed. */
    char *folder;
    DH_VEC(char *) files; /* ends with NULL; a library that is that variant itself is among them */
};

bool dh_library_variants_derive(struct dh_library_variants *v, const char *program, const char *plan,
                                struct dh_err *err);
void dh_library_variants_release(struct dh_library_variants *v);
/* Only the folder, owned by the caller. */
bool dh_variant_derive_libraries(const char *program, const char *plan, char **folder, struct dh_err *err);

#endif
