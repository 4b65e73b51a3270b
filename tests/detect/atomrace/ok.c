/* As bad.c, with a lock around the addition: nobody is inside at the same time, however long it takes.
 * Options: --noise=var:total,500,50us
 * Expected: nothing. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *teller(void *arg)
{
    for (int day = 0; day < 200; day++) {
        pthread_mutex_lock(&lock);
        total += *(long *)arg;
        pthread_mutex_unlock(&lock);
    }
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
