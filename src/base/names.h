/* A set of strings. Layer: base. Owns copies. Hosted code only (aborts when memory is gone). */
#ifndef DH_BASE_NAMES_H
#define DH_BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct dh_names {
    char **at; /* open addressing; NULL = free */
    size_t n, cap;
};

void dh_names_add(struct dh_names *s, const char *name);
bool dh_names_has(const struct dh_names *s, const char *name);
void dh_names_release(struct dh_names *s);

#endif
