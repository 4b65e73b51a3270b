/* What the small programs share: starting threads apart from each other. Each defect needs one thread to come into a
 * gap of some nanoseconds of another; threads that start one after another, each after some arithmetic on registers,
 * practically never do that by themselves. To a search of schedules the arithmetic is nothing at all. */
#ifndef THREADS_H
#define THREADS_H

#include <pthread.h>
#include <stdlib.h>

typedef void *body(void *);

/* Some 60 microseconds, longer than a thread takes to start on an idle processor. */
static inline void own_work(void)
{
    unsigned x = 1;
    for (int i = 0; i < 40000; i++) {
        x = x * 1664525u + 1013904223u;
        __asm__ volatile("" : "+r"(x));
    }
}

static inline pthread_t start(body *what, long number)
{
    pthread_t t;
    if (pthread_create(&t, NULL, what, (void *)number))
        abort();
    return t;
}

static inline void finish(pthread_t t)
{
    if (pthread_join(t, NULL))
        abort();
}

/* All of them, numbered from 0, apart from each other. */
static inline void run_threads(int count, body *const *bodies)
{
    pthread_t threads[8];
    for (int i = 0; i < count; i++) {
        if (i > 0)
            own_work();
        threads[i] = start(bodies[i], i);
    }
    for (int i = 0; i < count; i++)
        finish(threads[i]);
}

#ifndef __cplusplus
#define RUN(...) run_threads((int)(sizeof((body *[]){__VA_ARGS__}) / sizeof(body *)), (body *const[]){__VA_ARGS__})
#endif

#endif
