#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static bool read_all(int fd, const char *path, struct dh_bytes *out, struct dh_err *err)
{
    size_t cap = 0;
    for (;;) {
        if (out->n == cap) {
            cap = cap ? cap * 2 : 1 << 16;
            uint8_t *at = realloc(out->at, cap);
            if (!at)
                return dh_err_set(err, "%s: too large for memory", path);
            out->at = at;
        }
        ssize_t got = read(fd, out->at + out->n, cap - out->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return dh_err_errno(err, "%s", path);
        if (got == 0)
            return true;
        out->n += (size_t)got;
    }
}

bool dh_file_read(const char *path, struct dh_bytes *out, struct dh_err *err)
{
    *out = (struct dh_bytes){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dh_err_errno(err, "%s", path);
    bool ok = read_all(fd, path, out, err);
    close(fd);
    if (!ok)
        dh_bytes_release(out);
    return ok;
}

void dh_bytes_release(struct dh_bytes *b)
{
    free(b->at);
    *b = (struct dh_bytes){0};
}

struct dh_bytes dh_bytes_take(struct dh_str *s)
{
    size_t n = s->n;
    return (struct dh_bytes){.at = (uint8_t *)dh_str_take(s), .n = n};
}

bool dh_write_all(int fd, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    while (n) {
        ssize_t put = write(fd, at, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        at += put;
        n -= (size_t)put;
    }
    return true;
}

bool dh_file_write(const char *path, const void *bytes, size_t n, unsigned mode, struct dh_err *err)
{
    char *temp = dh_format("%s.%d.tmp", path, (int)getpid());
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    bool ok = fd >= 0 && dh_write_all(fd, bytes, n);
    ok = fd >= 0 && close(fd) == 0 && ok;
    ok = ok && rename(temp, path) == 0;
    if (!ok) {
        dh_err_errno(err, "cannot write %s", path);
        unlink(temp);
    }
    free(temp);
    return ok;
}

bool dh_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool dh_file_is_regular(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

size_t dh_file_size(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) ? (size_t)s.st_size : 0;
}

bool dh_disk_has_room(const char *folder, size_t bytes, const char *what, struct dh_err *err)
{
    struct statvfs s;
    if (statvfs(folder, &s) != 0 || !s.f_blocks) /* some file systems do not report it */
        return true;
    size_t free_bytes = (geteuid() ? s.f_bavail : s.f_bfree) * s.f_frsize;
    return free_bytes >= bytes || dh_err_set(err, "%s: No space left on device: %s needs about %zu KiB, %zu are free",
                                             folder, what, bytes / 1024 + 1, free_bytes / 1024);
}

bool dh_mkdir_parents(const char *path, unsigned mode, struct dh_err *err)
{
    char *work = dh_strdup(path);
    bool ok = true;
    for (char *at = work + 1; ok; at++) {
        if (*at && *at != '/')
            continue;
        char keep = *at;
        *at = 0;
        if (mkdir(work, mode) != 0 && errno != EEXIST)
            ok = dh_err_errno(err, "cannot make folder %s", work);
        *at = keep;
        if (!keep)
            break;
    }
    free(work);
    return ok;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *ftw)
{
    (void)s, (void)type, (void)ftw;
    (void)!remove(path);
    return 0;
}

void dh_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

char *dh_temp_folder(struct dh_err *err)
{
    const char *base = getenv("TMPDIR");
    char *path = dh_format("%s/deadheat-XXXXXX", base && *base ? base : "/tmp");
    if (mkdtemp(path))
        return path;
    dh_err_errno(err, "cannot make a temporary folder %s (TMPDIR names another place)", path);
    free(path);
    return NULL;
}

char *dh_path_absolute(const char *path)
{
    char cwd[PATH_MAX];
    if (path[0] == '/' || !getcwd(cwd, sizeof cwd))
        return dh_strdup(path);
    return dh_format("%s/%s", cwd, path);
}

char *dh_path_real(const char *path)
{
    return realpath(path, NULL);
}
