#include "runtime/engine/system/file.h"

#include "runtime/engine/snapshot.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/undo.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { DESCRIPTORS = 4096, PATHS = 64, PATH_LENGTH = 512, OWN_DESCRIPTORS = 700, COPY_MOST = 256 << 20 };

enum state { UNCHANGED, OFFSET_MOVED, NEW, REPLACED };

static struct files {
    uint8_t state[DESCRIPTORS];
    struct overlay {
        char path[PATH_LENGTH];
        int fd; /* of the copy in memory; -1: it was removed */
    } overlays[PATHS];
    unsigned n_overlays;
} *files;

bool dh_files_init(void)
{
    files = dh_keep_alloc(sizeof *files);
    return files;
}

void dh_files_begin(void)
{
    files->n_overlays = 0;
}

static bool is_known(long fd)
{
    return fd >= 0 && fd < DESCRIPTORS;
}

void dh_files_restored(int fd)
{
    if (is_known(fd))
        files->state[fd] = UNCHANGED;
}

bool dh_files_is_new(int fd)
{
    return is_known(fd) && files->state[fd] >= NEW;
}

long dh_files_log_new(long fd)
{
    if (fd < 0)
        return fd;
    if (is_known(fd))
        files->state[fd] = NEW;
    dh_undo_log(DH_UNDO_CLOSE, fd, 0, 0);
    return fd;
}

/* A duplicate above the descriptors that programs usually have. */
static long duplicate_high(long fd)
{
    return dh_kernel_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS, 0, 0, 0);
}

bool dh_files_preserve(long fd)
{
    if (!is_known(fd) || files->state[fd] >= NEW || dh_engine->carrier->is_kernel)
        return true;
    long flags = dh_kernel_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0), kept = duplicate_high(fd);
    if (kept < 0)
        return kept == -EBADF;
    dh_undo_log(DH_UNDO_REOPEN, fd, kept, flags & FD_CLOEXEC ? O_CLOEXEC : 0);
    files->state[fd] = REPLACED;
    return true;
}

/* ---- the overlay ---- */

static struct overlay *find_overlay(const char *path)
{
    for (unsigned i = 0; i < files->n_overlays; i++)
        if (dh_text_equal(files->overlays[i].path, path))
            return &files->overlays[i];
    return NULL;
}

static struct overlay *add_overlay(const char *path)
{
    if (files->n_overlays == PATHS || dh_text_length(path) >= PATH_LENGTH)
        return NULL;
    struct overlay *o = &files->overlays[files->n_overlays++];
    dh_text_copy(o->path, sizeof o->path, path);
    o->fd = -1;
    return o;
}

static bool copy_content(long from, long to)
{
    char buffer[16384];
    long n, at = 0;
    while ((n = dh_kernel_call(SYS_pread64, from, (long)buffer, sizeof buffer, at, 0, 0)) > 0) {
        if (dh_kernel_call(SYS_pwrite64, to, (long)buffer, n, at, 0, 0) != n || at > COPY_MOST)
            return false;
        at += n;
    }
    return n == 0;
}

long dh_files_new_in_memory(const char *name)
{
    long fd = dh_kernel_call(SYS_memfd_create, (long)name, 1, 0, 0, 0, 0);
    if (fd < 0)
        return fd;
    long moved = duplicate_high(fd);
    dh_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return moved;
}

/* A file in memory with a copy of the content, until the schedule ends; negative errno. */
static long copy_to_memory(long content)
{
    long moved = dh_files_new_in_memory("overlay");
    if (moved < 0)
        return moved;
    dh_undo_log(DH_UNDO_CLOSE, moved, 0, 0);
    return content < 0 || copy_content(content, moved) ? moved : -ENOSPC;
}

/* A new descriptor for that file, with an offset of its own. */
static long reopen(int fd, long flags)
{
    char path[32] = "/proc/self/fd/";
    char digits[12];
    unsigned n = 0, at = sizeof "/proc/self/fd/" - 1;
    for (unsigned value = (unsigned)fd; !n || value; value /= 10)
        digits[n++] = (char)('0' + value % 10);
    while (n)
        path[at++] = digits[--n];
    path[at] = 0;
    return dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW), 0, 0, 0);
}

long dh_files_reopen(int fd, int flags)
{
    return dh_files_log_new(reopen(fd, flags | O_CLOEXEC));
}

static bool is_regular(long fd)
{
    struct stat s;
    return dh_kernel_call(SYS_fstat, fd, (long)&s, 0, 0, 0, 0) == 0 && S_ISREG(s.st_mode);
}

