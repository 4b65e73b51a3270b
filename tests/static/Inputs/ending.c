/* What threads leave behind is added up by a destructor of their data: in all of them at once, and without a lock. */
#include <pthread.h>
#include <stdio.h>

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void add_up(void *mine)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    total += *(long *)mine;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *worker(void *mine)
{
    pthread_setspecific(key, mine);
    return NULL;
}

int main(void)
{
    static long shares[3] = {1, 2, 3};
    pthread_t threads[3];
    pthread_key_create(&key, add_up);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, &shares[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%ld, %d\n", total, pthread_mutex_destroy(&lock));
    return 0;
}
