/* Two threads each read where the heap ends and then move that, without a lock: both get the same memory.
 * Expected: race or assertion. */
#define _DEFAULT_SOURCE
#include "threads.h"

#include <assert.h>
#include <stdint.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *end_of_heap;

static long *more(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    char *at = end_of_heap;
    assert(brk(at + 4096) == 0);
    end_of_heap = at + 4096;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return (long *)at;
}

static void *worker(void *arg)
{
    long *mine = more();
    *mine = (long)arg;
    assert(*mine == (long)arg);
    return arg;
}

int main(void)
{
    end_of_heap = (char *)(((uintptr_t)sbrk(0) + 4095) & ~(uintptr_t)4095) + (1 << 20);
    assert(brk(end_of_heap) == 0);
    RUN(worker, worker);
    return 0;
}
