/* A table grows by mremap, which may move it; a reader has taken the old address before it takes the lock.
 * Expected: crash or race. */
#define _GNU_SOURCE
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static _Atomic(long *) table;
static size_t pages = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *grower(void *arg)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 3; i++) {
        long *larger = mremap(table, pages * PAGE, 4 * pages * PAGE, MREMAP_MAYMOVE);
        assert(larger != MAP_FAILED);
        pages *= 4;
        table = larger;
        table[pages * PAGE / sizeof *table - 1] = 1;
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *reader(void *arg)
{
#ifndef FIXED
    long *t = table;
#endif
    pthread_mutex_lock(&lock);
#ifdef FIXED
    long *t = table;
#endif
    assert(t[0] == 5);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    /* Something stands behind it, so that it cannot grow where it is. */
    char *room = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(mprotect(room + PAGE, PAGE, PROT_READ) == 0);
    table = (long *)room;
    table[0] = 5;
    RUN(reader, grower);
    return 0;
}
