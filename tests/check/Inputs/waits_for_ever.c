/* A thread waits for what nobody says, another looks around in vain: the process never ends, and nothing in it is
 * busy. With an argument somebody waits for bytes from outside, too. */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER, tick = PTHREAD_COND_INITIALIZER;
static int is_ready, stop;

static void wake(int signal)
{
    (void)signal;
}

static void *waiter(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!is_ready)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *ticker(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!stop) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&tick, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int bytes[2];
    char byte;
    (void)argv;
    signal(SIGUSR1, wake); /* which might end a wait: no deadlock is said to have happened */
    pthread_create(&threads[0], NULL, waiter, NULL);
    pthread_create(&threads[1], NULL, ticker, NULL);
    if (argc > 1 && pipe(bytes) == 0)
        return (int)read(bytes[0], &byte, 1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
