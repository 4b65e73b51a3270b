#include "host/resources.h"

#include "base/str.h"
#include "host/file.h"
#include "host/process.h"

#include <stdlib.h>
#include <string.h>

char *dh_resource_self(struct dh_err *err)
{
    char *self = dh_path_real("/proc/self/exe");
    if (!self)
        dh_err_errno(err, "cannot find my own executable (/proc/self/exe)");
    return self;
}

char *dh_resource_find(const char *name, struct dh_err *err)
{
    static const char *const places[] = {"../lib/deadheat", "lib/deadheat"};
    char *self = dh_resource_self(err);
    if (!self)
        return NULL;
    int folder = (int)(dh_basename(self) - self);
    char *found = NULL;
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; i++) {
        char *path = dh_format("%.*s%s/%s", folder, self, places[i], name);
        if (dh_file_exists(path))
            found = path;
        else
            free(path);
    }
    if (!found)
        dh_err_set(err, "%s is missing: looked in lib/deadheat beside %s and under its prefix; reinstall deadheat",
                   name, self);
    free(self);
    return found;
}

static char *find_tool(const char *variable, const char *name, const char *package, struct dh_err *err)
{
    const char *set = getenv(variable);
    char *path = dh_program_find(set && *set ? set : name);
    if (!path)
        dh_err_set(err, "%s not found; install the package %s or set %s", set && *set ? set : name, package, variable);
    return path;
}

char *dh_tool_clang(struct dh_err *err)
{
    return find_tool("DEADHEAT_CLANG", "clang-19", "clang-19", err);
}

char *dh_tool_clangxx(struct dh_err *err)
{
    return find_tool("DEADHEAT_CLANGXX", "clang++-19", "clang-19", err);
}

char *dh_tool_lld(struct dh_err *err)
{
    return find_tool("DEADHEAT_LLD", "ld.lld-19", "lld-19", err);
}
