/* A lock for readers and a mutex, in either order. */
#include <pthread.h>
#include <stdio.h>
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int table[4], hits;
static void *reader(void *u)
{
    pthread_rwlock_rdlock(&r);
    pthread_mutex_lock(&m);
    hits += table[0];
    pthread_mutex_unlock(&m);
    pthread_rwlock_unlock(&r);
    return u;
}
static void *writer(void *u)
{
    pthread_mutex_lock(&m);
    pthread_rwlock_wrlock(&r);
    table[0]++;
    pthread_rwlock_unlock(&r);
    pthread_mutex_unlock(&m);
    return u;
}
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, reader, NULL);
    pthread_create(&u, NULL, writer, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    printf("%d\n", table[0]);
    return 0;
}
