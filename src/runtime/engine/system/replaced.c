/* Pipes, eventfds and sockets that were open at the snapshot: on first use in a schedule they are replaced by a copy
 * with the same content. */
#include "runtime/engine/system/descriptor.h"
#include "runtime/engine/system/file.h"

#include "runtime/engine/system/for_real.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/socket.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/undo.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCANNED = 256, CONTENT = 1 << 16 };

static bool get_status(long fd, struct stat *s)
{
    return dh_kernel_call(SYS_fstat, fd, (long)s, 0, 0, 0, 0) == 0;
}

static bool writes(long fd)
{
    return (dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_ACCMODE) != O_RDONLY;
}

static bool is_same(long fd, const struct stat *s)
{
    struct stat other;
    return get_status(fd, &other) && other.st_ino == s->st_ino && other.st_dev == s->st_dev;
}

/* The reading end of the pipe in this process, or -1; `written`: it has a writing end, too. */
static long reading_end(const struct stat *s, bool *written)
{
    long reader = -1;
    *written = false;
    for (long fd = 0; fd < SCANNED; fd++)
        if (is_same(fd, s)) {
            if (writes(fd))
                *written = true;
            else
                reader = fd;
        }
    return reader;
}

static bool replace_by(long fd, long copy)
{
    long flags = dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
    if (!dh_files_preserve(fd) || dh_kernel_call(SYS_dup3, copy, fd, O_CLOEXEC, 0, 0, 0) < 0)
        return false;
    dh_kernel_call(SYS_fcntl, fd, F_SETFL, flags, 0, 0, 0);
    return true;
}

static bool replace_pipe(const struct stat *s)
{
    bool written, ok = true;
    int ends[2];
    long reader = reading_end(s, &written);
    if (reader < 0 || !written || dh_kernel_call(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0, 0, 0) < 0)
        return false;
    dh_kernel_call(SYS_tee, reader, ends[1], CONTENT, 2 /* SPLICE_F_NONBLOCK */, 0, 0);
    for (long fd = 0; fd < SCANNED; fd++)
        if (fd != ends[0] && fd != ends[1] && is_same(fd, s))
            ok &= replace_by(fd, ends[writes(fd)]);
    dh_kernel_call(SYS_close, ends[0], 0, 0, 0, 0, 0);
    dh_kernel_call(SYS_close, ends[1], 0, 0, 0, 0, 0);
    return ok;
}

/* "eventfd-count:  hex" in /proc; -1: no eventfd. */
static long event_count(long fd)
{
    char path[40], text[512];
    dh_print_text(path, sizeof path, "/proc/self/fdinfo/%d", (int)fd);
    long info = dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    long n = info < 0 ? 0 : dh_kernel_call(SYS_read, info, (long)text, sizeof text - 1, 0, 0, 0), count = 0;
    if (info >= 0)
        dh_kernel_call(SYS_close, info, 0, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = 0;
    const char *at = text, *value = NULL;
    for (; *at && !value; at++)
        value = dh_text_after(at, "eventfd-count:");
    if (!value)
        return -1;
    while (*value == ' ')
        value++;
    for (; (*value >= '0' && *value <= '9') || (*value >= 'a' && *value <= 'f'); value++)
        count = count * 16 + (*value <= '9' ? *value - '0' : *value - 'a' + 10);
    return count;
}

static bool replace_event(long fd)
{
    long count = event_count(fd);
    long copy = count < 0 ? -1 : dh_kernel_call(SYS_eventfd2, count, O_CLOEXEC, 0, 0, 0, 0);
    bool ok = copy >= 0 && replace_by(fd, copy);
    if (copy >= 0)
        dh_kernel_call(SYS_close, copy, 0, 0, 0, 0, 0);
    return ok;
}

bool dh_descriptors_replace(long fd)
{
    struct stat s;
    if (dh_files_is_new((int)fd) || !get_status(fd, &s))
        return true;
    if (S_ISFIFO(s.st_mode))
        return replace_pipe(&s);
    if (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode) || S_ISCHR(s.st_mode))
        return true;
    return S_ISSOCK(s.st_mode) ? dh_sockets_make_local(fd) : replace_event(fd);
}

long dh_files_read(long number, const long a[6])
{
    struct stat s;
    if (!dh_descriptors_replace(a[0]))
        dh_syscalls_cannot(number);
    if (get_status(a[0], &s) && (S_ISREG(s.st_mode) || S_ISDIR(s.st_mode)))
        return dh_files_read_or_seek(number, a);
    dh_files_read_or_seek(SYS_lseek, (const long[6]){a[0], 0, SEEK_CUR});
    return dh_for_real_read(number, a);
}

long dh_descriptor_pair(long number, const long a[6])
{
    return dh_files_new_descriptor_pair(number, a, number == SYS_socketpair ? 3 : 0);
}

/* Sockets of this schedule are closed after it. */
long dh_descriptor_send(long number, const long a[6])
{
    return dh_files_is_new((int)a[0]) ? dh_syscalls_pass_through(number, a) : dh_syscalls_cannot(number);
}
