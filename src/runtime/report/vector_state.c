#include "runtime/report/vector_state.h"

#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"

#include <cpuid.h>

enum { ALIGNMENT = 64, LEGACY = 512, HEADER = 64 };

/* Bytes that XSAVE writes with what the system has switched on; 0: there is only FXSAVE. */
static size_t extended_size(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __cpuid_count(0xD, 0, a, b, c, d);
    return b;
}

void dh_vector_save(struct dh_vector_state *v)
{
    size_t extended = extended_size();
    v->size = (extended ? extended : LEGACY) + ALIGNMENT;
    v->block = dh_alloc(v->size);
    if (!v->block)
        return;
    v->area = (void *)(((uintptr_t)v->block + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
    if (extended) {
        dh_bytes_zero((char *)v->area + LEGACY, HEADER);
        __asm__ volatile("xsave64 (%0)" : : "r"(v->area), "a"(-1), "d"(-1) : "memory");
    } else {
        __asm__ volatile("fxsave64 (%0)" : : "r"(v->area) : "memory");
    }
}

void dh_vector_restore(struct dh_vector_state *v)
{
    if (!v->block)
        return;
    if (v->size > LEGACY + ALIGNMENT)
        __asm__ volatile("xrstor64 (%0)" : : "r"(v->area), "a"(-1), "d"(-1) : "memory");
    else
        __asm__ volatile("fxrstor64 (%0)" : : "r"(v->area) : "memory");
    dh_free(v->block, v->size);
}
