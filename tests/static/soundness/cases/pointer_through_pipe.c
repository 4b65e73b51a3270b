/* The pointer comes through a pipe, of which no analysis knows. finds: race */
#include "order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    int done;
};

static int ends[2];

static void *worker(void *arg)
{
    struct job *job;
    if (read(ends[0], &job, sizeof job) == sizeof job)
        job->done++;
    give_turn(1);
    return arg;
}

int main(void)
{
    pthread_t t;
    struct job *job = malloc(sizeof *job);
    if (pipe(ends) != 0)
        return 1;
    job->done = 0;
    pthread_create(&t, NULL, worker, NULL);
    if (write(ends[1], &job, sizeof job) != sizeof job)
        return 1;
    await_turn(1);
    job->done++;
    pthread_join(t, NULL);
    printf("%d\n", job->done);
    return 0;
}
