/* Objects of the parts of variants, kept under the hash of the bitcode that they are generated from: a variant that was
 * interrupted goes on where it was, and parts that do not differ serve several plans. Layer: driver. */
#ifndef DH_DRIVER_PART_CACHE_H
#define DH_DRIVER_PART_CACHE_H

#include "host/err.h"

#include <stdbool.h>
#include <stddef.h>

struct dh_part_source {
    const void *bitcode;
    size_t n;
    const char *how; /* options of code generation that the bitcode does not tell */
    bool (*generate)(void *arg, const char *object, struct dh_err *err); /* writes the object */
    void *arg;
};

/* Makes `object` a link to the kept one, which is generated unless there is one. */
bool dh_part_cache_get(const struct dh_part_source *s, const char *object, struct dh_err *err);

#endif
