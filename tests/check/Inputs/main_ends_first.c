/* main ends before its threads do: two that sleep and then count without a lock; with an argument one that never ends,
 * and a child that nobody waits for. */
#include <pthread.h>
#include <unistd.h>

static int count;

static void *counts(void *arg)
{
    usleep(20000);
    count++;
    return arg;
}

static void *never_ends(void *arg)
{
    for (;;)
        usleep(1000);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    if (argc > 1 && fork() == 0) {
        alarm(60); /* not for ever, where tests run */
        for (;;)
            pause();
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&t, NULL, argc > 1 ? never_ends : counts, NULL);
    return 0;
}
