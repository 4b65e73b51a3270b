/* Configuration handed over by a flag under a mutex, used after it was given back.
 * BROKEN 1: written after it was announced. 2: nobody waits. 3: read before the wait. */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
static struct { int port, limit; } config;

static void *loader(void *arg)
{
    (void)arg;
#if BROKEN != 1
    config.port = 8080;
    config.limit = 10;
#endif
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
#if BROKEN == 1
    config.port = 8080;
    config.limit = 10;
#endif
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int port = 0;
    pthread_create(&thread, NULL, loader, NULL);
#if BROKEN == 3
    port = config.port;
#endif
    pthread_mutex_lock(&lock);
#if BROKEN != 2
    while (!ready)
        pthread_cond_wait(&changed, &lock);
#endif
    pthread_mutex_unlock(&lock);
#if BROKEN != 3
    port = config.port;
#endif
    printf("%d %d\n", port, config.limit);
    pthread_join(thread, NULL);
    return 0;
}
