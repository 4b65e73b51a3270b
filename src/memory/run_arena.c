#include "memory/run_arena.h"

typedef uint64_t __attribute__((may_alias)) word;

/* Without libc, whose functions the runtime watches; `size` is a multiple of eight, both are aligned. */
static void copy_bytes(void *to, const void *from, size_t size)
{
    word *t = to;
    const word *f = from;
    for (size_t i = 0; i < size / 8; i++)
        t[i] = f[i];
}

void dh_run_arena_clear(struct dh_run_arena *a)
{
    for (unsigned i = 0; i < DH_RUN_ARENA_SEGMENTS; i++)
        a->marks.used[i] = 0;
    a->marks.now = 0;
}

static bool grow(struct dh_run_arena *a, unsigned i, size_t size)
{
    size_t room = (size_t)DH_RUN_ARENA_FIRST << i;
    while (room < size)
        room *= 2;
    a->at[i] = a->memory->memory(a->memory, room);
    a->room[i] = a->at[i] ? room : 0;
    return a->at[i];
}

/* A segment that is too small for this one is left as it is: the next has room for much more. */
void *dh_run_arena_take(struct dh_run_arena *a, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    for (unsigned i = a->marks.now; i < DH_RUN_ARENA_SEGMENTS; i++) {
        if (!a->room[i] && !grow(a, i, size))
            break;
        if (a->room[i] - a->marks.used[i] < size)
            continue;
        word *at = (word *)(a->at[i] + a->marks.used[i]);
        a->marks.used[i] += size;
        a->marks.now = i;
        for (size_t w = 0; w < size / 8; w++)
            at[w] = 0;
        return at;
    }
    a->memory->lost.no_memory++;
    return NULL;
}

size_t dh_run_arena_snapshot_size(const struct dh_run_arena *a)
{
    size_t size = sizeof a->marks;
    for (unsigned i = 0; i <= a->marks.now; i++)
        size += a->marks.used[i];
    return size;
}

void dh_run_arena_snapshot(const struct dh_run_arena *a, void *to)
{
    copy_bytes(to, &a->marks, sizeof a->marks);
    char *at = (char *)to + sizeof a->marks;
    for (unsigned i = 0; i <= a->marks.now; at += a->marks.used[i++])
        copy_bytes(at, a->at[i], a->marks.used[i]);
}

void dh_run_arena_restore(struct dh_run_arena *a, const void *from)
{
    copy_bytes(&a->marks, from, sizeof a->marks);
    const char *at = (const char *)from + sizeof a->marks;
    for (unsigned i = 0; i <= a->marks.now; at += a->marks.used[i++])
        copy_bytes(a->at[i], at, a->marks.used[i]);
}
