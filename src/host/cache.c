#include "host/cache.h"

#include "base/str.h"
#include "base/vec.h"
#include "host/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CAP_MEGABYTES = 2048 };

static char *cache_path(void)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (xdg && xdg[0] == '/')
        return dh_format("%s/deadheat/v1", xdg);
    if (home && home[0] == '/')
        return dh_format("%s/.cache/deadheat/v1", home);
    return dh_format("/tmp/deadheat-%d/v1", (int)getuid());
}

char *dh_cache_folder(struct dh_err *err)
{
    char *path = cache_path();
    struct stat s;
    bool ok =
        dh_mkdir_parents(path, 0700, err) || dh_err_while(err, "making the cache; XDG_CACHE_HOME names another place");
    if (ok && (stat(path, &s) != 0 || s.st_uid != getuid()))
        ok = dh_err_set(err, "the cache %s belongs to another user; set XDG_CACHE_HOME", path);
    if (ok)
        return path;
    free(path);
    return NULL;
}

struct entry {
    char *path;
    time_t used;
    long long bytes;
};

static int older_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

static long long folder_bytes(const char *path)
{
    long long total = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char *file = dh_format("%s/%s", path, e->d_name);
        struct stat s;
        if (lstat(file, &s) == 0 && S_ISREG(s.st_mode))
            total += s.st_size;
        free(file);
    }
    if (d)
        closedir(d);
    return total;
}

/* NAME.new-PID of a process that was killed. */
static bool is_abandoned(const char *name)
{
    const char *mark = strstr(name, ".new-");
    long pid = mark ? strtol(mark + strlen(".new-"), NULL, 10) : 0;
    return pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

void dh_cache_trim(const char *folder, const char *keep)
{
    DH_VEC(struct entry) all = {0};
    long long total = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct entry n = {.path = dh_format("%s/%s", folder, e->d_name)};
        struct stat s;
        if (is_abandoned(e->d_name))
            dh_remove_tree(n.path);
        if (e->d_name[0] == '.' || stat(n.path, &s) != 0) {
            free(n.path);
            continue;
        }
        n.used = s.st_mtime;
        n.bytes = folder_bytes(n.path);
        total += n.bytes;
        dh_vec_push(&all, n);
    }
    if (d)
        closedir(d);
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, older_first);
    for (size_t i = 0; i < all.n; i++) {
        if (total > CAP_MEGABYTES * 1048576LL && strcmp(all.at[i].path, keep) != 0) {
            dh_remove_tree(all.at[i].path);
            total -= all.at[i].bytes;
        }
        free(all.at[i].path);
    }
    dh_vec_release(&all);
}
