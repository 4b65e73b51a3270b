/* A circle of three locks that one function takes by pointer. */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void both(pthread_mutex_t *x, pthread_mutex_t *y)
{
    pthread_mutex_lock(x);
    pthread_mutex_lock(y);
    __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(y);
    pthread_mutex_unlock(x);
}
static void *one(void *u) { both(&a, &b); return u; }
static void *two(void *u) { both(&b, &c); return u; }
static void *three(void *u) { both(&c, &a); return u; }
int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, one, NULL);
    pthread_create(&t[1], NULL, two, NULL);
    pthread_create(&t[2], NULL, three, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%d\n", n);
    return 0;
}
