/* The second lock is only tried, and the first one given back if it is taken. BROKEN 1: waits for it. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
static pthread_mutex_t map = PTHREAD_MUTEX_INITIALIZER, cache = PTHREAD_MUTEX_INITIALIZER;
static int mapped, cached;

static void *flush(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&map);
    pthread_mutex_lock(&cache);
    mapped += cached;
    cached = 0;
    pthread_mutex_unlock(&cache);
    pthread_mutex_unlock(&map);
    return NULL;
}

static void *evict(void *arg)
{
    (void)arg;
    for (;;) {
        pthread_mutex_lock(&cache);
#if BROKEN == 1
        pthread_mutex_lock(&map);
        break;
#else
        if (pthread_mutex_trylock(&map) == 0)
            break;
        pthread_mutex_unlock(&cache);
        sched_yield();
#endif
    }
    cached++;
    mapped--;
    pthread_mutex_unlock(&map);
    pthread_mutex_unlock(&cache);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, flush, NULL);
    pthread_create(&b, NULL, evict, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d %d\n", mapped, cached);
    return 0;
}
