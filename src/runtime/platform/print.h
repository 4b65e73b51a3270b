/* Formatted output of the runtime. Layer: runtime. No libc, no allocation: usable in signal handlers.
 * Knows %s %c %d %u %x %p %%, and l before d u x. A line of up to DH_PRINT_BUFFER bytes is one write. */
#ifndef DH_RUNTIME_PLATFORM_PRINT_H
#define DH_RUNTIME_PLATFORM_PRINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#define DH_PRINT_BUFFER 512

/* Collects text and writes it to `fd` when full or flushed; `fd` < 0: keeps the first bytes only. */
struct dh_sink {
    int fd;
    bool failed;
    size_t n;
    char bytes[DH_PRINT_BUFFER];
};

void dh_sink_start(struct dh_sink *s, int fd);
void dh_sink_char(struct dh_sink *s, char c);
void dh_sink_printf(struct dh_sink *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dh_sink_vprintf(struct dh_sink *s, const char *fmt, va_list ap);
void dh_sink_flush(struct dh_sink *s);

/* To where the option log_path says: standard error, or PATH.PID, opened for each message so that no descriptor
 * of the program's is taken. */
void dh_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* That descriptor; one above 2 is the caller's to close. */
int dh_print_open(void);
/* Always to standard error: for what is said before or about the options. */
void dh_print_stderr(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Makes the file that an option names and lets `write` fill it; a message says why it could not. */
void dh_print_file(const char *option, const char *path, void (*write)(struct dh_sink *out));
/* printf into `out`, cut to fit. */
void dh_print_text(char *out, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "No such file or directory" for ENOENT; the common ones only, others as "error N". */
const char *dh_print_error(int number, char *scratch, size_t n);

#endif
