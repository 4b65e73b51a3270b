#include "host/private_files.h"

#include "base/str.h"
#include "base/vec.h"
#include "host/file.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

typedef DH_VEC(char *) folder_vec;

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

/* Who may not mount anything may in a user namespace of its own. */
static bool enter_namespace(void)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    char map[64];
    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        snprintf(map, sizeof map, "%u %u 1\n", user, user);
        bool mapped = write_line("/proc/self/uid_map", map) && write_line("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "%u %u 1\n", group, group);
        if (!mapped || !write_line("/proc/self/gid_map", map))
            return false;
    }
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
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

static bool cover_all(const folder_vec *all, const char *here)
{
    const char *shop = workshop(all);
    bool ok = shop && enter_namespace() && mount("tmpfs", shop, "tmpfs", 0, "mode=0755") == 0;
    bool mounted = ok;
    for (size_t i = 0; ok && i < all->n; i++)
        ok = has_mounts(all->at[i]) || cover(all->at[i], shop, i);
    if (mounted)
        umount2(shop, MNT_DETACH); /* the overlays keep it */
    return ok && chdir(here) == 0;
}

bool dh_private_files(char *const *argv)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return false;
    folder_vec all = folders_of(argv);
    bool ok = cover_all(&all, here);
    for (size_t i = 0; i < all.n; i++)
        free(all.at[i]);
    dh_vec_release(&all);
    return ok;
}
