/* The source promises that the lock is held, and it is not. finds: race */
#include <deadheat/annotate.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void add(void)
{
    DEADHEAT_ASSERT_HELD(&lock);
    sum++;
}

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    add();
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    add();
    pthread_join(t, NULL);
    printf("%d\n", sum);
    return 0;
}
