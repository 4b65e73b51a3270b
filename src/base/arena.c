#include "base/arena.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct dh_arena_block {
    struct dh_arena_block *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

enum { BLOCK_SIZE = 64 * 1024 };

static struct dh_arena_block *block_for(struct dh_arena *a, size_t n)
{
    struct dh_arena_block *b = a->now;
    while (b && b->size - b->used < n && b->next) {
        b = b->next;
        b->used = 0;
    }
    if (b && b->size - b->used >= n)
        return a->now = b;
    size_t size = n > BLOCK_SIZE ? n : BLOCK_SIZE;
    struct dh_arena_block *fresh = dh_xmalloc(sizeof *fresh + size);
    *fresh = (struct dh_arena_block){NULL, 0, size};
    if (b)
        b->next = fresh;
    else
        a->first = fresh;
    return a->now = fresh;
}

static void *take_raw(struct dh_arena *a, size_t n)
{
    n = (n + 15) & ~(size_t)15;
    struct dh_arena_block *b = block_for(a, n);
    void *at = b->bytes + b->used;
    b->used += n;
    return at;
}

void *dh_arena_take(struct dh_arena *a, size_t n)
{
    return memset(take_raw(a, n), 0, n);
}

char *dh_arena_text(struct dh_arena *a, const char *text, size_t n)
{
    char *at = take_raw(a, n + 1);
    if (n)
        memcpy(at, text, n);
    at[n] = '\0';
    return at;
}

char *dh_arena_format(struct dh_arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *at = take_raw(a, (size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(at, (size_t)(n < 0 ? 0 : n) + 1, fmt, again);
    va_end(again);
    return at;
}

char *dh_arena_join(struct dh_arena *a, ...)
{
    va_list ap;
    size_t n = 0;
    va_start(ap, a);
    for (const char *t; (t = va_arg(ap, const char *));)
        n += strlen(t);
    va_end(ap);
    char *text = take_raw(a, n + 1), *at = text;
    va_start(ap, a);
    for (const char *t; (t = va_arg(ap, const char *));)
        at = stpcpy(at, t);
    va_end(ap);
    *at = '\0';
    return text;
}

void dh_arena_clear(struct dh_arena *a)
{
    a->now = a->first;
    if (a->now)
        a->now->used = 0;
}

void dh_arena_release(struct dh_arena *a)
{
    for (struct dh_arena_block *b = a->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (struct dh_arena){NULL, NULL};
}
