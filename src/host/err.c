#include "host/err.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool set(struct dh_err *e, const char *suffix, const char *fmt, va_list ap)
{
    struct dh_str s = {0};
    dh_str_vaddf(&s, fmt, ap);
    if (suffix)
        dh_str_addf(&s, ": %s", suffix);
    free(e->text);
    e->text = dh_str_take(&s);
    return false;
}

bool dh_err_set(struct dh_err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(e, NULL, fmt, ap);
    va_end(ap);
    return false;
}

bool dh_err_usage(struct dh_err *e, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(e, NULL, fmt, ap);
    va_end(ap);
    e->is_usage = true;
    return false;
}

bool dh_err_late(struct dh_err *e, const char *what)
{
    dh_err_set(e, "time was over before %s ended", what);
    e->is_late = true;
    return false;
}

bool dh_err_errno(struct dh_err *e, const char *fmt, ...)
{
    const char *why = strerror(errno);
    va_list ap;
    va_start(ap, fmt);
    set(e, why, fmt, ap);
    va_end(ap);
    return false;
}

bool dh_err_while(struct dh_err *e, const char *fmt, ...)
{
    struct dh_str s = {0};
    dh_str_addf(&s, "%s, while ", e->text ? e->text : "failed");
    va_list ap;
    va_start(ap, fmt);
    dh_str_vaddf(&s, fmt, ap);
    va_end(ap);
    free(e->text);
    e->text = dh_str_take(&s);
    return false;
}

void dh_err_release(struct dh_err *e)
{
    free(e->text);
    *e = (struct dh_err){0};
}
