/* Values of memory before and after the accesses of a schedule, for witnesses. */
#include "runtime/engine/engine.h"

#include "runtime/engine/system/kernel_call.h"

enum { BEFORE = 1, AFTER = 2 };

uint64_t dh_access_value_read(uint64_t address, uint32_t size)
{
    uint64_t value = 0;
    struct {
        uint64_t at, n;
    } here = {(uint64_t)(uintptr_t)&value, size}, there = {address, size};
    dh_kernel_call(SYS_process_vm_readv, dh_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0), (long)&here, 1, (long)&there, 1,
                   0);
    return value;
}

/* Of its latest step; NULL: it has no entry in the trace. */
static struct dh_engine_value *value_of(const struct dh_task *t, struct dh_engine_decision **entry)
{
    struct dh_engine *e = dh_engine;
    if (t->decision >= e->depth || t->decision < e->undisturbed)
        return NULL;
    uint32_t i = t->decision - e->undisturbed + (e->undisturbed != 0);
    *entry = &e->trace[i];
    return &e->values[i];
}

void dh_access_values_before(const struct dh_task *t, const void *address, size_t size)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    struct dh_engine_decision *entry;
    struct dh_engine_value *v = value_of(t, &entry);
    if (size <= sizeof(uint64_t) && v)
        *v = (struct dh_engine_value){
            .before = dh_access_value_read(at, (uint32_t)size), .size = (uint32_t)size, .has = BEFORE};
}

void dh_access_values_after(const struct dh_task *t, const void *address, size_t size)
{
    struct dh_engine_decision *entry;
    struct dh_engine_value *v = value_of(t, &entry);
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (!v || entry->object != at || v->has != BEFORE || v->size != size)
        return;
    v->after = dh_access_value_read(at, v->size);
    v->has |= AFTER;
}
