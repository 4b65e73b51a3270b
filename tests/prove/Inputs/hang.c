/* Loops that only read: some of them end. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static _Atomic int flag;
static int limit = 30000;

static void *set(void *unused)
{
    flag = 1;
    return unused;
}

static long count(void)
{
    long n = 0;
    for (int i = 0; i < limit; i++)
        n ^= i * 7;
    return n;
}

static void yields(void)
{
    for (int i = 0; i < 5000; i++)
        sched_yield();
}

int main(int argc, char **argv)
{
    int how = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t t;
    pthread_create(&t, NULL, set, NULL);
    if (how == 0)
        limit = (int)count() * 0;
    if (how == 1)
        yields();
    pthread_join(t, NULL);
    while (how == 2 && flag)
        ;
    while (how == 3 && flag)
        sched_yield();
    return 0;
}
