/* A thread that waits for itself. */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int n, odd;
static void add(int k)
{
    pthread_mutex_lock(&m);
    n += k;
    pthread_mutex_unlock(&m);
}
static void *w(void *u)
{
    pthread_mutex_lock(&m);
    if (n > 2)
        add(1);
    else
        n++;
    pthread_mutex_unlock(&m);
    return u;
}
int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, w, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    printf("%d\n", n);
    return 0;
}
