#include "host/private_files.h"

#include "base/str.h"
#include "base/vec.h"
#include "host/cache.h"
#include "host/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

typedef DH_VEC(char *) folder_vec;

/* What stays as it is: where it was before anything was covered. */
struct kept_place {
    char *path;
    int at;
};
typedef DH_VEC(struct kept_place) kept_vec;

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

/* ---- which folders ---- */

/* Once, not below another; an overlay cannot name some characters. */
static void add_folder(folder_vec *all, const char *path)
{
    char *real = dh_path_real(path);
    struct stat s;
    bool fits = real && real[1] && !strpbrk(real, ",:\\") && stat(real, &s) == 0 && S_ISDIR(s.st_mode);
    for (size_t i = 0; fits && i < all->n; i++)
        fits = !is_below(real, all->at[i]);
    for (size_t i = all->n; fits && i-- > 0;)
        if (is_below(all->at[i], real)) {
            free(all->at[i]);
            all->at[i] = all->at[--all->n];
        }
    if (fits)
        dh_vec_push(all, real);
    else
        free(real);
}

/* A file, an option with one, or one that is to be made. */
static void add_folder_of(folder_vec *all, const char *word)
{
    const char *value = word[0] == '-' && strchr(word, '=') ? strchr(word, '=') + 1 : word;
    const char *slash = strrchr(value, '/');
    add_folder(all, value);
    if (!slash || slash == value)
        return;
    char *folder = dh_strndup(value, (size_t)(slash - value));
    add_folder(all, folder);
    free(folder);
}

static folder_vec folders_of(char *const *argv)
{
    static const char *const usual[] = {".", "/tmp", "/var/tmp", "/dev/shm"};
    folder_vec all = {0};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        add_folder(&all, usual[i]);
    if (getenv("TMPDIR"))
        add_folder(&all, getenv("TMPDIR"));
    if (getenv("HOME"))
        add_folder(&all, getenv("HOME"));
    for (char *const *a = argv; *a; a++)
        add_folder_of(&all, *a);
    return all;
}

/* An overlay does not show what is mounted inside of the folder. */
static bool has_mounts(const char *folder)
{
    char line[PATH_MAX + 512], at[PATH_MAX];
    bool any = false;
    FILE *f = fopen("/proc/self/mountinfo", "re");
    while (f && !any && fgets(line, sizeof line, f))
        any = sscanf(line, "%*s %*s %*s %*s %4095s", at) == 1 && is_below(at, folder) && strcmp(at, folder) != 0;
    if (f)
        fclose(f);
    return any;
}

/* ---- the namespace ---- */

