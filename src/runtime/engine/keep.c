/* KEEP memory, which restore leaves alone: one reservation, allocated from its beginning, so that the program's own
 * mappings get the same addresses in every schedule. */
#include "runtime/engine/engine.h"

#include "runtime/platform/raw_syscall.h"

#include <sys/mman.h>

enum { ALIGN = 64 };
#define MOST ((size_t)1 << 37)
#define LEAST ((size_t)64 << 20)

struct dh_engine *dh_engine;

bool dh_keep_init(struct dh_engine **out, bool shared)
{
    int how = shared ? MAP_SHARED : MAP_PRIVATE;
    for (size_t size = MOST; size >= LEAST; size /= 2) {
        char *at = dh_sys_mmap(size, PROT_READ | PROT_WRITE, how | MAP_ANONYMOUS | MAP_NORESERVE);
        if (!at)
            continue;
        struct dh_engine *e = (struct dh_engine *)at;
        e->keep = at + ((sizeof *e + ALIGN - 1) & ~(size_t)(ALIGN - 1));
        e->keep_end = at + size;
        *out = e;
        return true;
    }
    return false;
}

void *dh_keep_alloc(size_t n)
{
    struct dh_engine *e = dh_engine;
    n = (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (n > (size_t)(e->keep_end - e->keep))
        return NULL;
    void *at = e->keep;
    e->keep += n;
    return at;
}

void *dh_keep_private(size_t n)
{
    return dh_engine->flags & DH_ENGINE_FORK ? dh_sys_mmap(n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS)
                                             : dh_keep_alloc(n);
}

bool dh_keep_contains(uintptr_t address)
{
    return address >= (uintptr_t)dh_engine &&
           address < (uintptr_t)(dh_engine->search_end ? dh_engine->search_end : dh_engine->keep_end);
}
