/* What the small programs share: starting threads apart from each other. Each defect needs one thread to come into a
 * gap of some nanoseconds of another; threads of which each does some arithmetic on registers first, one more than the
 * other, practically never do that by themselves. To a search of schedules the arithmetic is nothing at all. */
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

struct apart {
    body *what;
    long number;
};

/* Each does more of its own work first than the one before: those who start at the same moment do not meet either. */
static inline void *run_apart(void *arg)
{
    const struct apart *a = (const struct apart *)arg;
    for (long i = 0; i < a->number; i++)
        own_work();
    return a->what((void *)a->number);
}

/* All of them, numbered from 0. */
static inline void run_threads(int count, body *const *bodies)
{
    struct apart all[8];
    pthread_t threads[8];
    for (int i = 0; i < count; i++) {
        all[i].what = bodies[i];
        all[i].number = i;
        if (pthread_create(&threads[i], NULL, run_apart, &all[i]))
            abort();
    }
    for (int i = 0; i < count; i++)
        finish(threads[i]);
}

#ifndef __cplusplus
#define RUN(...) run_threads((int)(sizeof((body *[]){__VA_ARGS__}) / sizeof(body *)), (body *const[]){__VA_ARGS__})
#endif

#endif
