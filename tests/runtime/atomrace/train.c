/* Two workers count hits in two critical sections each, which does not matter to anybody, and with an argument also
 * money, which does: then an update is lost and the program fails. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long hits, money;

static long get(long *from)
{
    pthread_mutex_lock(&lock);
    long value = *from;
    pthread_mutex_unlock(&lock);
    return value;
}

static void *worker(void *counts_money)
{
    for (int i = 0; i < 300; i++) {
        pthread_mutex_lock(&lock);
        long seen = hits;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        hits = seen + 1;
        pthread_mutex_unlock(&lock);
        if (!counts_money)
            continue;
        pthread_mutex_lock(&lock);
        seen = money;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        money = seen + 1;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t workers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&workers[i], NULL, worker, argc > 1 ? argv : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    return argc > 1 && get(&money) != 600;
}