static long open_for_writing(const char *path, long flags, long mode)
{
    struct overlay *o = find_overlay(path);
    if (o && o->fd >= 0)
        return (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) ? -EEXIST : reopen(o->fd, flags);
    long before = o ? -ENOENT : dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (before < 0 && (before != -ENOENT || !(flags & O_CREAT)))
        return before;
    if (before >= 0 && ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) || !is_regular(before))) {
        bool special = !is_regular(before);
        dh_kernel_call(SYS_close, before, 0, 0, 0, 0, 0);
        return special ? dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, flags & ~O_TRUNC, mode, 0, 0) : -EEXIST;
    }
    long copy = copy_to_memory(flags & O_TRUNC ? -1 : before);
    if (before >= 0)
        dh_kernel_call(SYS_close, before, 0, 0, 0, 0, 0);
    o = copy < 0 ? NULL : o ? o : add_overlay(path);
    if (!o)
        return copy < 0 ? copy : -ENOSPC;
    o->fd = (int)copy;
    return reopen(o->fd, flags);
}

/* open, openat and creat; the overlay knows paths from the current folder or the root only. */
long dh_files_open(long number, const long a[6])
{
    bool at = number == SYS_openat;
    const char *path = (const char *)a[at];
    long flags = number == SYS_creat ? O_CREAT | O_WRONLY | O_TRUNC : a[1 + at],
         mode = number == SYS_creat ? a[1] : a[2 + at];
    bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);
    if (at && (int)a[0] != AT_FDCWD && path && path[0] != '/')
        return writes ? dh_syscalls_cannot(number)
                      : dh_files_log_new(dh_kernel_call(number, a[0], a[1], a[2], a[3], 0, 0));
    if (flags & O_DIRECTORY || (flags & O_TMPFILE) == O_TMPFILE)
        return dh_files_log_new(dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0));
    if (writes)
        return dh_files_log_new(open_for_writing(path, flags, mode));
    const struct overlay *o = find_overlay(path);
    if (!o)
        return dh_files_log_new(dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0));
    return o->fd < 0 ? -ENOENT : dh_files_log_new(reopen(o->fd, flags));
}

long dh_files_unlink(long number, const long a[6])
{
    bool at = number == SYS_unlinkat;
    const char *path = (const char *)a[at];
    if (at && ((int)a[0] != AT_FDCWD || a[2]))
        return dh_syscalls_cannot(number);
    struct overlay *o = find_overlay(path);
    if (!o && dh_kernel_call(SYS_access, (long)path, 0, 0, 0, 0, 0) != 0)
        return -ENOENT;
    if (o && o->fd < 0)
        return -ENOENT;
    o = o ? o : add_overlay(path);
    if (!o)
        return -ENOSPC;
    o->fd = -1;
    return 0;
}

/* The path is a[0], of the *at calls a[1]. */
long dh_files_stat(long number, const long a[6])
{
    bool at = number == SYS_newfstatat || number == SYS_faccessat || number == SYS_faccessat2;
    const char *path = (const char *)a[at];
    const struct overlay *o =
        path && *path && (!at || (int)a[0] == AT_FDCWD || *path == '/') ? find_overlay(path) : NULL;
    if (!o)
        return dh_syscalls_pass_through(number, a);
    if (o->fd < 0)
        return -ENOENT;
    if (number == SYS_access || number == SYS_faccessat || number == SYS_faccessat2)
        return 0;
    long out = at ? a[2] : a[1];
    dh_snapshot_unprotect((uintptr_t)out, sizeof(struct stat));
    return dh_kernel_call(SYS_fstat, o->fd, out, 0, 0, 0, 0);
}

/* ---- descriptors ---- */

long dh_files_close(long number, const long a[6])
{
    return dh_files_preserve(a[0]) ? dh_kernel_call(number, a[0], 0, 0, 0, 0, 0) : -EMFILE;
}

