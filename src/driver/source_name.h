/* -ffile-prefix-map for the one path that clang does not map: the source file name in embedded bitcode. Layer: driver
 * (LLVM). */
#ifndef DH_DRIVER_SOURCE_NAME_H
#define DH_DRIVER_SOURCE_NAME_H

#include "host/err.h"
#include "host/process.h"

/* The path as the last fitting -ffile-prefix-map=OLD=NEW or -fdebug-prefix-map of `words` has it; NULL when none fits.
 * Owned by the caller. */
char *dh_prefix_map_path(const struct dh_argv *words, const char *path);
/* Renames the module in the object's bitcode section, which moves to the end of the file; the old bytes are zeroed. */
bool dh_object_rename_source(const char *object, const char *source, struct dh_err *err);

#endif
