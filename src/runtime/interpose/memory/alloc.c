/* The malloc family, and what calls it on behalf of the program: operator new and delete, strdup, reallocarray. A
 * program's own malloc comes before ours and is not seen: its own locks order the reuse of memory. */
#include "runtime/interpose/memory/alloc.h"

#include "runtime/engine/checks/quarantine.h"
#include "runtime/interpose/interpose.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <sys/mman.h>

/* ---- pools ---- */

/* Nothing is used twice. The size lies before each block. */
struct pool {
    char *bytes;
    size_t size, used;
};

enum { POOL = 16384, INNER_POOL = 64 << 20, POOL_ALIGNMENT = 16 };

/* Before the real functions are known: the dynamic linker, asked for them, may allocate a few bytes. */
static _Alignas(POOL_ALIGNMENT) char first_bytes[POOL];
static struct pool first = {first_bytes, POOL, 0};
/* On the engine's behalf. */
static struct pool engines;
static unsigned inner_calls;

static bool is_of(const struct pool *p, const void *at)
{
    return (uintptr_t)at - (uintptr_t)p->bytes < p->size;
}

static bool is_pooled(const void *at)
{
    return is_of(&first, at) || is_of(&engines, at);
}

/* Zeroed. */
static void *take_from(struct pool *p, size_t n)
{
    size_t whole = POOL_ALIGNMENT + ((n + POOL_ALIGNMENT - 1) & ~(size_t)(POOL_ALIGNMENT - 1));
    if (n > p->size || whole > p->size - p->used)
        return NULL;
    char *at = p->bytes + p->used;
    p->used += whole;
    *(size_t *)at = n;
    return at + POOL_ALIGNMENT;
}

static void *pool_take(size_t n)
{
    return take_from(&first, n);
}

static size_t pooled_size(const void *at)
{
    return *(const size_t *)((const char *)at - POOL_ALIGNMENT);
}

/* ---- on the engine's behalf ---- */

void dh_alloc_inner_begin(void)
{
    if (!engines.size) {
        void *at = dh_sys_mmap(INNER_POOL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
        if (at != MAP_FAILED)
            engines = (struct pool){at, INNER_POOL, 0};
    }
    inner_calls++;
}

void dh_alloc_inner_end(void)
{
    inner_calls--;
}

bool __dh_inner_takes(const void *block)
{
    return block ? is_of(&engines, block) : inner_calls && engines.used < engines.size / 2;
}

void *__dh_inner_malloc(size_t n)
{
    return take_from(&engines, n);
}

void *__dh_inner_calloc(size_t n, size_t each)
{
    return take_from(&engines, n * each);
}

void *__dh_inner_realloc(void *old, size_t n)
{
    void *at = take_from(&engines, n);
    if (at && old)
        dh_bytes_copy(at, old, pooled_size(old) < n ? pooled_size(old) : n);
    return at;
}

void __dh_inner_free(void *at)
{
    (void)at;
}

/* ---- the call that counts ---- */

/* How far a function of the library that allocates lies from our own frame, at most. An exception may have left its
 * announcement behind. */
#define NEAR 4096

static __thread const uintptr_t *announced;
static __thread const void *reported_free;

static bool is_near(const uintptr_t *outer, const uintptr_t *inner)
{
    return outer && (uintptr_t)outer - (uintptr_t)inner < NEAR;
}

/* One such function may call another: the first of them counts. */
void dh_alloc_announce(const uintptr_t *call_slot)
{
    if (!is_near(announced, call_slot))
        announced = call_slot;
}

bool dh_alloc_withdraw(void)
{
    bool unused = announced != NULL;
    announced = NULL;
    return unused;
}

void dh_alloc_freeing(const void *at, const uintptr_t *call_slot)
{
    if (reported_free != at)
        dh_memory_freed(at, call_slot);
    reported_free = at;
}

void dh_alloc_freed(void)
{
    reported_free = NULL;
}

static const uintptr_t *caller(const uintptr_t *own)
{
    const uintptr_t *other = announced;
    announced = NULL;
    return is_near(other, own) ? other : own;
}

/* ---- new blocks ---- */

/* `early` is for the time when there is no real one, `inside` on the engine's behalf. */
#define NEW_BLOCK(name, parameters, arguments, size, early, inside)                                                    \
    static void *dh_interposed_##name parameters                                                                       \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        if (__builtin_expect(!dh_real.name, 0))                                                                        \
            return early;                                                                                              \
        void *served = __builtin_expect(inner_calls, 0) ? inside : NULL;                                               \
        if (served)                                                                                                    \
            return served;                                                                                             \
        void *at = dh_real.name arguments;                                                                             \
        if (at)                                                                                                        \
            dh_memory_allocated(at, size, caller(DH_CALL_SLOT));                                                       \
        if (at && __builtin_expect(dh_engine_on, 0))                                                                   \
            dh_quarantine_allocated(at, size);                                                                         \
        return at;                                                                                                     \
    }                                                                                                                  \
    DH_INTERPOSE(name);

