/* The worker gives its creator some time to store its handle, and then uses the handle, stored or not.
 * Expected: crash at `use`. */
#include "threads.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

struct worker {
    pthread_t thread;
    int jobs;
};

static sem_t stored;
struct worker *_Atomic handle;

static void *work(void *arg)
{
#ifdef FIXED
    sem_wait(&stored);
#else
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    sem_timedwait(&stored, &until);
#endif
    handle->jobs++; /* use */
    return arg;
}

int main(void)
{
    static struct worker w;
    sem_init(&stored, 0, 0);
    w.thread = start(work, 0);
    handle = &w;
    sem_post(&stored);
    finish(w.thread);
    return w.jobs != 1;
}
