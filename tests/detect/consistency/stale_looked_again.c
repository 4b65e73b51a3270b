/* As stale_section.c, but the stock is looked at again in the section that writes it.
 * Expected: nothing. */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long stock = 1000;

/* Of no interest to anybody but the scheduler. */
static void think(void)
{
    struct timespec nap = {0, 2000000};
    syscall(SYS_nanosleep, &nap, NULL);
}

static void sell(long amount)
{
    pthread_mutex_lock(&lock);
    long had = stock;
    pthread_mutex_unlock(&lock);
    think();
    pthread_mutex_lock(&lock);
    if (stock == had)
        stock = stock - amount;
    pthread_mutex_unlock(&lock);
}

static void *keeper(void *arg)
{
    for (int i = 0; i < 50; i++)
        sell(1);
    return arg;
}

int main(void)
{
    pthread_t keepers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&keepers[i], NULL, keeper, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(keepers[i], NULL);
    puts("closed");
    return 0;
}
