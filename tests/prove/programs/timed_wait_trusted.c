/* After a wait of at most so long the answer is taken as there; whether it is there, or the time was up, is not
 * asked.
 * Expected: assertion at `answered`. */
#include "threads.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int answer;

static void *asker(void *arg)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&lock);
#ifdef FIXED
    int over = 0;
    while (!answer && !over)
        over = pthread_cond_timedwait(&told, &lock, &until) == ETIMEDOUT;
    assert(answer || over);
#else
    if (!answer)
        pthread_cond_timedwait(&told, &lock, &until);
    assert(answer); /* answered */
#endif
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *answerer(void *arg)
{
    pthread_mutex_lock(&lock);
    answer = 42;
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(asker, answerer);
    return 0;
}
