#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int table[10];
static atomic_long total;
static void *worker(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        table[i % 10] += *(int *)arg;
        pthread_mutex_unlock(&lock);
        atomic_fetch_add(&total, 1);
    }
    return NULL;
}
long lib_work(void)
{
    pthread_t a, b;
    int one = 1, two = 2;
    pthread_create(&a, NULL, worker, &one);
    pthread_create(&b, NULL, worker, &two);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return total * 10000 + table[9];
}
