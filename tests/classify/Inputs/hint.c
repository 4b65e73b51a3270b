/* A racy hint that changes nothing. */
#include <pthread.h>
#include <stdio.h>

static int hint, total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *unused)
{
    hint = 1;
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *reader(void *unused)
{
    int hinted = hint;
    pthread_mutex_lock(&lock);
    total += hinted ? 2 : 1 + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d\n", total);
    return 0;
}
