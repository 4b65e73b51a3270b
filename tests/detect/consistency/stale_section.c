/* A keeper looks at the stock in one critical section and writes it in the next without looking again; what the other
 * sold in between is lost. Every access is locked, so nothing races.
 * Expected: a suspected atomicity on `stock`. */
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
    stock = had - amount;
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
