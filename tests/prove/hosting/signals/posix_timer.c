/* A POSIX timer's signal handler walks a list while the thread it interrupts links a new item in two steps.
 * Expected: crash or assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

struct item {
    struct item *volatile next;
    volatile int number;
};

static struct item first = {0, 1}, second = {0, 2};
static struct item *volatile head = &first;
static volatile int length = 1;
static atomic_int ticks;

static void on_tick(int signal)
{
    int n = 0;
    (void)signal;
    for (struct item *i = head; i; i = i->next)
        n++;
    assert(n == length);
    ticks = 1;
}

static void take_ticks(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(how, &set, NULL);
}

static void *worker(void *arg)
{
#ifndef FIXED
    take_ticks(SIG_UNBLOCK);
#endif
    second.next = head;
    head = &second;
    length = 2;
#ifdef FIXED
    take_ticks(SIG_UNBLOCK);
#endif
    while (!ticks)
        sched_yield();
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = on_tick};
    struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec soon = {.it_value = {.tv_nsec = 50000000}};
    timer_t timer;
    sigaction(SIGRTMIN, &a, NULL);
    take_ticks(SIG_BLOCK);
    if (timer_create(CLOCK_MONOTONIC, &e, &timer) || timer_settime(timer, 0, &soon, NULL))
        return 2;
    pthread_t t = start(worker, 0);
    finish(t);
    timer_delete(timer);
    return 0;
}
