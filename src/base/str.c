#include "base/str.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static void reserve(struct dh_str *s, size_t more)
{
    if (s->n + more + 1 <= s->cap)
        return;
    size_t cap = s->cap ? s->cap : 64;
    while (cap < s->n + more + 1)
        cap *= 2;
    s->at = dh_xrealloc(s->at, cap, 1);
    s->cap = cap;
}

void dh_str_add_n(struct dh_str *s, const char *text, size_t n)
{
    reserve(s, n);
    if (n) /* empty tables have no address */
        memcpy(s->at + s->n, text, n);
    s->n += n;
    s->at[s->n] = 0;
}

void dh_str_add(struct dh_str *s, const char *text)
{
    dh_str_add_n(s, text, strlen(text));
}

void dh_str_vaddf(struct dh_str *s, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n < 0)
        abort();
    reserve(s, (size_t)n);
    vsnprintf(s->at + s->n, (size_t)n + 1, fmt, again);
    va_end(again);
    s->n += (size_t)n;
}

void dh_str_addf(struct dh_str *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    dh_str_vaddf(s, fmt, ap);
    va_end(ap);
}

void dh_str_clear(struct dh_str *s)
{
    s->n = 0;
    if (s->at)
        s->at[0] = 0;
}

void dh_str_release(struct dh_str *s)
{
    free(s->at);
    *s = (struct dh_str){0};
}

char *dh_str_take(struct dh_str *s)
{
    reserve(s, 0);
    s->at[s->n] = 0;
    char *at = s->at;
    *s = (struct dh_str){0};
    return at;
}

char *dh_format(const char *fmt, ...)
{
    struct dh_str s = {0};
    va_list ap;
    va_start(ap, fmt);
    dh_str_vaddf(&s, fmt, ap);
    va_end(ap);
    return dh_str_take(&s);
}

char *dh_strdup(const char *text)
{
    return dh_strndup(text, strlen(text));
}

char *dh_strndup(const char *text, size_t n)
{
    char *copy = dh_xmalloc(n + 1);
    if (n) /* empty tables have no address */
        memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

bool dh_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool dh_ends_with(const char *text, const char *suffix)
{
    size_t n = strlen(text), k = strlen(suffix);
    return n >= k && strcmp(text + n - k, suffix) == 0;
}

const char *dh_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
