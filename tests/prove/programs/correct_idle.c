/* A worker waits for its signal while the main thread naps a hundred times, making progress of which nobody else knows:
 * only time passes, and yet the signal comes.
 * Expected: nothing. */
#include "threads.h"

#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int ready;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&told, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t w;
    pthread_create(&w, NULL, worker, NULL);
    for (int i = 0; i < 100; i++)
        usleep(100);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&lock);
    pthread_join(w, NULL);
    return 0;
}
