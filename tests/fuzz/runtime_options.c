/* DEADHEAT_OPTIONS with anything in it. */
#include "runtime/core/options.h"
#include "runtime/core/start.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/print.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

struct dh_process dh_process;
static char *copy;

const char *dh_alloc_text(const char *text)
{
    free(copy);
    return copy = strdup(text);
}

static volatile size_t sum;

static void use_text(const char *text)
{
    sum += text ? strlen(text) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    char *text = malloc(n + 1);
    memcpy(text, input, n);
    text[n] = 0;
    dh_options_read(text);
    free(text);
    use_text(dh_options.detect);
    use_text(dh_options.log);
    use_text(dh_options.suppressions);
    use_text(dh_options.threads_file);
    char *path = strdup(dh_options.log_path ? dh_options.log_path : "");
    use_text(path);
    free(path);
    return 0;
}

/* What it has to say is formatted and dropped: the options may name any file to write to. */
static void drop(const char *fmt, va_list ap)
{
    struct dh_sink s;
    dh_sink_start(&s, -1);
    dh_sink_vprintf(&s, fmt, ap);
}

void dh_print(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    drop(fmt, ap);
    va_end(ap);
}

void dh_print_stderr(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    drop(fmt, ap);
    va_end(ap);
}
