/* Appends to the findings log. The file is opened for each finding, so that the program's descriptor numbers do not
 * change. */
#include "runtime/core/options.h"
#include "runtime/core/start.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#define KEPT_FROM 500 /* number of the kept descriptor: above the program's */

static int begun_pid; /* the process whose record is in the file */
static int kept = -1; /* the log, kept open */
static bool kept_empty;

bool dh_report_log_path(char *out, size_t n)
{
    if (!dh_options.log)
        return false;
    struct dh_sink s;
    dh_print_text(s.bytes, sizeof s.bytes, ".%d" DH_LOG_SUFFIX, dh_process.pid);
    size_t length = dh_text_length(dh_options.log);
    if (length + dh_text_length(s.bytes) + 1 > n)
        return false;
    dh_bytes_copy(out, dh_options.log, length);
    dh_text_copy(out + length, n - length, s.bytes);
    return true;
}

long dh_report_write_all(int fd, const uint8_t *at, size_t n)
{
    size_t done = 0;
    while (done < n) {
        long k = dh_sys_write(fd, at + done, n - done);
        if (k == -EINTR)
            continue;
        if (k <= 0)
            return k ? k : -EIO;
        done += (size_t)k;
    }
    return 0;
}

static void print_failure(const char *path, long error)
{
    static bool printed;
    char scratch[32];
    if (!__atomic_exchange_n(&printed, true, __ATOMIC_RELAXED))
        dh_print("deadheat: cannot write the findings log %s: %s\n", path,
                 error == -EFBIG ? "File too large" : dh_print_error((int)-error, scratch, sizeof scratch));
}

/* A partly written record is truncated, so that the next one may fit. */
static long append(int fd, const struct dh_report_bytes *b, int pid)
{
    long size = dh_syscall3(SYS_lseek, fd, 0, SEEK_END);
    size_t from = size > 0 && begun_pid == pid ? b->finding : size > 0 ? DH_LOG_HEADER_SIZE : 0;
    long failed = size < 0 ? size : dh_report_write_all(fd, b->at + from, b->n - from);
    if (failed && size >= 0)
        dh_syscall3(SYS_ftruncate, fd, size, 0);
    if (!failed)
        begun_pid = pid;
    return failed;
}

/* `deadheat run` has stored and removed the folder when its program ended; a process that lives on creates it again,
 * for the next command to find. */
static void make_folder(char *path)
{
    size_t ends[2] = {0};
    for (size_t i = 1; path[i]; i++)
        if (path[i] == '/') {
            ends[0] = ends[1];
            ends[1] = i;
        }
    for (unsigned i = 0; i < 2; i++)
        if (ends[i]) {
            path[ends[i]] = 0;
            dh_syscall3(SYS_mkdir, (long)path, 0700, 0);
            path[ends[i]] = '/';
        }
}

static long open_log(char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    long fd = dh_sys_open(path, flags, 0600);
    if (fd != -ENOENT)
        return fd;
    make_folder(path);
    return dh_sys_open(path, flags, 0600);
}

void dh_report_log_keep_open(void)
{
    char path[PATH_MAX];
    if (kept >= 0 || !dh_report_log_path(path, sizeof path))
        return;
    long fd = open_log(path);
    if (fd < 0)
        return;
    kept_empty = dh_syscall3(SYS_lseek, fd, 0, SEEK_END) == 0;
    long high = dh_syscall3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, KEPT_FROM);
    dh_sys_close((int)fd);
    kept = high < 0 ? -1 : (int)high;
}

static bool log_sandboxed(const struct dh_report_bytes *b)
{
    size_t from = begun_pid == dh_process.pid ? b->finding : kept_empty ? 0 : DH_LOG_HEADER_SIZE;
    if (kept < 0 || dh_report_write_all(kept, b->at + from, b->n - from) != 0)
        return false;
    begun_pid = dh_process.pid;
    return true;
}

static long log_to(char *path, const struct dh_report_bytes *b)
{
    long fd = open_log(path), failed = fd;
    if (fd >= 0) {
        failed = append((int)fd, b, dh_process.pid);
        dh_sys_close((int)fd);
    }
    return failed;
}

bool dh_report_log(const struct dh_report_bytes *b)
{
    char path[PATH_MAX];
    if (dh_report_is_sandboxed())
        return log_sandboxed(b);
    if (!dh_report_log_path(path, sizeof path))
        return false;
    long failed = log_to(path, b);
    if (failed < 0)
        print_failure(path, failed);
    return failed == 0;
}

uint64_t dh_report_now(void)
{
    struct timespec t = {0};
    if (!dh_report_is_sandboxed())
        dh_syscall3(SYS_clock_gettime, CLOCK_REALTIME, (long)&t, 0);
    return (uint64_t)t.tv_sec;
}

void dh_report_log_begin(struct dh_log_out *o, uint64_t time)
{
    struct dh_log_process p = {
        .pid = (uint32_t)dh_process.pid,
        .time = time,
        .path = dh_process.path ? dh_process.path : "",
        .original = dh_process.original ? dh_process.original : "",
        .variant = __dh_variant,
    };
    dh_bytes_copy(p.id, __dh_module_id, sizeof p.id);
    dh_log_put_header(o);
    dh_log_put_process(o, &p);
}

bool dh_report_log_note(const struct dh_report_bytes *b)
{
    char path[PATH_MAX];
    return dh_report_log_path(path, sizeof path) && log_to(path, b) == 0;
}
