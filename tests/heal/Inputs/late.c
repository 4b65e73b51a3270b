/* The reader may come before the writer has filled in what it reads. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static long limit;

static void *setter(void *unused)
{
    (void)unused;
    usleep(50000);
    limit = 10;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, setter, NULL);
    long seen = limit;
    pthread_join(t, NULL);
    printf("%ld\n", seen);
    return seen == 10 ? 0 : 1;
}
