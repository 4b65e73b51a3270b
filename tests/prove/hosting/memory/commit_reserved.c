/* Memory is reserved once and committed page by page, by mprotect; two threads may commit, and use, the same page.
 * Expected: race or assertion. */
#include "threads.h"

#include <assert.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static char *reserved;
static int committed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long *next_page(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int n = committed++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert(mprotect(reserved + n * PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
    return (long *)(reserved + n * PAGE);
}

static void *worker(void *arg)
{
    long *page = next_page();
    assert(*page == 0);
    *page = 1 + (long)arg;
    assert(*page == 1 + (long)arg);
    return arg;
}

int main(void)
{
    reserved = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    RUN(worker, worker);
    return munmap(reserved, 64 * PAGE);
}
