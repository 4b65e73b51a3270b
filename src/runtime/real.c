#include "runtime/real.h"

#include <dlfcn.h>

struct dh_real dh_real;

/* A sanitizer linked beside us offers its own interceptor under this name; going through it keeps both in the
 * know. */
#define DECLARE_NEXT(name, version, result, parameters)                                                                \
    __attribute__((weak, visibility("default"))) extern result ___interceptor_##name parameters;
DH_REAL_FUNCTIONS(DECLARE_NEXT)
#undef DECLARE_NEXT

static void *next_function(const char *name, const char *version)
{
    void *f = dlvsym(RTLD_NEXT, name, version);
    return f ? f : dlsym(RTLD_NEXT, name);
}

void dh_real_init(void)
{
#define FILL(name, version, result, parameters)                                                                        \
    dh_real.name =                                                                                                     \
        ___interceptor_##name ? ___interceptor_##name : (__typeof__(dh_real.name))next_function(#name, version);
    DH_REAL_FUNCTIONS(FILL)
#undef FILL
}
