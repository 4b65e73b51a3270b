/* Ends with 1 if threads do not wake in the order of their times. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static atomic_int woken, is_stopped;
static int order[4];

static void note(int who)
{
    order[woken++] = who;
}

static void *sleeps(void *arg)
{
    usleep(300000);
    note(3);
    return arg;
}

static void *polls(void *arg)
{
    poll(NULL, 0, 100);
    note(1);
    return arg;
}

static void *waits(void *arg)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&never, &lock, &until);
    pthread_mutex_unlock(&lock);
    note(2);
    return arg;
}

static void *works(void *arg)
{
    for (unsigned long n = 0; !is_stopped; n++)
        *(unsigned long *)arg = n;
    return arg;
}

int main(void)
{
    static void *(*const routines[4])(void *) = {sleeps, polls, waits, works};
    static unsigned long work;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, routines[i], &work);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    is_stopped = 1;
    pthread_join(threads[3], NULL);
    puts(order[0] == 1 && order[1] == 2 && order[2] == 3 ? "in order" : "out of order");
    return order[0] != 1 || order[1] != 2;
}
