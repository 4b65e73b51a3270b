#include "search/strategies.h"

const struct dh_strategy *const dh_strategies[] = {
#define DH_STRATEGY(id) &dh_strategy_##id,
#include "search/strategies.def"
#undef DH_STRATEGY
    NULL,
};

static bool equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

const struct dh_strategy *dh_strategy_by_name(const char *name)
{
    for (const struct dh_strategy *const *s = dh_strategies; *s; s++)
        if (equal((*s)->name, name))
            return *s;
    return NULL;
}
