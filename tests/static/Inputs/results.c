/* Each thread writes a result of its own; they are read when one of the two was joined, or with FIXED both. */
#include <pthread.h>
#include <stdio.h>

static int results[2];

static void *worker(void *number)
{
    results[(long)number] = 1;
    return NULL;
}

int main(void)
{
    pthread_t all[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&all[i], NULL, worker, (void *)i);
    pthread_join(all[0], NULL);
#ifdef FIXED
    pthread_join(all[1], NULL);
#endif
    printf("%d\n", results[0] + results[1]);
#ifndef FIXED
    pthread_join(all[1], NULL);
#endif
    return 0;
}
