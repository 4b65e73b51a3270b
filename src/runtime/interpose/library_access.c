#include "runtime/interpose/library_access.h"

#include "runtime/core/thread_state.h"

/* Arguments that static analysis proved private (__dh_spare) are left out. */
static void access_by_library(const void *at, size_t size, bool write, const uintptr_t *call_slot)
{
    if (dh_engine_on)
        dh_engine_library_access(at, size, write);
    else if (at != __dh_thread.spared[0] && at != __dh_thread.spared[1])
        dh_library_access(at, size, write, call_slot);
}

void dh_access_read(const void *at, size_t size, const uintptr_t *call_slot)
{
    access_by_library(at, size, false, call_slot);
}

void dh_access_write(void *at, size_t size, const uintptr_t *call_slot)
{
    access_by_library(at, size, true, call_slot);
}
