#include "finding/names.h"

#include <string.h>

static const char *const verdicts[] = {
#define DH_FINDING_VERDICT(id, name) name,
#include "finding/verdict.def"
#undef DH_FINDING_VERDICT
};

static const char *const healings[] = {
#define DH_FINDING_HEALING(id, name) name,
#include "finding/healing.def"
#undef DH_FINDING_HEALING
};

const char *dh_finding_verdict_name(enum dh_finding_verdict v)
{
    return verdicts[v < DH_VERDICT_COUNT ? v : DH_VERDICT_NONE];
}

const char *dh_finding_healing_name(enum dh_finding_healing h)
{
    return healings[h < DH_HEALING_COUNT ? h : DH_HEALING_NONE];
}

enum dh_finding_kind dh_finding_kind_parse(const char *name)
{
    uint32_t k = 0;
    while (k < DH_FINDING_KIND_COUNT && strcmp(dh_finding_kind_name(k), name) != 0)
        k++;
    return (enum dh_finding_kind)k;
}

enum dh_finding_level dh_finding_level_parse(const char *name)
{
    for (uint32_t l = 0; l < DH_LEVEL_COUNT; l++)
        if (strcmp(dh_finding_level_name(l), name) == 0)
            return (enum dh_finding_level)l;
    return DH_LEVEL_SUSPECTED;
}

/* The number of the name; `none` if it is not among them. */
static unsigned which(const char *const *names, unsigned n, const char *name, unsigned none)
{
    unsigned i = 0;
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i < n ? i : none;
}

enum dh_finding_verdict dh_finding_verdict_parse(const char *name)
{
    return (enum dh_finding_verdict)which(verdicts, DH_VERDICT_COUNT, name, DH_VERDICT_NONE);
}

enum dh_finding_healing dh_finding_healing_parse(const char *name)
{
    return (enum dh_finding_healing)which(healings, DH_HEALING_COUNT, name, DH_HEALING_NONE);
}
