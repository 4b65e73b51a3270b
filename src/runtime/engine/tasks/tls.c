/* Thread-local storage of coroutines: blocks as libc allocates them for its threads, before the snapshot, so that every
 * schedule finds them as new. */
#include "runtime/engine/tasks/coroutine.h"

#include "runtime/core/frames.h"
#include "runtime/engine/primitives/thread_keys.h"
#include "runtime/interpose/memory/alloc.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/bytes.h"

#include <ctype.h>
#include <errno.h>

enum { PREPARED = 64, HEADER_SELF = 0, HEADER_THREADS = 3, HEADER_CANARY = 5, HEADER_GUARD = 6 };

/* As libthread_db reads them: bits, elements, offset. */
typedef const uint32_t db_field[3];

static struct {
    void *(*allocate)(void *);
    void (*ctype_init)(void);
    void (*call_dtors)(void);
    void (*static_info)(size_t *, size_t *);
    const uint32_t *record; /* size of libc's record of a thread */
    db_field *tid, *specific;
    ptrdiff_t *rseq_offset;
    uintptr_t blocks[PREPARED];
} tls;

static void *private_symbol(const char *name)
{
    void *f = dlvsym(RTLD_DEFAULT, name, "GLIBC_PRIVATE");
    return f ? f : dlsym(RTLD_DEFAULT, name);
}

void dh_tls_init(void)
{
    tls.allocate = (void *(*)(void *))private_symbol("_dl_allocate_tls");
    tls.ctype_init = (void (*)(void))private_symbol("__ctype_init");
    tls.call_dtors = (void (*)(void))private_symbol("__call_tls_dtors");
    tls.tid = private_symbol("_thread_db_pthread_tid");
    tls.static_info = (void (*)(size_t *, size_t *))private_symbol("_dl_get_tls_static_info");
    tls.record = private_symbol("_thread_db_sizeof_pthread");
    tls.specific = private_symbol("_thread_db_pthread_specific");
    tls.rseq_offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
}

static uint64_t *header_now(void)
{
    uint64_t *self;
    __asm__ volatile("mov %%fs:0, %0" : "=r"(self) : : "memory");
    return self;
}

/* With the new block's thread pointer set: what libc does first in a thread. */
static void init_block(uintptr_t fs)
{
    uintptr_t before = (uintptr_t)header_now();
    dh_engine->current_fs = before;
    dh_engine_set_thread_pointer(fs);
    tls.ctype_init();
    dh_frames_init(&__dh_thread);
    dh_engine_set_thread_pointer(before);
}

static uintptr_t allocate_block(void)
{
    uint64_t *mine = header_now();
    dh_alloc_inner_begin();
    uint64_t *tcb = tls.allocate(NULL);
    dh_alloc_inner_end();
    if (!tcb)
        return 0;
    tcb[HEADER_SELF] = tcb[2] = (uint64_t)(uintptr_t)tcb;
    ((uint32_t *)tcb)[2 * HEADER_THREADS] = 1;
    tcb[HEADER_CANARY] = mine[HEADER_CANARY];
    tcb[HEADER_GUARD] = mine[HEADER_GUARD];
    if (tls.specific) /* the first block of keys is in the record itself, as libc's own code finds it there */
        *(void **)((char *)tcb + (*tls.specific)[2]) = (char *)tcb + (*tls.specific)[2] - DH_THREAD_KEYS_FIRST_BLOCK;
    if (tls.rseq_offset) { /* not registered: { cpu_id_start, cpu_id } */
        int32_t *rseq = (int32_t *)((char *)tcb + *tls.rseq_offset);
        rseq[0] = 0;
        rseq[1] = -2;
    }
    init_block((uintptr_t)tcb);
    return (uintptr_t)tcb;
}

bool dh_tls_prepare(void)
{
    if (!tls.allocate || !tls.ctype_init || !tls.call_dtors || !tls.tid)
        return false;
    for (unsigned i = 0; i < PREPARED; i++)
        tls.blocks[i] = allocate_block();
    return tls.blocks[PREPARED - 1];
}

size_t dh_tls_size(void)
{
    size_t size = 0, align = 0;
    if (!tls.static_info || !tls.record)
        return 0;
    tls.static_info(&size, &align);
    return size > *tls.record ? size - *tls.record : 0;
}

uintptr_t dh_tls_of(uint32_t index, uint32_t tid)
{
    uintptr_t at = index < PREPARED ? tls.blocks[index] : allocate_block();
    if (at)
        *(uint32_t *)(at + (*tls.tid)[2]) = tid;
    return at;
}

static __thread int probe = 42;

#if __has_attribute(noipa)
#define APART __attribute__((noipa))
#else
#define APART __attribute__((noinline, optnone))
#endif

/* Compilers assume that pthread_self and the address of errno do not change within a function. */
APART static bool is_fresh(uintptr_t self)
{
    return (uintptr_t)pthread_self() == self && probe == 42 && isalpha('x') && !isalpha('1');
}

APART static int exchange(int value, int error)
{
    int before = errno;
    probe = value;
    errno = error;
    return before;
}

bool dh_tls_works(void)
{
    uintptr_t here = (uintptr_t)header_now(), there = tls.blocks[PREPARED - 1];
    int error = exchange(42, EXDEV);
    dh_engine_set_thread_pointer(there);
    bool ok = is_fresh(there) && exchange(43, ENOENT) == 0;
    dh_engine_set_thread_pointer(here);
    ok = ok && is_fresh(here) && exchange(42, error) == EXDEV;
    dh_engine_set_thread_pointer(there);
    ok = ok && exchange(42, 0) == ENOENT;
    dh_engine_set_thread_pointer(here);
    return ok;
}

void dh_tls_end(struct dh_task *t)
{
    (void)t;
    if (tls.call_dtors)
        tls.call_dtors();
    dh_thread_keys_destroy_values();
}
