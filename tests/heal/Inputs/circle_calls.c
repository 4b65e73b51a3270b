/* The second lock is taken by a function that is called. */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER, logm = PTHREAD_MUTEX_INITIALIZER;
static int lines, items;
static void note(void) { pthread_mutex_lock(&logm); lines++; pthread_mutex_unlock(&logm); }
static void put(void)
{
    pthread_mutex_lock(&cache);
    items++;
    note();
    pthread_mutex_unlock(&cache);
}
static int count(void) { pthread_mutex_lock(&cache); int n = items; pthread_mutex_unlock(&cache); return n; }
static void flush(void)
{
    pthread_mutex_lock(&logm);
    lines = count();
    pthread_mutex_unlock(&logm);
}
static void *a(void *u) { for (int i = 0; i < 3; i++) put(); return u; }
static void *b(void *u) { for (int i = 0; i < 3; i++) flush(); return u; }
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, a, NULL);
    pthread_create(&u, NULL, b, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    printf("%d\n", items);
    return 0;
}
