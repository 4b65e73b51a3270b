#include "finding/group.h"

#include "base/hash.h"

#include <string.h>

static uint64_t hash_text(const char *text)
{
    return dh_hash_bytes(text, strlen(text));
}

static const struct dh_finding_frame *innermost(const struct dh_finding_access *a)
{
    return a->stack.frames.n && a->stack.frames.at[0].function[0] ? &a->stack.frames.at[0] : NULL;
}

/* The user's call of a header or library of the system that makes the access; NULL: none does, or it has no caller. */
static const struct dh_finding_frame *call_of(const struct dh_finding_access *a)
{
    for (size_t i = 0; i < a->stack.frames.n; i++)
        if (!dh_finding_is_foreign(&a->stack.frames.at[i]))
            return i && a->stack.frames.at[i].file[0] ? &a->stack.frames.at[i] : NULL;
    return NULL;
}

static uint64_t hash_call(const struct dh_finding_frame *f)
{
    return dh_hash_combine(hash_text(f->function), dh_hash_combine(hash_text(f->file), f->line));
}

bool dh_finding_is_between_calls(const struct dh_finding *f)
{
    return (f->kind == DH_FINDING_RACE || f->kind == DH_FINDING_USE_AFTER_FREE) && f->accesses.n == 2 &&
           call_of(&f->accesses.at[0]) && call_of(&f->accesses.at[1]);
}

uint64_t dh_finding_group(const struct dh_finding *f)
{
    uint64_t group = 0;
    if (dh_finding_is_between_calls(f)) {
        uint64_t calls = hash_call(call_of(&f->accesses.at[0])) + hash_call(call_of(&f->accesses.at[1]));
        group = dh_hash_combine(dh_hash_combine(f->kind, hash_text(f->key)), calls);
    } else if (f->kind == DH_FINDING_RACE && f->accesses.n == 2 && f->variable[0] && innermost(&f->accesses.at[0]) &&
               innermost(&f->accesses.at[1])) {
        uint64_t names = 0; /* in either order */
        for (size_t i = 0; i < 2; i++)
            names += hash_text(innermost(&f->accesses.at[i])->function);
        group = dh_hash_combine(dh_hash_combine(hash_text(f->variable), hash_text(f->key)), names);
    } else
        return 0;
    return group ? group : 1;
}
