#include "host/libtool_wrapper.h"

#include "base/str.h"
#include "host/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 16, BEGINNING = 512 };

/* Scripts of libtool are some 7 KB. */
static char *read_script(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = f ? calloc(1, LONGEST + 1) : NULL;
    size_t n = text ? fread(text, 1, LONGEST, f) : 0;
    if (f)
        fclose(f);
    char *beginning = dh_format("%.*s", BEGINNING, n ? text : "");
    bool ours = dh_starts_with(beginning, "#!") && strstr(beginning, "temporary wrapper script for") &&
                strstr(beginning, "libtool");
    free(beginning);
    if (ours)
        return text;
    free(text);
    return NULL;
}

/* What stands between `before` and `after` on one line, the first time. */
static char *between(const char *text, const char *before, const char *after)
{
    for (const char *at = text; (at = strstr(at, before)); at++) {
        const char *from = at + strlen(before), *end = strstr(from, after);
        if (end && !memchr(from, '\n', (size_t)(end - from)))
            return dh_format("%.*s", (int)(end - from), from);
    }
    return NULL;
}

static void add_library_path(char *folders)
{
    const char *old = getenv("LD_LIBRARY_PATH");
    for (size_t n = strlen(folders); n && folders[n - 1] == ':'; n--)
        folders[n - 1] = 0;
    if (!*folders || (old && strstr(old, folders))) /* it may stand behind variants of its libraries */
        return;
    char *path = old && *old ? dh_format("%s:%s", folders, old) : dh_strdup(folders);
    setenv("LD_LIBRARY_PATH", path, 1);
    free(path);
}

char *dh_libtool_program(const char *path)
{
    char *text = read_script(path);
    if (!text)
        return NULL;
    char *real = dh_path_real(path), *name = between(text, "\n  program='", "'"),
         *folder = between(text, "\n  progdir=\"$thisdir/", "\""),
         *folders = between(text, "    LD_LIBRARY_PATH=\"", "$LD_LIBRARY_PATH\"");
    char *program =
        real && name && folder ? dh_format("%.*s%s/%s", (int)(dh_basename(real) - real), real, folder, name) : NULL;
    if (program && !dh_file_is_regular(program)) {
        free(program);
        program = NULL;
    }
    if (program && folders)
        add_library_path(folders);
    free(real);
    free(name);
    free(folder);
    free(folders);
    free(text);
    return program;
}
