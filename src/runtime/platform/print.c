#include "runtime/platform/print.h"

#include "runtime/core/options.h"
#include "runtime/core/start.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>

void dh_sink_start(struct dh_sink *s, int fd)
{
    s->fd = fd;
    s->failed = false;
    s->n = 0;
}

void dh_sink_flush(struct dh_sink *s)
{
    size_t done = 0;
    while (s->fd >= 0 && done < s->n && !s->failed) {
        long k = dh_sys_write(s->fd, s->bytes + done, s->n - done);
        if (k > 0)
            done += (size_t)k;
        else if (k != -EINTR)
            s->failed = true;
    }
    if (s->fd >= 0)
        s->n = 0;
}

void dh_sink_char(struct dh_sink *s, char c)
{
    if (s->n == sizeof s->bytes)
        dh_sink_flush(s);
    if (s->n < sizeof s->bytes)
        s->bytes[s->n++] = c;
}

static void sink_text(struct dh_sink *s, const char *text)
{
    for (; *text; text++)
        dh_sink_char(s, *text);
}

static void sink_number(struct dh_sink *s, uint64_t value, unsigned base)
{
    char digits[20];
    int n = 0;
    do {
        digits[n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (n)
        dh_sink_char(s, digits[--n]);
}

static void sink_signed(struct dh_sink *s, int64_t value)
{
    if (value < 0)
        dh_sink_char(s, '-');
    sink_number(s, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

void dh_sink_vprintf(struct dh_sink *s, const char *fmt, va_list ap)
{
    for (; *fmt; fmt++) {
        if (*fmt != '%') {
            dh_sink_char(s, *fmt);
            continue;
        }
        bool wide = *++fmt == 'l';
        fmt += wide;
        if (*fmt == 's') {
            sink_text(s, va_arg(ap, const char *));
        } else if (*fmt == 'c') {
            dh_sink_char(s, (char)va_arg(ap, int));
        } else if (*fmt == 'd') {
            sink_signed(s, wide ? va_arg(ap, long) : va_arg(ap, int));
        } else if (*fmt == 'u' || *fmt == 'x') {
            sink_number(s, wide ? va_arg(ap, unsigned long) : va_arg(ap, unsigned), *fmt == 'u' ? 10 : 16);
        } else if (*fmt == 'p') {
            sink_text(s, "0x");
            sink_number(s, (uintptr_t)va_arg(ap, void *), 16);
        } else if (*fmt == '%') {
            dh_sink_char(s, '%');
        } else {
            return; /* an unknown conversion would misread every later argument */
        }
    }
}

void dh_sink_printf(struct dh_sink *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    dh_sink_vprintf(s, fmt, ap);
    va_end(ap);
}

void dh_print_text(char *out, size_t n, const char *fmt, ...)
{
    struct dh_sink s;
    dh_sink_start(&s, -1);
    va_list ap;
    va_start(ap, fmt);
    dh_sink_vprintf(&s, fmt, ap);
    va_end(ap);
    size_t keep = s.n < n ? s.n : n - 1;
    dh_bytes_copy(out, s.bytes, keep);
    out[keep] = 0;
}

/* Standard error when the file cannot be opened: a message in the wrong place is better than none. */
int dh_print_open(void)
{
    const char *path = dh_options.log_path;
    if (!path || dh_text_equal(path, "stderr"))
        return 2;
    if (dh_text_equal(path, "stdout"))
        return 1;
    char name[DH_PRINT_BUFFER];
    dh_print_text(name, sizeof name, "%s.%d", path, dh_process.pid ? dh_process.pid : dh_sys_getpid());
    long fd = dh_sys_open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    return fd < 0 ? 2 : (int)fd;
}

static void print_to(int fd, const char *fmt, va_list ap)
{
    struct dh_sink s;
    dh_sink_start(&s, fd);
    dh_sink_vprintf(&s, fmt, ap);
    dh_sink_flush(&s);
}

void dh_print(const char *fmt, ...)
{
    int fd = dh_print_open();
    va_list ap;
    va_start(ap, fmt);
    print_to(fd, fmt, ap);
    va_end(ap);
    if (fd > 2)
        dh_sys_close(fd);
}

void dh_print_stderr(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_to(2, fmt, ap);
    va_end(ap);
}

const char *dh_print_error(int number, char *scratch, size_t n)
{
    static const struct {
        int number;
        const char *text;
    } known[] = {
        {EPERM, "Operation not permitted"},
        {ENOENT, "No such file or directory"},
        {EACCES, "Permission denied"},
        {ENOEXEC, "Exec format error"},
        {ENOMEM, "Cannot allocate memory"},
        {ENOTDIR, "Not a directory"},
        {EISDIR, "Is a directory"},
        {E2BIG, "Argument list too long"},
        {EROFS, "Read-only file system"},
        {ENOSPC, "No space left on device"},
        {ELOOP, "Too many levels of symbolic links"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == number)
            return known[i].text;
    dh_print_text(scratch, n, "error %d", number);
    return scratch;
}

void dh_print_file(const char *option, const char *path, void (*write)(struct dh_sink *out))
{
    char scratch[32];
    struct dh_sink out;
    long fd = dh_sys_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    dh_sink_start(&out, (int)fd);
    if (fd >= 0) {
        write(&out);
        dh_sink_flush(&out);
        dh_sys_close((int)fd);
    }
    if (fd < 0 || out.failed)
        dh_print("deadheat: cannot write %s: %s: %s\n", option, path,
                 fd < 0 ? dh_print_error((int)-fd, scratch, sizeof scratch) : "write failed");
}
