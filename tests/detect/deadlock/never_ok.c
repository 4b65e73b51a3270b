/* The baker waits for the oven if it is cold. Who heats it tells him.
 * Expected: nothing. Beside: lockset. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hot = PTHREAD_COND_INITIALIZER, baked = PTHREAD_COND_INITIALIZER;
static int degrees = 250, loaves;

static void *heat(void *arg)
{
    pthread_mutex_lock(&lock);
    degrees += 10;
    pthread_cond_signal(&hot);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *bake(void *arg)
{
    pthread_mutex_lock(&lock);
    while (degrees < 200)
        pthread_cond_wait(&hot, &lock);
    loaves++;
    pthread_cond_signal(&baked);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, heat, NULL);
    pthread_create(&threads[1], NULL, bake, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d loaves\n", loaves);
    return 0;
}
