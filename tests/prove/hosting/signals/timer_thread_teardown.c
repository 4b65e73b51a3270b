/* A timer calls a function in a thread of its own; deleting the timer does not wait for a call that has begun.
 * Expected: use-after-free or crash. */
#include "threads.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

static struct session {
    int ticks;
} *session;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_tick(union sigval v)
{
    (void)v;
    pthread_mutex_lock(&lock);
    if (session) {
        struct session *mine = session;
#ifndef FIXED
        pthread_mutex_unlock(&lock);
        own_work();
#endif
        mine->ticks++;
#ifdef FIXED
        pthread_mutex_unlock(&lock);
#endif
        return;
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_tick};
    struct itimerspec soon = {.it_value = {.tv_nsec = 20000000}};
    timer_t timer;
    session = calloc(1, sizeof *session);
    if (timer_create(CLOCK_MONOTONIC, &e, &timer) || timer_settime(timer, 0, &soon, NULL))
        return 2;
    struct timespec while_running = {.tv_nsec = 5000000};
    nanosleep(&while_running, NULL);
    timer_delete(timer);
    pthread_mutex_lock(&lock);
    free(session);
    session = NULL;
    pthread_mutex_unlock(&lock);
    return 0;
}
