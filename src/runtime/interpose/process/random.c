/* Random numbers: the kernel's, unless the engine runs the program and it has no thread yet. */
#include "runtime/interpose/interpose.h"

#include <stdio.h>
#include <sys/random.h>

static ssize_t dh_interposed_getrandom(void *out, size_t n, unsigned flags)
{
    dh_interpose_ready();
    ssize_t got = dh_real.getrandom(out, n, flags);
    if (got > 0 && dh_engine_draws_early())
        dh_engine_early_random(out, (size_t)got);
    return got;
}
DH_INTERPOSE(getrandom);

static int dh_interposed_getentropy(void *out, size_t n)
{
    dh_interpose_ready();
    int result = dh_real.getentropy(out, n);
    if (!result && dh_engine_draws_early())
        dh_engine_early_random(out, n);
    return result;
}
DH_INTERPOSE(getentropy);

#define OPENS(name)                                                                                                    \
    static FILE *dh_interposed_##name(const char *path, const char *mode)                                              \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        FILE *f = dh_real.name(path, mode);                                                                            \
        if (f)                                                                                                         \
            dh_engine_opened_early(fileno(f), path);                                                                   \
        return f;                                                                                                      \
    }                                                                                                                  \
    DH_INTERPOSE(name);

OPENS(fopen)
OPENS(fopen64)
