/* The reader waits for a flag that was set for a moment only. */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *reader(void *p)
{
    while (!atomic_load(&flag))
        ;
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    atomic_store(&flag, 1);
    atomic_store(&flag, 0);
    pthread_join(t, 0);
}
