/* A variant lives in the cache; the program it stands for asks the kernel where it is to find its data beside itself.
 * These answer with the program the user named. Everything else passes. */
#include "runtime/core/start.h"
#include "runtime/interpose/interpose.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/bytes.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* Fortified forms; the headers declare them only when they are used. */
extern ssize_t __readlink_chk(const char *path, char *buffer, size_t n, size_t size);
extern char *__realpath_chk(const char *path, char *buffer, size_t size);

/* /proc/self/exe, or /proc/PID/exe of this process. */
static bool is_own_executable(const char *path)
{
    if (!dh_process.original || !path)
        return false;
    const char *rest = dh_text_after(path, "/proc/");
    if (!rest)
        return false;
    const char *own = dh_text_after(rest, "self");
    if (own)
        return dh_text_equal(own, "/exe");
    int pid = 0;
    for (; *rest >= '0' && *rest <= '9' && pid < INT_MAX / 10; rest++)
        pid = pid * 10 + (*rest - '0');
    return pid == dh_process.pid && dh_text_equal(rest, "/exe");
}

static ssize_t answer(char *buffer, size_t n)
{
    size_t length = dh_text_length(dh_process.original);
    length = length < n ? length : n;
    dh_bytes_copy(buffer, dh_process.original, length);
    return (ssize_t)length;
}

static ssize_t dh_interposed_readlink(const char *path, char *buffer, size_t n)
{
    dh_start_early();
    return is_own_executable(path) ? answer(buffer, n) : dh_real.readlink(path, buffer, n);
}

static ssize_t dh_interposed_readlinkat(int folder, const char *path, char *buffer, size_t n)
{
    dh_start_early();
    return is_own_executable(path) ? answer(buffer, n) : dh_real.readlinkat(folder, path, buffer, n);
}

static ssize_t dh_interposed___readlink_chk(const char *path, char *buffer, size_t n, size_t size)
{
    dh_start_early();
    return is_own_executable(path) && n <= size ? answer(buffer, n) : dh_real.__readlink_chk(path, buffer, n, size);
}

static char *dh_interposed_realpath(const char *path, char *buffer)
{
    dh_start_early();
    return dh_real.realpath(is_own_executable(path) ? dh_process.original : path, buffer);
}

static char *dh_interposed___realpath_chk(const char *path, char *buffer, size_t size)
{
    dh_start_early();
    return dh_real.__realpath_chk(is_own_executable(path) ? dh_process.original : path, buffer, size);
}

static char *dh_interposed_canonicalize_file_name(const char *path)
{
    return dh_interposed_realpath(path, NULL);
}

DH_INTERPOSE(readlink);
DH_INTERPOSE(readlinkat);
DH_INTERPOSE(__readlink_chk);
DH_INTERPOSE(realpath);
DH_INTERPOSE(__realpath_chk);
DH_INTERPOSE(canonicalize_file_name);
