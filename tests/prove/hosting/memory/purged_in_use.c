/* A thread gives pages back to the system that it takes for unused, by MADV_DONTNEED: what another thread has written
 * there is gone. Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <sys/mman.h>

static char *arena;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int in_use;

static void *user(void *arg)
{
    long *mine = (long *)arena;
#ifdef FIXED
    pthread_mutex_lock(&lock);
    in_use = 1;
    pthread_mutex_unlock(&lock);
#endif
    __atomic_store_n(mine, 42, __ATOMIC_SEQ_CST);
    assert(__atomic_load_n(mine, __ATOMIC_SEQ_CST) == 42);
    return arg;
}

static void *purger(void *arg)
{
    pthread_mutex_lock(&lock);
    if (!in_use)
        assert(madvise(arena, 1 << 16, MADV_DONTNEED) == 0);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    arena = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RUN(user, purger);
    return 0;
}