NEW_BLOCK(malloc, (size_t n), (n), n, pool_take(n), __dh_inner_malloc(n))
NEW_BLOCK(calloc, (size_t n, size_t each), (n, each), n *each, pool_take(n *each), __dh_inner_calloc(n, each))
NEW_BLOCK(memalign, (size_t alignment, size_t n), (alignment, n), n, NULL, NULL)
NEW_BLOCK(aligned_alloc, (size_t alignment, size_t n), (alignment, n), n, NULL, NULL)
NEW_BLOCK(valloc, (size_t n), (n), n, NULL, NULL)
/* Whole pages, at least one. */
NEW_BLOCK(pvalloc, (size_t n), (n), n ? (n + 4095) & ~(size_t)4095 : 4096, NULL, NULL)

static int dh_interposed_posix_memalign(void **out, size_t alignment, size_t n)
{
    dh_interpose_ready();
    int result = dh_real.posix_memalign(out, alignment, n);
    if (result == 0 && *out)
        dh_memory_allocated(*out, n, DH_CALL_SLOT);
    return result;
}
DH_INTERPOSE(posix_memalign);

/* ---- and their ends ---- */

static void dh_interposed_free(void *at)
{
    if (!at || is_pooled(at))
        return;
    dh_interpose_ready();
    if (at != reported_free)
        dh_memory_freed(at, DH_CALL_SLOT);
    reported_free = NULL;
    if (__builtin_expect(dh_engine_on, 0) && dh_quarantine_free(at))
        return;
    if (dh_real.free)
        dh_real.free(at);
}
DH_INTERPOSE(free);

static void *leave_pool(void *old, size_t n)
{
    void *at = dh_real.malloc ? dh_real.malloc(n) : pool_take(n);
    if (at)
        dh_bytes_copy(at, old, pooled_size(old) < n ? pooled_size(old) : n);
    return at;
}

/* The old block is reported freed before: once the real function freed it, another thread may get it. Should
 * there be no memory it lives on, its past forgotten. What lies in the new block was copied there by the caller. */
static void *dh_interposed_realloc(void *old, size_t n)
{
    if (!old)
        return dh_interposed_malloc(n);
    dh_interpose_ready();
    if (is_pooled(old))
        return leave_pool(old, n);
    const uintptr_t *slot = caller(DH_CALL_SLOT);
    size_t before = dh_real.malloc_usable_size(old);
    dh_memory_freed(old, slot);
    void *at = dh_real.realloc(old, n);
    if (at)
        dh_memory_allocated(at, n, slot);
    else if (n)
        dh_memory_allocated(old, before, slot);
    return at;
}
DH_INTERPOSE(realloc);

static void *dh_interposed_reallocarray(void *old, size_t n, size_t each)
{
    dh_interpose_ready();
    dh_alloc_announce(DH_CALL_SLOT);
    void *at = dh_real.reallocarray(old, n, each);
    dh_alloc_withdraw();
    return at;
}
DH_INTERPOSE(reallocarray);

/* Programs that ask use all there is. */
static size_t dh_interposed_malloc_usable_size(void *at)
{
    dh_interpose_ready();
    if (is_pooled(at))
        return pooled_size(at);
    size_t size = dh_real.malloc_usable_size(at);
    dh_memory_extended(at, size);
    return size;
}
DH_INTERPOSE(malloc_usable_size);
