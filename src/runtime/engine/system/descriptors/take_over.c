/* Descriptors that are open at the snapshot become models with their present content: pipes and sockets with both ends
 * in the process, listeners, eventfds, timers, epoll sets. What leads out of the process is outside.c's; files and
 * devices stay the kernel's. */
#include "runtime/engine/system/descriptors/take_over.h"

#include "runtime/core/start.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/descriptors/signalfd.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/sockets/socket.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { SCANNED = 700, TEXT = 65536, CONTENT = 1 << 20, TERMIOS = 64 };

static char *scratch; /* TEXT, then CONTENT bytes */

static bool get_status(long fd, struct stat *s)
{
    return dh_kernel_call(SYS_fstat, fd, (long)s, 0, 0, 0, 0) == 0;
}

static unsigned flags_of(long fd)
{
    return (unsigned)dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
}

/* ---- numbers that share a description ---- */

static bool is_same_description(long a, long b)
{
    long pid = dh_process.pid;
    return dh_kernel_call(SYS_kcmp, pid, pid, KCMP_FILE, a, b, 0) == 0;
}

static bool refer_to_earlier(long fd)
{
    for (long e = 0; e < fd; e++)
        if (dh_description_of(e) && is_same_description(e, fd)) {
            dh_description_refer(fd, dh_description_of(e));
            return true;
        }
    return false;
}

/* ---- pipes ---- */

static bool is_pipe_end(long fd, const struct stat *s, bool writes)
{
    struct stat other;
    return get_status(fd, &other) && other.st_ino == s->st_ino && other.st_dev == s->st_dev &&
           (flags_of(fd) & O_ACCMODE) == (writes ? O_WRONLY : O_RDONLY);
}

static long pipe_end(const struct stat *s, bool writes)
{
    for (long fd = 0; fd < SCANNED; fd++)
        if (is_pipe_end(fd, s, writes))
            return fd;
    return -1;
}

/* Without taking it out. */
static void copy_content(struct dh_pipe *p, long reader)
{
    int copy[2];
    if (dh_kernel_call(SYS_pipe2, (long)copy, O_CLOEXEC | O_NONBLOCK, 0, 0, 0, 0) < 0)
        return;
    dh_kernel_call(SYS_fcntl, copy[1], F_SETPIPE_SZ, dh_kernel_call(SYS_fcntl, reader, F_GETPIPE_SZ, 0, 0, 0, 0), 0, 0,
                   0);
    dh_kernel_call(SYS_tee, reader, copy[1], CONTENT, 2 /* SPLICE_F_NONBLOCK */, 0, 0);
    long n = dh_kernel_call(SYS_read, copy[0], (long)scratch, CONTENT, 0, 0, 0);
    if (n > 0)
        dh_pipe_fill(p, scratch, (size_t)n);
    dh_kernel_call(SYS_close, copy[0], 0, 0, 0, 0, 0);
    dh_kernel_call(SYS_close, copy[1], 0, 0, 0, 0, 0);
}

static void take_pipe(long fd, const struct stat *s)
{
    long reader = pipe_end(s, false);
    if (reader < 0 || pipe_end(s, true) < 0) {
        dh_outside_take_over(fd, "pipe", flags_of(fd));
        return;
    }
    struct dh_pipe *p = dh_pipe_new((size_t)dh_kernel_call(SYS_fcntl, reader, F_GETPIPE_SZ, 0, 0, 0, 0));
    copy_content(p, reader);
    for (long other = fd; other < SCANNED; other++)
        for (unsigned writes = 0; writes < 2; writes++)
            if (!dh_description_of(other) && is_pipe_end(other, s, writes) && !refer_to_earlier(other))
                dh_pipe_take_over(p, other, writes, flags_of(other));
}

/* ---- what /proc tells ---- */

/* Of the line that begins with `name`; NULL: there is none. */
static const char *value_of(const char *text, const char *name)
{
    for (const char *at = text; *at;) {
        const char *value = dh_text_after(at, name);
        if (value)
            return value;
        while (*at && *at != '\n')
            at++;
        at += *at == '\n';
    }
    return NULL;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* The next number in the text, past anything else on the line. */
static uint64_t next_number(const char **at, unsigned base)
{
    uint64_t n = 0;
    while (**at && **at != '\n' && digit_of(**at) >= (int)base)
        ++*at;
    for (; digit_of(**at) < (int)base; ++*at)
        n = n * base + (unsigned)digit_of(**at);
    return n;
}

static uint64_t number_of(const char *text, const char *name, unsigned base)
{
    const char *at = value_of(text, name);
    return at ? next_number(&at, base) : 0;
}

static const char *about(long fd)
{
    char path[40];
    dh_print_text(path, sizeof path, "/proc/self/fdinfo/%d", (int)fd);
    long info = dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0), n = 0, size = 0;
    while (info >= 0 && size < TEXT - 1 &&
           (n = dh_kernel_call(SYS_read, info, (long)(scratch + size), TEXT - 1 - size, 0, 0, 0)) > 0)
        size += n;
    if (info >= 0)
        dh_kernel_call(SYS_close, info, 0, 0, 0, 0, 0);
    scratch[size] = 0;
    return scratch;
}

