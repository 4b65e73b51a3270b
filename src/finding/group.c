#include "finding/group.h"

#include "base/hash.h"

#include <string.h>

static uint64_t hash_text(const char *text)
{
    return dh_hash_bytes(text, strlen(text));
}

static const char *function_of(const struct dh_finding_access *a)
{
    return a->stack.frames.n ? a->stack.frames.at[0].function : "";
}

uint64_t dh_finding_group(const struct dh_finding *f)
{
    if (f->kind != DH_FINDING_RACE || f->accesses.n != 2 || !f->variable[0])
        return 0;
    const char *one = function_of(&f->accesses.at[0]), *other = function_of(&f->accesses.at[1]);
    if (!*one || !*other)
        return 0;
    uint64_t names = hash_text(one) + hash_text(other); /* in either order */
    uint64_t group = dh_hash_combine(dh_hash_combine(hash_text(f->variable), hash_text(f->key)), names);
    return group ? group : 1;
}
