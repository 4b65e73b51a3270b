/* A thread writes what main wrote, after main has returned. */
#include <pthread.h>
#include <unistd.h>

static volatile int v;

static void *late(void *x)
{
    usleep(200000);
    v = 2;
    return x;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, late, NULL);
    v = 1;
    return 0;
}
