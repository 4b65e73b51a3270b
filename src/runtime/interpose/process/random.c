/* Random numbers: the kernel's, unless the engine runs the program and it has no thread yet. */
#include "runtime/interpose/interpose.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static ssize_t dh_interposed_getrandom(void *out, size_t n, unsigned flags)
{
    dh_interpose_ready();
    if (!dh_engine_draws_early())
        return dh_real.getrandom(out, n, flags);
    dh_engine_early_random(out, n);
    return (ssize_t)n;
}
DH_INTERPOSE(getrandom);

static int dh_interposed_getentropy(void *out, size_t n)
{
    dh_interpose_ready();
    if (!dh_engine_draws_early() || n > 256)
        return dh_real.getentropy(out, n);
    dh_engine_early_random(out, n);
    return 0;
}
DH_INTERPOSE(getentropy);

#define OPENS(name)                                                                                                    \
    static FILE *dh_interposed_##name(const char *path, const char *mode)                                              \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        int fd = dh_engine_open_early_random(path, 0);                                                                 \
        return fd >= 0 ? fdopen(fd, mode) : dh_real.name(path, mode);                                                  \
    }                                                                                                                  \
    DH_INTERPOSE(name);

OPENS(fopen)
OPENS(fopen64)
