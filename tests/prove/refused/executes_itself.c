/* Starts itself again with another environment before its threads.
 * Refused: creates 1 thread natively, and none in the engine */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int shared;

static void *work(void *arg)
{
    (void)arg;
    shared++;
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!getenv("AGAIN")) {
        setenv("AGAIN", "1", 1);
        execv("/proc/self/exe", argv);
        return 9;
    }
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    puts("done");
    return 0;
}
