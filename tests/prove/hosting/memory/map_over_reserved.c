/* Pages of reserved memory are mapped anew with MAP_FIXED when they are used again; one thread does so while the other
 * still writes there. Expected: assertion or crash. */
#include "threads.h"

#include <assert.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static char *reserved;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;

static void map_anew(void)
{
    assert(mmap(reserved, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == reserved);
}

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    if (users++ == 0)
        map_anew();
    pthread_mutex_unlock(&lock);
    __atomic_store_n((long *)(reserved + 64 * (long)arg), 1, __ATOMIC_SEQ_CST);
#ifdef FIXED
    pthread_mutex_lock(&lock);
    users--;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_lock(&lock);
    users = 0;
    pthread_mutex_unlock(&lock);
#endif
    pthread_mutex_lock(&lock);
    if (users == 0)
        map_anew();
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *keeper(void *arg)
{
    pthread_mutex_lock(&lock);
    if (users++ == 0)
        map_anew();
    pthread_mutex_unlock(&lock);
    long *at = (long *)(reserved + 1024);
    __atomic_store_n(at, 7, __ATOMIC_SEQ_CST);
    assert(__atomic_load_n(at, __ATOMIC_SEQ_CST) == 7);
    pthread_mutex_lock(&lock);
    users--;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    reserved = mmap(NULL, 16 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    RUN(keeper, worker);
    return 0;
}
