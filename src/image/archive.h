/* Reads ar archives, GNU and thin. Layer: image. Input is untrusted; members point into `bytes`.
 * LLVM-C does not iterate members; libelf does not open thin archives. */
#ifndef DH_IMAGE_ARCHIVE_H
#define DH_IMAGE_ARCHIVE_H

#include "base/vec.h"
#include "host/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_archive_member {
    char *name;           /* as the linker's trace prints it; owned */
    const uint8_t *bytes; /* NULL in a thin archive: read the file `path` */
    size_t n;
    char *path; /* thin: where the member's file is; owned; else NULL */
};

struct dh_archive {
    DH_VEC(struct dh_archive_member) members;
    bool thin;
};

bool dh_is_archive(const void *bytes, size_t n);
/* `path` names the archive for messages and resolves the files of a thin one. */
bool dh_archive_read(struct dh_archive *a, const char *path, const void *bytes, size_t n, struct dh_err *err);
void dh_archive_release(struct dh_archive *a);

#endif
