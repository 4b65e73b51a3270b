/* Two timers that notify by threads of their own (SIGEV_THREAD) count expirations together, without a lock.
 * Expected: assertion. Also: race on `ticks`. */
#include "threads.h"

#include <assert.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static int ticks;
static sem_t ticked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void tick(union sigval value)
{
    (void)value;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    ticks++;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    sem_post(&ticked);
}

static void *idle(void *arg)
{
    return arg;
}

int main(void)
{
    timer_t timers[2];
    struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    sem_init(&ticked, 0, 0);
    finish(start(idle, 0));
    for (int i = 0; i < 2; i++)
        if (timer_create(CLOCK_MONOTONIC, &how, &timers[i]) || timer_settime(timers[i], 0, &soon, NULL))
            return 2;
    for (int i = 0; i < 2; i++)
        sem_wait(&ticked);
    (void)lock;
    assert(ticks == 2);
    return 0;
}