static bool write_line(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) > 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Files of others, or of another group, that the user may write: in a user namespace they cannot be copied. */
static bool is_of_others(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && !(s.st_mode & S_ISVTX) && (s.st_uid != geteuid() || s.st_gid != getegid()) &&
           faccessat(AT_FDCWD, path, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
}

/* Looked at are the current folder, what lies in it, and what `argv` names. */
static bool works_on_files_of_others(char *const *argv)
{
    enum { ENTRIES_LOOKED_AT = 1000 };
    bool any = is_of_others(".");
    DIR *d = opendir(".");
    unsigned n = 0;
    for (struct dirent *e; !any && d && (e = readdir(d)) && n < ENTRIES_LOOKED_AT; n++)
        any = strcmp(e->d_name, "..") != 0 && is_of_others(e->d_name);
    if (d)
        closedir(d);
    for (; !any && *argv; argv++)
        any = is_of_others(*argv);
    return any;
}

/* Who may not mount anything may in a user namespace of its own. */
static enum dh_files enter_namespace(char *const *argv)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    char map[64];
    enum dh_files files = DH_FILES_PRIVATE;
    if (unshare(CLONE_NEWNS) != 0) {
        if (works_on_files_of_others(argv) || unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return DH_FILES_REAL;
        files = DH_FILES_PRIVATE_TO_USER;
        snprintf(map, sizeof map, "%u %u 1\n", user, user);
        bool mapped = write_line("/proc/self/uid_map", map) && write_line("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "%u %u 1\n", group, group);
        if (!mapped || !write_line("/proc/self/gid_map", map))
            return DH_FILES_REAL;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? files : DH_FILES_REAL;
}

/* Where the memory for what is written is mounted meanwhile. */
static const char *workshop(const folder_vec *all)
{
    static const char *const places[] = {"/mnt", "/media", "/srv", "/opt", "/usr"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool is_free = access(places[i], F_OK) == 0;
        for (size_t k = 0; k < all->n; k++)
            is_free = is_free && !is_below(all->at[k], places[i]);
        if (is_free)
            return places[i];
    }
    return NULL;
}

static bool cover(const char *folder, const char *shop, size_t number)
{
    struct stat s;
    char *upper = dh_format("%s/%zu", shop, number), *work = dh_format("%s/%zu.work", shop, number);
    char *options = dh_format("lowerdir=%s,upperdir=%s,workdir=%s", folder, upper, work);
    bool ok = stat(folder, &s) == 0 && mkdir(upper, 0700) == 0 && chmod(upper, s.st_mode & 07777) == 0 &&
              mkdir(work, 0700) == 0 && mount("overlay", folder, "overlay", 0, options) == 0;
    free(upper);
    free(work);
    free(options);
    return ok;
}

/* ---- what is left out ---- */

static void keep(kept_vec *all, const char *path)
{
    struct kept_place k = {dh_path_real(path), open(path, O_PATH | O_CLOEXEC)};
    if (k.path && k.at >= 0) {
        dh_vec_push(all, k);
        return;
    }
    free(k.path);
    if (k.at >= 0)
        close(k.at);
}

/* Variants for programs that it starts are made in the cache. */
static void keep_all(kept_vec *all, const char *const *paths)
{
    struct dh_err ignored = {0};
    char *cache = dh_cache_folder(&ignored);
    if (cache)
        keep(all, cache);
    free(cache);
    dh_err_release(&ignored);
    for (; paths && *paths; paths++)
        keep(all, *paths);
}

static bool bind_kept(const kept_vec *all)
{
    bool ok = true;
    for (size_t i = 0; ok && i < all->n; i++) {
        char *from = dh_format("/proc/self/fd/%d", all->at[i].at);
        ok = mount(from, all->at[i].path, NULL, MS_BIND, NULL) == 0;
        free(from);
    }
    return ok;
}

static void release_kept(kept_vec *all)
{
    for (size_t i = 0; i < all->n; i++) {
        close(all->at[i].at);
        free(all->at[i].path);
    }
    dh_vec_release(all);
}

/* ---- the whole ---- */

/* False: nothing is covered. */
static bool cover_all(const folder_vec *all, const kept_vec *kept, const char *here)
{
    const char *shop = workshop(all);
    bool ok = shop && mount("tmpfs", shop, "tmpfs", 0, "mode=0755") == 0, mounted = ok;
    size_t n = 0;
    for (; ok && n < all->n; n++)
        ok = has_mounts(all->at[n]) || cover(all->at[n], shop, n);
    if (mounted)
        umount2(shop, MNT_DETACH); /* the overlays keep it */
    ok = ok && bind_kept(kept);
    for (; !ok && n > 0; n--)
        if (!has_mounts(all->at[n - 1]))
            umount2(all->at[n - 1], MNT_DETACH);
    return chdir(here) == 0 && ok;
}

enum dh_files dh_private_files(char *const *argv, const char *const *kept)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return DH_FILES_REAL;
    folder_vec all = folders_of(argv);
    kept_vec places = {0};
    enum dh_files files = enter_namespace(argv);
    if (files != DH_FILES_REAL) {
        keep_all(&places, kept);
        files = cover_all(&all, &places, here) ? files : DH_FILES_REAL;
    }
    release_kept(&places);
    for (size_t i = 0; i < all.n; i++)
        free(all.at[i]);
    dh_vec_release(&all);
    return files;
}

char *dh_file_for_program(int file, pid_t tool, enum dh_files files)
{
    enum { OUT_OF_THE_WAY = 900 };
    struct stat s;
    int left_open = files == DH_FILES_PRIVATE_TO_USER ? fcntl(file, F_DUPFD, OUT_OF_THE_WAY) : -1;
    return left_open >= 0 && fstat(left_open, &s) == 0
               ? dh_format("%d:%ju:%ju", left_open, (uintmax_t)s.st_dev, (uintmax_t)s.st_ino)
               : dh_format("/proc/%d/fd/%d", (int)tool, file);
}
