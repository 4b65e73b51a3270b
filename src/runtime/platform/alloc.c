#include "runtime/platform/alloc.h"

#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

enum {
    SMALLEST = 5,   /* log2 of the smallest block */
    LARGEST = 22,   /* log2 of the largest block that is kept for reuse */
    FROM_CHUNK = 14 /* log2 of the largest block cut from a chunk; larger ones are mapped singly */
};
#define CHUNK_SIZE ((size_t)256 << 10)

/* A list head packs the block's address (16-aligned, 48 bits) with a tag that changes at every pop and push, so
 * that a block which left and came back is not taken for one that stayed. */
#define TAG_BITS 20
#define TAG_MASK (((uint64_t)1 << TAG_BITS) - 1)

struct block {
    _Atomic(struct block *) next;
};

struct chunk {
    atomic_size_t used; /* may run past `size` when several threads find the chunk full */
    size_t size;
};

static _Atomic uint64_t free_lists[LARGEST + 1];
static _Atomic(struct chunk *) current;

static uint64_t pack(struct block *b, uint64_t tag)
{
    return (uintptr_t)b >> 4 << TAG_BITS | (tag & TAG_MASK);
}

static struct block *unpack(uint64_t head)
{
    return (struct block *)(uintptr_t)(head >> TAG_BITS << 4);
}

static void *pop(_Atomic uint64_t *list)
{
    uint64_t head = atomic_load_explicit(list, memory_order_acquire);
    struct block *b;
    while ((b = unpack(head))) {
        /* Another thread may own the block by now; what is read then is thrown away by the failing exchange. */
        struct block *next = atomic_load_explicit(&b->next, memory_order_relaxed);
        if (atomic_compare_exchange_weak_explicit(list, &head, pack(next, head + 1), memory_order_acquire,
                                                  memory_order_acquire))
            return b;
    }
    return NULL;
}

static void push(_Atomic uint64_t *list, struct block *b)
{
    uint64_t head = atomic_load_explicit(list, memory_order_relaxed);
    do
        atomic_store_explicit(&b->next, unpack(head), memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(list, &head, pack(b, head + 1), memory_order_release,
                                                  memory_order_relaxed));
}

static void *map(size_t size)
{
    return dh_sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
}

static void *cut_from(struct chunk *c, size_t size)
{
    size_t at = atomic_fetch_add_explicit(&c->used, size, memory_order_relaxed);
    return at + size <= c->size ? (char *)c + at : NULL;
}

/* `size` is a multiple of 16 and much smaller than a chunk. */
static void *cut(size_t size)
{
    for (;;) {
        struct chunk *c = atomic_load_explicit(&current, memory_order_acquire);
        void *at = c ? cut_from(c, size) : NULL;
        if (at)
            return at;
        struct chunk *fresh = map(CHUNK_SIZE);
        if (!fresh)
            return NULL;
        fresh->size = CHUNK_SIZE;
        atomic_store_explicit(&fresh->used, 64, memory_order_relaxed);
        if (!atomic_compare_exchange_strong_explicit(&current, &c, fresh, memory_order_acq_rel, memory_order_acquire))
            dh_sys_munmap(fresh, CHUNK_SIZE);
    }
}

static unsigned size_class(size_t size)
{
    unsigned bits = size <= 1 ? 0 : 64 - (unsigned)__builtin_clzl(size - 1);
    return bits < SMALLEST ? SMALLEST : bits;
}

void *dh_alloc(size_t size)
{
    unsigned c = size_class(size);
    if (c > LARGEST)
        return map(size);
    void *at = pop(&free_lists[c]);
    if (at)
        return at;
    return c <= FROM_CHUNK ? cut((size_t)1 << c) : map((size_t)1 << c);
}

void dh_free(void *at, size_t size)
{
    if (!at)
        return;
    unsigned c = size_class(size);
    if (c > LARGEST)
        dh_sys_munmap(at, size);
    else
        push(&free_lists[c], at);
}

void *dh_alloc_forever(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    return size <= (size_t)1 << FROM_CHUNK ? cut(size) : map(size); /* chunks are never used twice: still zero */
}

const char *dh_alloc_text(const char *text)
{
    size_t n = dh_text_length(text) + 1;
    char *copy = dh_alloc_forever(n);
    if (copy)
        dh_bytes_copy(copy, text, n);
    return copy;
}

char *dh_alloc_joined(const char *a, const char *b)
{
    size_t na = dh_text_length(a), nb = dh_text_length(b);
    char *text = dh_alloc_forever(na + nb + 1);
    if (text) {
        dh_bytes_copy(text, a, na);
        dh_bytes_copy(text + na, b, nb);
    }
    return text;
}
