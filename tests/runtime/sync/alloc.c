/* The malloc family. A block that was freed and comes again, to another thread, has no past: the writer's use of it is
 * not set against the reader's. `guarded` stands in one block that both get; broken: the reader uses the writer's
 * block as it is. */
#include "pair.h"

#include <malloc.h>
#include <stdint.h>

enum { SIZE = 3000 };

/* The race is told by the name of the member. */
struct block {
    int guarded[SIZE / sizeof(int)];
};

static struct block *block;

static void use(struct block *b)
{
    for (size_t i = 0; i < sizeof b->guarded / sizeof(int); i++)
        b->guarded[i]++;
}

static void *from_malloc(void)
{
    return malloc(SIZE);
}
static void *from_calloc(void)
{
    return calloc(SIZE / 4, 4);
}
static void *from_realloc(void)
{
    return realloc(realloc(NULL, 10), SIZE);
}
static void *from_reallocarray(void)
{
    return reallocarray(NULL, SIZE / 4, 4);
}
static void *from_memalign(void)
{
    return memalign(64, SIZE);
}
static void *from_aligned_alloc(void)
{
    return aligned_alloc(64, SIZE / 64 * 64 + 64);
}
static void *from_posix_memalign(void)
{
    void *at = NULL;
    CHECK(posix_memalign(&at, 256, SIZE) == 0);
    return at;
}
static void *from_valloc(void)
{
    return valloc(SIZE);
}
static void *from_pvalloc(void)
{
    return pvalloc(SIZE);
}
static void *from_strdup(void)
{
    char text[SIZE + 1];
    memset(text, 'x', SIZE);
    text[SIZE] = 0;
    char *copy = strdup(text);
    memset(copy, 0, SIZE);
    return copy;
}

/* Until the very block comes that the writer gave back, which its thread keeps to itself at first. */
static void writer(void *(*get)(void))
{
    block = get();
    CHECK(block);
    memset(block, 0, SIZE);
    use(block);
    if (!broken)
        free(block);
}

static struct block *block_of_writer(void)
{
    struct block *b;
    __asm__("mov %1, %0" : "=r"(b) : "m"(block)); /* which block it was is no matter of order */
    return b;
}

static void reader(void *(*get)(void))
{
    void *kept[2000], *at = NULL;
    int n = 0;
    if (broken) {
        use(block_of_writer());
        return;
    }
    for (; n < 2000; n++) {
        at = kept[n] = get();
        memset(at, 0, SIZE);
        use(at);
        if (at == block_of_writer())
            break;
    }
    for (int i = 0; i <= n && i < 2000; i++)
        free(kept[i]);
}

#define FAMILY(name)                                                                                                   \
    static void write_##name(int o)                                                                                    \
    {                                                                                                                  \
        (void)o;                                                                                                       \
        writer(from_##name);                                                                                           \
    }                                                                                                                  \
    static void read_##name(int o)                                                                                     \
    {                                                                                                                  \
        (void)o;                                                                                                       \
        reader(from_##name);                                                                                           \
    }
FAMILY(malloc)
FAMILY(calloc)
FAMILY(realloc)
FAMILY(reallocarray)
FAMILY(memalign)
FAMILY(aligned_alloc)
FAMILY(posix_memalign)
FAMILY(valloc)
FAMILY(pvalloc)
FAMILY(strdup)

/* realloc moves: what was the old place may be anybody's. */
static void move_away(int o)
{
    (void)o;
    block = malloc(SIZE);
    memset(block, 0, SIZE);
    use(block);
    char *fence = malloc(SIZE);
    CHECK(fence == (char *)block + SIZE + 8);
    if (!broken) {
        void *moved = realloc(block, 100 * SIZE);
        CHECK(moved && moved != block);
        free(moved);
    }
    free(fence);
}

/* Who asks how large a block really is may use all of it, also where a block freed before was larger. */
static void free_larger(int o)
{
    (void)o;
    block = malloc(SIZE + 16);
    memset(block, 0, SIZE + 16);
    if (!broken)
        free(block);
}
static void use_all(int o)
{
    char *at = o ? NULL : malloc(SIZE + 3);
    size_t n = at ? malloc_usable_size(at) : 0;
    if (at)
        memset(at, 1, n);
    for (size_t i = 0; i < n; i++)
        at[i]++;
    if (o)
        use(block_of_writer());
    free(at);
}

/* One arena for both threads, so that blocks do come again. */
static void one_arena(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
}

static const struct pair pairs[] = {
    {"malloc", one_arena, write_malloc, read_malloc, 0},
    {"calloc", one_arena, write_calloc, read_calloc, 0},
    {"realloc", one_arena, write_realloc, read_realloc, 0},
    {"reallocarray", one_arena, write_reallocarray, read_reallocarray, 0},
    {"memalign", one_arena, write_memalign, read_memalign, 0},
    {"aligned_alloc", one_arena, write_aligned_alloc, read_aligned_alloc, 0},
    {"posix_memalign", one_arena, write_posix_memalign, read_posix_memalign, 0},
    {"valloc", one_arena, write_valloc, read_valloc, 0},
    {"pvalloc", one_arena, write_pvalloc, read_pvalloc, 0},
    {"strdup", one_arena, write_strdup, read_strdup, 0},
    {"usable", one_arena, free_larger, use_all, 0},
    {"moved", one_arena, move_away, read_malloc, 0},
};
PAIRS_MAIN(pairs)
