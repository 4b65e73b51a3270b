#include "analysis/library_internals.h"

#include "base/str.h"

#include <string.h>

enum { DEEPEST = 24 };

static const char *const keepers[] = {
    "std::__future_base::", "std::__basic_future<",    "std::future<",
    "std::shared_future<",  "std::promise<",           "std::packaged_task<",
    "std::async<",          "std::_Sp_counted_",       "std::__shared_count<",
    "std::__tree_barrier",  "std::__atomic_semaphore",
};

static bool is_library(const char *name)
{
    return dh_starts_with(name, "std::") || dh_starts_with(name, "__gnu_cxx::");
}

/* Up the call path from the access, as long as it is library code. */
bool dh_event_in_library_internals(const struct dh_symex *w, const struct dh_symex_event *e)
{
    const struct dh_program *p = w->program;
    uint32_t c = e->context;
    const char *at = dh_program_string(p, p->places.at[p->insts.at[e->inst].place].function);
    if (*at && !is_library(at))
        return false;
    for (unsigned depth = 0; c != DH_NONE && depth < DEEPEST; depth++, c = w->contexts.at[c].caller) {
        const char *name = dh_program_string(p, p->functions.at[w->contexts.at[c].function].source);
        if (!is_library(name))
            return false;
        for (size_t k = 0; k < sizeof keepers / sizeof *keepers; k++)
            if (dh_starts_with(name, keepers[k]))
                return true;
    }
    return false;
}
