/* Two tellers add what they took in to the day's total, without a lock: the load and the store of one may have the
 * other's between them, and noise makes both happen at once.
 * Options: --noise=var:total,500,50us
 * Expected: an observed race on `total`. */
#include <pthread.h>
#include <stdio.h>

static long total;

static void *teller(void *arg)
{
    for (int day = 0; day < 200; day++)
        total += *(long *)arg;
    return NULL;
}

int main(void)
{
    long taken[2] = {3, 5};
    pthread_t tellers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, &taken[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    puts("closed");
    return 0;
}
