/* A set of strings. Layer: base. Owns copies; walked in the order of insertion, see map.h. Zero-initialise, release in
 * the end. Hosted code only (aborts when memory is gone). */
#ifndef DH_BASE_NAMES_H
#define DH_BASE_NAMES_H

#include "base/map.h"

struct dh_names {
    struct dh_string_map of;
};

static inline void dh_names_add(struct dh_names *s, const char *name)
{
    dh_string_map_number(&s->of, name);
}

static inline bool dh_names_has(const struct dh_names *s, const char *name)
{
    return dh_string_map_seek(&s->of, name) != DH_ABSENT;
}

static inline void dh_names_release(struct dh_names *s)
{
    dh_string_map_release(&s->of);
}

#endif
