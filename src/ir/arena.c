#include "ir/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
    struct dh_arena_block *fresh = malloc(sizeof *fresh + size);
    if (!fresh)
        abort();
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

static size_t place_of(const struct dh_map *m, const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(h >> 32) & m->mask;
    while (m->slot[at].key && m->slot[at].key != key)
        at = (at + 1) & m->mask;
    return at;
}

void *dh_map_find(const struct dh_map *m, const void *key)
{
    return m->slot && key ? m->slot[place_of(m, key)].value : NULL;
}

static void widen(struct dh_map *m)
{
    struct dh_map wider = {NULL, m->slot ? m->mask * 2 + 1 : 255, m->n};
    wider.slot = calloc(wider.mask + 1, sizeof *wider.slot);
    if (!wider.slot)
        abort();
    for (size_t i = 0; m->slot && i <= m->mask; i++)
        if (m->slot[i].key)
            wider.slot[place_of(&wider, m->slot[i].key)] = m->slot[i];
    free(m->slot);
    *m = wider;
}

void **dh_map_at(struct dh_map *m, const void *key)
{
    if (!m->slot || m->n * 2 > m->mask)
        widen(m);
    struct dh_map_slot *s = &m->slot[place_of(m, key)];
    if (!s->key) {
        s->key = key;
        m->n++;
    }
    return &s->value;
}

void dh_map_clear(struct dh_map *m)
{
    if (!m->n)
        return;
    /* A map that one huge function filled must not make every later function pay for its size. */
    if (m->mask > 4095 && m->n * 16 < m->mask) {
        dh_map_release(m);
        return;
    }
    memset(m->slot, 0, (m->mask + 1) * sizeof *m->slot);
    m->n = 0;
}

void dh_map_release(struct dh_map *m)
{
    free(m->slot);
    *m = (struct dh_map){NULL, 0, 0};
}
