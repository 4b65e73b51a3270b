/* Correct: the worker sleeps, works for long, and then wakes main, however often another thread wakes up and goes to
 * sleep again meanwhile. With -DNEVER it forgets main, which waits for ever. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROUNDS = 1200 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int is_done, work;
static atomic_int stop;

static void *worker(void *unused)
{
    usleep(1000);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&lock);
        work++;
        pthread_mutex_unlock(&lock);
    }
#ifndef NEVER
    pthread_mutex_lock(&lock);
    is_done = 1;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *sleeper(void *unused)
{
    while (!stop)
        poll(NULL, 0, 2000);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&other, NULL, sleeper, NULL);
    pthread_mutex_lock(&lock);
    while (!is_done)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
    stop = 1;
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return work != ROUNDS;
}
