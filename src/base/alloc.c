#include "base/alloc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Nothing that allocates: there is no memory. */
static _Noreturn void give_up(size_t n, size_t size)
{
    char line[96];
    int length = snprintf(line, sizeof line, "deadheat: out of memory (wanted %zu times %zu bytes)\n", n, size);
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
    abort();
}

void *dh_xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        give_up(1, size);
    return p;
}

void *dh_xcalloc(size_t n, size_t size)
{
    void *p = n && size ? calloc(n, size) : calloc(1, 1);
    if (!p)
        give_up(n, size);
    return p;
}

void *dh_xrealloc(void *at, size_t n, size_t size)
{
    size_t bytes;
    void *p = __builtin_mul_overflow(n, size, &bytes) ? NULL : realloc(at, bytes ? bytes : 1);
    if (!p)
        give_up(n, size);
    return p;
}

void *dh_xmemdup(const void *from, size_t size)
{
    void *p = dh_xmalloc(size);
    if (size) /* empty tables have no address */
        memcpy(p, from, size);
    return p;
}
