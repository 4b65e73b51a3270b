/* Memory and text primitives of the runtime's own. Layer: runtime. libc's are interposed later and may not be
 * relocated yet when the first hook runs. Async-signal-safe. */
#ifndef DH_RUNTIME_PLATFORM_BYTES_H
#define DH_RUNTIME_PLATFORM_BYTES_H

#include <stdbool.h>
#include <stddef.h>

static inline void dh_bytes_copy(void *to, const void *from, size_t n)
{
    void *d = to;
    const void *s = from;
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}

/* They may overlap. */
static inline void dh_bytes_move(void *to, const void *from, size_t n)
{
    char *d = to;
    const char *s = from;
    if ((size_t)(d - s) >= n)
        dh_bytes_copy(to, from, n);
    else
        for (; n; n--)
            d[n - 1] = s[n - 1];
}

static inline void dh_bytes_fill(void *at, unsigned byte, size_t n)
{
    void *d = at;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(byte) : "memory");
}

static inline void dh_bytes_zero(void *at, size_t n)
{
    void *d = at;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(0) : "memory");
}

static inline size_t dh_text_length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

static inline bool dh_text_equal(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* What follows `prefix` in `text`, or NULL. */
static inline const char *dh_text_after(const char *text, const char *prefix)
{
    while (*prefix)
        if (*text++ != *prefix++)
            return NULL;
    return text;
}

/* Cuts to fit; always ends with NUL. `n` > 0. */
static inline void dh_text_copy(char *to, size_t n, const char *from)
{
    size_t i = 0;
    for (; i + 1 < n && from[i]; i++)
        to[i] = from[i];
    to[i] = 0;
}

#endif
