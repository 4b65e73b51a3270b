/* The last user of a mapping unmaps it; whether a thread is the last one is asked before it says that it is no user any
 * more. Expected: crash. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>
#include <sys/mman.h>

static _Atomic(long *) shared;
static atomic_int users = 2;

static void leave(void)
{
#ifdef FIXED
    if (atomic_fetch_sub(&users, 1) == 1)
        munmap(atomic_load(&shared), 4096);
#else
    if (atomic_load(&users) == 1)
        munmap(atomic_load(&shared), 4096);
    atomic_fetch_sub(&users, 1);
#endif
}

static void *early(void *arg)
{
#ifndef FIXED
    atomic_fetch_sub(&users, 1);
    __atomic_fetch_add(atomic_load(&shared), 1, __ATOMIC_SEQ_CST);
#else
    __atomic_fetch_add(atomic_load(&shared), 1, __ATOMIC_SEQ_CST);
    leave();
#endif
    return arg;
}

static void *late(void *arg)
{
    __atomic_fetch_add(atomic_load(&shared), 1, __ATOMIC_SEQ_CST);
    leave();
    return arg;
}

int main(void)
{
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RUN(early, late);
    return 0;
}
