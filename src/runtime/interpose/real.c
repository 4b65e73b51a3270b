#include "runtime/interpose/real.h"

#include "runtime/interpose/glib/glib.h"
#include "runtime/interpose/memory/containers.h"
#include "runtime/interpose/memory/new.h"

struct dh_real dh_real;
bool dh_real_known;

/* A sanitizer linked beside us offers its own interceptor under this name; going through it keeps both in the
 * know. */
#define DH_REAL(name, version)                                                                                         \
    __attribute__((weak, visibility("default"))) extern __typeof__(name) ___interceptor_##name;
#include "runtime/interpose/real_list.def"
#undef DH_REAL

static void *next_function(const char *name, const char *version)
{
    void *f = dlvsym(RTLD_NEXT, name, version);
    return f ? f : dlsym(RTLD_NEXT, name);
}

void dh_real_init(void)
{
    static bool begun;
    bool missing = false;
    if (begun)
        return;
    begun = true;
#define DH_REAL(name, version)                                                                                         \
    dh_real.name =                                                                                                     \
        ___interceptor_##name ? ___interceptor_##name : (__typeof__(dh_real.name))next_function(#name, version);       \
    missing |= !dh_real.name;
#include "runtime/interpose/real_list.def"
#undef DH_REAL
    dh_real_new_init();
    dh_real_containers_init();
    dh_glib_init();
    /* The program's first dlerror is not to report ours. */
    if (missing)
        dlerror();
    dh_real_known = true;
}

void *dh_real_of_caller(const char *name, const uintptr_t *call_slot)
{
    Dl_info info;
    dh_real_init();
    void *library = dladdr((void *)*call_slot, &info) ? dh_real.dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, name) : NULL;
    if (library)
        dh_real.dlclose(library);
    if (!found)
        abort(); /* the linker has found it */
    return found;
}