static void take_eventfd(long fd)
{
    const char *text = about(fd);
    dh_eventfd_take_over(fd, number_of(text, "eventfd-count:", 16), number_of(text, "eventfd-semaphore:", 10),
                         flags_of(fd));
}

/* "(seconds, nanoseconds)" */
static uint64_t time_of(const char *text, const char *name)
{
    const char *at = value_of(text, name);
    uint64_t seconds = at ? next_number(&at, 10) : 0;
    return seconds * 1000000000u + (at ? next_number(&at, 10) : 0);
}

/* What is left of real time differs from run to run: whole milliseconds. */
static void take_timerfd(long fd)
{
    const uint64_t unit = 1000000;
    const char *text = about(fd);
    uint64_t left = (time_of(text, "it_value:") + unit - 1) / unit * unit;
    dh_timerfd_take_over(fd, (int)number_of(text, "clockid:", 10), number_of(text, "ticks:", 10) ? 1 : left,
                         time_of(text, "it_interval:"), flags_of(fd));
}

/* Behind the next `word`, or the end of the text. */
static const char *text_from(const char *at, const char *word)
{
    for (; *at; at++)
        if (dh_text_after(at, word))
            return dh_text_after(at, word);
    return at;
}

static void take_epoll_items(long fd)
{
    struct dh_description *set = dh_description_of(fd);
    const char *text = about(fd), *at;
    while ((at = value_of(text, "tfd:"))) {
        long target = (long)next_number(&at, 10);
        at = text_from(at, "events:");
        uint32_t events = (uint32_t)next_number(&at, 16);
        at = text_from(at, "data:");
        uint64_t data = next_number(&at, 16);
        dh_epoll_add(set, target, events, data);
        text = at;
        while (*text && *text != '\n')
            text++;
    }
}

/* ---- kinds ---- */

enum anonymous { NOT_ANONYMOUS, EVENTFD, TIMERFD, EPOLL, SIGNALFD, OTHER };

static enum anonymous anonymous_kind(long fd)
{
    char path[40], target[64];
    dh_print_text(path, sizeof path, "/proc/self/fd/%d", (int)fd);
    long n = dh_kernel_call(SYS_readlink, (long)path, (long)target, sizeof target - 1, 0, 0, 0);
    target[n > 0 ? n : 0] = 0;
    const char *name = dh_text_after(target, "anon_inode:");
    if (!name)
        return NOT_ANONYMOUS;
    return dh_text_equal(name, "[eventfd]")     ? EVENTFD
           : dh_text_equal(name, "[timerfd]")   ? TIMERFD
           : dh_text_equal(name, "[eventpoll]") ? EPOLL
           : dh_text_equal(name, "[signalfd]")  ? SIGNALFD
                                                : OTHER;
}

static void take_anonymous(long fd)
{
    enum anonymous kind = anonymous_kind(fd);
    if (kind == EVENTFD)
        take_eventfd(fd);
    else if (kind == TIMERFD)
        take_timerfd(fd);
    else if (kind == EPOLL)
        dh_epoll_take_over(fd, flags_of(fd));
    else if (kind == SIGNALFD)
        dh_signalfd_take_over(fd, number_of(about(fd), "sigmask:", 16), flags_of(fd));
}

static bool is_terminal(long fd)
{
    return dh_kernel_call(SYS_ioctl, fd, TCGETS, (long)scratch, 0, 0, 0) == 0;
}

static void take(long fd)
{
    struct stat s;
    if (dh_description_of(fd) || !get_status(fd, &s) || refer_to_earlier(fd))
        return;
    if (S_ISFIFO(s.st_mode))
        take_pipe(fd, &s);
    else if (S_ISSOCK(s.st_mode))
        dh_take_over_socket(fd);
    else if (S_ISCHR(s.st_mode) && is_terminal(fd))
        dh_outside_take_over(fd, "terminal", flags_of(fd));
    else if (!(s.st_mode & S_IFMT))
        take_anonymous(fd);
}

void dh_take_over_descriptors(void)
{
    scratch = dh_sys_mmap(CONTENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    if (!scratch)
        dh_engine_cannot("no memory");
    for (long fd = 0; fd < SCANNED; fd++)
        take(fd);
    dh_take_over_connections(scratch, CONTENT);
    for (long fd = 0; fd < SCANNED; fd++)
        if (dh_description_of(fd) && anonymous_kind(fd) == EPOLL)
            take_epoll_items(fd);
    dh_kernel_call(SYS_munmap, (long)scratch, CONTENT, 0, 0, 0, 0);
    scratch = NULL;
}
