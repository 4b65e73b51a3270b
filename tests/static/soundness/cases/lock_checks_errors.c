/* A lock that checks for errors is not taken twice, so it is given back too early. finds: race */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock;
static int sum;

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    sum++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t[2];
    pthread_mutexattr_t checks;
    pthread_mutexattr_init(&checks);
    pthread_mutexattr_settype(&checks, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &checks);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, writer, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d\n", sum);
    return 0;
}