long dh_files_new_descriptor(long number, const long a[6])
{
    return dh_files_log_new(dh_kernel_call(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

long dh_files_new_descriptor_pair(long number, const long a[6], unsigned at)
{
    const int *pair = (const int *)a[at];
    dh_snapshot_unprotect((uintptr_t)pair, 2 * sizeof *pair);
    long result = dh_kernel_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result == 0) {
        dh_files_log_new(pair[0]);
        dh_files_log_new(pair[1]);
    }
    return result;
}

long dh_files_put_at(long from, long at, bool close_on_exec)
{
    bool open = dh_kernel_call(SYS_fcntl, at, F_GETFD, 0, 0, 0, 0) >= 0;
    if (open && !dh_files_preserve(at))
        return -EMFILE;
    long result = dh_kernel_call(SYS_dup3, from, at, close_on_exec ? O_CLOEXEC : 0, 0, 0, 0);
    return open || result < 0 ? result : dh_files_log_new(result);
}

long dh_files_dup(long number, const long a[6])
{
    if (number == SYS_dup)
        return dh_files_log_new(dh_kernel_call(number, a[0], 0, 0, 0, 0, 0));
    if (a[0] == a[1])
        return dh_kernel_call(number, a[0], a[1], a[2], 0, 0, 0);
    if (number == SYS_dup3 && a[2] & ~O_CLOEXEC)
        return -EINVAL;
    return dh_files_put_at(a[0], a[1], number == SYS_dup3 && a[2] & O_CLOEXEC);
}

long dh_files_fcntl(long number, const long a[6])
{
    long result = dh_syscalls_pass_through(number, a);
    return a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC ? dh_files_log_new(result) : result;
}

bool dh_files_is_open(long fd)
{
    return dh_kernel_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) >= 0;
}

static void log_offset(long fd)
{
    if (!is_known(fd) || files->state[fd] != UNCHANGED)
        return;
    long at = dh_kernel_call(SYS_lseek, fd, 0, 1, 0, 0, 0);
    if (at < 0)
        return;
    dh_undo_log(DH_UNDO_OFFSET, fd, at, 0);
    files->state[fd] = OFFSET_MOVED;
}

long dh_files_read_or_seek(long number, const long a[6])
{
    log_offset(a[0]);
    if (number == SYS_read || number == SYS_pread64)
        dh_snapshot_unprotect((uintptr_t)a[1], (size_t)a[2]);
    return dh_syscalls_pass_through(number, a);
}

long dh_files_read(long number, const long a[6])
{
    struct stat s;
    bool special = dh_kernel_call(SYS_fstat, a[0], (long)&s, 0, 0, 0, 0) == 0 && !S_ISREG(s.st_mode) &&
                   !S_ISDIR(s.st_mode) && !S_ISCHR(s.st_mode);
    return special ? dh_syscalls_cannot(number) : dh_files_read_or_seek(number, a);
}

/* ---- writing ---- */

/* A file that was open at the snapshot: the descriptor becomes one of its copy. */
static bool replace_by_copy(long fd)
{
    long at = dh_kernel_call(SYS_lseek, fd, 0, 1, 0, 0, 0), flags = dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
    long reader = reopen((int)fd, O_RDONLY | O_CLOEXEC);
    long copy = copy_to_memory(reader);
    if (reader >= 0)
        dh_kernel_call(SYS_close, reader, 0, 0, 0, 0, 0);
    if (copy < 0 || !dh_files_preserve(fd) || dh_kernel_call(SYS_dup2, copy, fd, 0, 0, 0, 0) < 0)
        return false;
    dh_kernel_call(SYS_lseek, fd, at < 0 ? 0 : at, 0, 0, 0, 0);
    dh_kernel_call(SYS_fcntl, fd, F_SETFL, flags, 0, 0, 0);
    return true;
}

static long bytes_of(long number, const long a[6])
{
    if (number != SYS_writev && number != SYS_pwritev)
        return a[2];
    long n = 0;
    for (long i = 0; i < a[2]; i++)
        n += ((const long *)a[1])[2 * i + 1];
    return n;
}

/* To a copy of a regular file; discarded if it would leave the process. */
long dh_files_write(long number, const long a[6])
{
    long fd = a[0];
    if (dh_files_is_new((int)fd))
        return dh_syscalls_pass_through(number, a);
    if ((fd == 1 || fd == 2) && dh_engine->flags & DH_ENGINE_OUTPUT)
        return dh_syscalls_pass_through(number, a);
    struct stat s;
    long known = dh_kernel_call(SYS_fstat, fd, (long)&s, 0, 0, 0, 0);
    if (known < 0)
        return known;
    if (fd == 1 || fd == 2 || S_ISCHR(s.st_mode))
        return bytes_of(number, a);
    if (!S_ISREG(s.st_mode))
        return dh_syscalls_cannot(number);
    return replace_by_copy(fd) ? dh_syscalls_pass_through(number, a) : -ENOSPC;
}

long dh_files_truncate(long number, const long a[6])
{
    if (dh_files_is_new((int)a[0]))
        return dh_syscalls_pass_through(number, a);
    long nothing_written[6] = {a[0], 0, 0};
    long result = dh_files_write(SYS_write, nothing_written);
    return result < 0 ? result : dh_syscalls_pass_through(number, a);
}
