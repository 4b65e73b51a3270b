/* KEEP memory, which restore leaves alone: one reservation, allocated from its beginning, so that the program's own
 * mappings get the same addresses in every schedule. */
#include "runtime/engine/engine.h"

#include "runtime/platform/raw_syscall.h"

#include <sys/mman.h>

enum { ALIGN = 64 };
#define MOST ((size_t)1 << 37)
#define LEAST ((size_t)256 << 20)

struct dh_engine *dh_engine;

/* The upper three quarters, which children share. */
static bool share(char *at, size_t size)
{
    long result = dh_syscall6(SYS_mmap, (long)(at + size / 4), (long)(size / 4 * 3), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return result == (long)(at + size / 4);
}

static void divide(struct dh_engine *e, char *at, size_t size)
{
    e->keep = at + ((sizeof *e + ALIGN - 1) & ~(size_t)(ALIGN - 1));
    e->lasting = e->keep_end = at + size / 4;
    e->search_memory = e->search_next = e->lasting_end = at + size / 2;
    e->search_end = at + size;
}

bool dh_keep_init(struct dh_engine **out, enum dh_keep_sharing sharing)
{
    int how = sharing == DH_KEEP_SHARES_ALL ? MAP_SHARED : MAP_PRIVATE;
    for (size_t size = MOST; size >= LEAST; size /= 2) {
        char *at = dh_sys_mmap(size, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS | MAP_NORESERVE);
        if (!at || (sharing == DH_KEEP_SHARES_LASTING && !share(at, size)))
            continue;
        *out = (struct dh_engine *)at;
        divide(*out, at, size);
        return true;
    }
    return false;
}

static void *take(char **from, const char *end, size_t n)
{
    n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (n > (size_t)(end - *from))
        return NULL;
    void *at = *from;
    *from += n;
    return at;
}

void *dh_keep_alloc(size_t n)
{
    return take(&dh_engine->keep, dh_engine->keep_end, n);
}

void *dh_keep_lasting(size_t n)
{
    return take(&dh_engine->lasting, dh_engine->lasting_end, n);
}

void *dh_keep_private(size_t n)
{
    return dh_engine->flags & DH_ENGINE_FORK ? dh_sys_mmap(n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)
                                             : dh_keep_alloc(n);
}

bool dh_keep_contains(uintptr_t address)
{
    return address >= (uintptr_t)dh_engine && address < (uintptr_t)dh_engine->search_end;
}
