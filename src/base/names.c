#include "base/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t slot_of(char **at, size_t cap, const char *name)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */
    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211u;
    size_t i = h & (cap - 1);
    while (at[i] && strcmp(at[i], name) != 0)
        i = (i + 1) & (cap - 1);
    return i;
}

static void grow(struct dh_names *s)
{
    size_t cap = s->cap ? s->cap * 2 : 64;
    char **at = calloc(cap, sizeof *at);
    if (!at)
        abort();
    for (size_t i = 0; i < s->cap; i++)
        if (s->at[i])
            at[slot_of(at, cap, s->at[i])] = s->at[i];
    free(s->at);
    s->at = at;
    s->cap = cap;
}

void dh_names_add(struct dh_names *s, const char *name)
{
    if (s->n * 2 >= s->cap)
        grow(s);
    size_t i = slot_of(s->at, s->cap, name);
    if (s->at[i])
        return;
    s->at[i] = strdup(name);
    if (!s->at[i])
        abort();
    s->n++;
}

bool dh_names_has(const struct dh_names *s, const char *name)
{
    return s->cap && s->at[slot_of(s->at, s->cap, name)];
}

void dh_names_release(struct dh_names *s)
{
    for (size_t i = 0; i < s->cap; i++)
        free(s->at[i]);
    free(s->at);
    *s = (struct dh_names){0};
}
