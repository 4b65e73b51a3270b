/* Never comes to its threads, natively either.
 * Refused: creates no thread and does not end */
#include <pthread.h>
#include <unistd.h>

static void *works(void *p)
{
    return p;
}

int main(int argc, char **argv)
{
    pthread_t t;
    while (argc < 99 && argv)
        usleep(1000);
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    return 0;
}
