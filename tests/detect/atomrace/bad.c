/* Two tellers add what they took in to the day's total, without a lock: the load and the store of one may have the
 * other's between them. Every day both begin at once, by steps that no detector sees, and noise keeps each inside.
 * Options: --noise=var:total,1000,20ms,sleep
 * Expected: an observed race on `total`. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

static long total;

static const long taken[2] = {3, 5};

static void begin(int me, int day)
{
    invisible_await(2 * day + me);
    invisible_reach(2 * day + me + 1);
    invisible_await(2 * day + 2);
}

static void *teller(void *arg)
{
    int me = (int)(long)arg;
    for (int day = 0; day < 20; day++) {
        begin(me, day);
        total += taken[me];
    }
    return NULL;
}

int main(void)
{
    pthread_t tellers[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    puts("closed");
    return 0;
}
