/* The bakery is main's own variable and everybody else's argument: the condition that main waits for goes by one name
 * there and by another where it is signalled. All loaves are baked before main looks.
 * Expected: nothing. Beside: lockset. */
#include <pthread.h>
#include <stdio.h>

struct bakery {
    pthread_mutex_t lock;
    pthread_cond_t baked;
    int missing;
};

static void *bake(void *arg)
{
    struct bakery *b = arg;
    pthread_mutex_lock(&b->lock);
    if (--b->missing == 0)
        pthread_cond_signal(&b->baked);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

int main(void)
{
    struct bakery b = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 2};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, bake, &b);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_lock(&b.lock);
    while (b.missing)
        pthread_cond_wait(&b.baked, &b.lock);
    printf("%d loaves\n", 2 - b.missing);
    pthread_mutex_unlock(&b.lock);
    return 0;
}
