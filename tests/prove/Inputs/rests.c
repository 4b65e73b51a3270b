/* Takes a second natively and no time at all in the engine: what is compared with a native run waits for it. */
#include <pthread.h>
#include <unistd.h>

static int x;

static void *worker(void *arg)
{
    usleep(1000000);
    x++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
