/* Two threads add under two locks, in functions that others call. */
#include <pthread.h>

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long total;

__attribute__((noinline)) static void put(long n)
{
    total = n;
}

__attribute__((noinline)) static long get(void)
{
    return total;
}

static void *writer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&own[0]);
    put(1);
    pthread_mutex_unlock(&own[0]);
    return NULL;
}

static void *reader(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&own[1]);
    long n = get();
    pthread_mutex_unlock(&own[1]);
    return (void *)n;
}

int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], NULL, writer, NULL);
    pthread_create(&t[1], NULL, reader, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}
