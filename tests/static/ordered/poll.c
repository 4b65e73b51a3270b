/* A flag under a mutex without a condition: who waits looks again and again. BROKEN 1: goes on at the first look. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done, result[16];

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < 16; i++)
        result[i] = i * i;
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static int is_done(void)
{
    pthread_mutex_lock(&lock);
    int yes = done;
    pthread_mutex_unlock(&lock);
    return yes;
}

int main(void)
{
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, worker, NULL);
#if BROKEN == 1
    if (!is_done())
        usleep(1000);
#else
    while (!is_done())
        usleep(1000);
#endif
    for (int i = 0; i < 16; i++)
        sum += result[i];
    printf("%d\n", sum);
    pthread_detach(thread);
    return 0;
}
