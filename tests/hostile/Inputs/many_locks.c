/* Twenty thousand mutexes, two hundred of them held at once; racy: each thread holds two hundred others'. */
#include "order.h"
#include <deadheat/annotate.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 20000, HELD = 200 };

static pthread_mutex_t *locks, recursive;
static int *guarded, twice, counter, racy;

static void take(long from)
{
    for (long i = 0; i < HELD; i++)
        pthread_mutex_lock(&locks[from + i]);
}

static void give(long from, int backwards)
{
    for (long i = 0; i < HELD; i++)
        pthread_mutex_unlock(&locks[from + (backwards ? HELD - 1 - i : i)]);
}

static void cross(long me)
{
    if (me == 0)
        wait_step(0);
    else
        step_done(0), wait_step(1);
    take(me * HELD);
    counter++;
    give(me * HELD, 0);
    if (me == 0)
        step_done(1);
}

static void *worker(void *arg)
{
    long me = (long)arg;
    for (int i = 0; i < MANY; i++) {
        pthread_mutex_lock(&locks[i]);
        guarded[i]++;
        pthread_mutex_unlock(&locks[i]);
    }
    for (int round = 0; round < 5; round++) {
        take(0);
        DEADHEAT_ASSERT_HELD(&locks[HELD - 1]);
        for (int i = 0; i < HELD; i++)
            guarded[i]++;
        pthread_mutex_lock(&recursive);
        pthread_mutex_lock(&recursive);
        twice++;
        pthread_mutex_unlock(&recursive);
        twice++;
        pthread_mutex_unlock(&recursive);
        give(0, me == 0);
        pthread_mutex_lock(&recursive);
        twice++;
        pthread_mutex_unlock(&recursive);
    }
    if (racy)
        cross(me);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    pthread_mutexattr_t attr;
    (void)argv;
    racy = argc > 1;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &attr);
    locks = calloc(MANY, sizeof *locks);
    guarded = calloc(MANY, sizeof *guarded);
    for (int i = 0; i < MANY; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (long i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    long sum = twice;
    for (int i = 0; i < MANY; i++)
        sum += guarded[i];
    printf("sum %ld\n", sum);
    return 0;
}
