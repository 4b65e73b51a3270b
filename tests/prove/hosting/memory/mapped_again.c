/* Two threads map a buffer, use it and unmap it, as programs do that read files by mapping them: the kernel may give one
 * of them the address that the other has just given back, and that is no race. The count of what they did is one.
 * Expected: race on done. */
#include "threads.h"

#include <pthread.h>
#include <sys/mman.h>

enum { ROUNDS = 3, SIZE = 64 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void use(void)
{
    volatile char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at[0] = 1;
    at[SIZE - 1] = at[0];
    munmap((void *)at, SIZE);
}

static void count(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    done++;
#endif
}

static void *worker(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        use();
        count();
    }
    return arg;
}

int main(void)
{
    RUN(worker, worker);
    return 0;
}
