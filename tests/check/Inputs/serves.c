/* A service that never ends by itself. Its workers race before the file that is named tells that it is ready. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static long served;

static void *worker(void *arg)
{
    served++;
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t first, second;
    pthread_create(&first, NULL, worker, NULL);
    pthread_create(&second, NULL, worker, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    FILE *ready = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (ready)
        fclose(ready);
    for (;;)
        pause();
}
