/* A small allocator that stands for libc's: lists of free blocks of a few sizes over memory of its own. The lock is the
 * test's business: LOCK and UNLOCK. */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { CLASSES = 24, CHUNK = 1 << 20, HEADER = 16 };

struct free_block {
    struct free_block *next;
};

static struct free_block *lists[CLASSES];
static char *chunk, *chunk_end;

static unsigned class_of(size_t n)
{
    unsigned c = 0;
    while (((size_t)32 << c) < n + HEADER)
        c++;
    return c;
}

static void *carve(unsigned c)
{
    size_t size = (size_t)32 << c;
    if (!chunk || (size_t)(chunk_end - chunk) < size) {
        size_t whole = size > CHUNK ? size : CHUNK;
        char *at = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return NULL;
        chunk = at;
        chunk_end = at + whole;
    }
    char *at = chunk;
    chunk += size;
    *(size_t *)at = c;
    return at + HEADER;
}

static void *take(size_t n)
{
    unsigned c = class_of(n);
    struct free_block *b = c < CLASSES ? lists[c] : NULL;
    if (c >= CLASSES)
        return NULL;
    if (!b)
        return carve(c);
    lists[c] = b->next;
    return b;
}

static void give(void *at)
{
    size_t c = *(size_t *)((char *)at - HEADER);
    struct free_block *b = at;
    b->next = lists[c];
    lists[c] = b;
}

void *malloc(size_t n)
{
    LOCK;
    void *at = take(n);
    UNLOCK;
    return at;
}

void *calloc(size_t n, size_t each)
{
    void *at = malloc(n * each);
    return at ? memset(at, 0, n * each) : NULL;
}

void *memalign(size_t alignment, size_t n)
{
    /* Every block is aligned to 16; what needs more is taken whole and never given back. */
    if (alignment <= 16)
        return malloc(n);
    char *at = mmap(NULL, n + alignment + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at = (char *)(((uintptr_t)at + HEADER + alignment - 1) & ~(alignment - 1));
    *(size_t *)(at - HEADER) = CLASSES;
    return at;
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

int posix_memalign(void **out, size_t alignment, size_t n)
{
    *out = memalign(alignment, n);
    return *out ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *at)
{
    size_t c = at ? *(size_t *)((char *)at - HEADER) : 0;
    return at && c < CLASSES ? ((size_t)32 << c) - HEADER : 0;
}

static void release(void *at);

void free(void *at)
{
    if (at && *(size_t *)((char *)at - HEADER) < CLASSES)
        release(at);
}

void *realloc(void *old, size_t n)
{
    size_t before = malloc_usable_size(old);
    void *at = malloc(n);
    if (at && old)
        memcpy(at, old, before < n ? before : n);
    free(old);
    return at;
}
