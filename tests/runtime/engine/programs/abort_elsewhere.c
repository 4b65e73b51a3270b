/* A thread that is not main ends the program by abort, another way by a signal to itself; threads have ids of their own.
 * drive: --schedules=200
 * expect: found assertion: .*signal 6
 * expect: ends: assertion 200$
 * replay: found assertion */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static pid_t ids[2];

static void *names(void *a)
{
    ids[(long)a] = gettid();
    return 0;
}

static void *fails(void *a)
{
    if (ids[0] == ids[1] || ids[0] == getpid())
        pthread_exit(a);
    raise(SIGUSR1);
    abort();
}

static void handler(int signal)
{
    (void)signal;
}

int main(void)
{
    pthread_t t[2];
    signal(SIGUSR1, handler);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, names, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    pthread_create(&t[0], 0, fails, 0);
    pthread_join(t[0], 0);
}
