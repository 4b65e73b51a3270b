#include "host/demangle.h"

#include "base/str.h"

#include <dlfcn.h>
#include <stdlib.h>

/* LLVM brings libstdc++ into the process; its demangler has a C interface. */
char *dh_demangle(const char *name)
{
    typedef char *demangler(const char *, char *, size_t *, int *);
    demangler *demangle = (demangler *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    int status = -1;
    char *text = demangle && dh_starts_with(name, "_Z") ? demangle(name, NULL, NULL, &status) : NULL;
    return text ? text : dh_strdup(name);
}
