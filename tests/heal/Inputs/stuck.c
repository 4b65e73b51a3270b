/* Somebody waits, in the middle of a section, for what only another thread can say, and that one wants in first. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static long shared, fence, early;
static atomic_int inside;
static int channel[2];

static void *teller(void *unused)
{
    char byte = 1;
    (void)unused;
    early = 1;
    while (!atomic_load(&inside))
        usleep(1000);
    shared = 2;
    return write(channel[1], &byte, 1) == 1 ? &shared : NULL;
}

static void wait_inside(void)
{
    char byte;
    long seen = shared;
    atomic_store(&inside, 1);
    early = 2; /* so that there is something to be found */
    if (read(channel[0], &byte, 1) == 1)
        fence = seen;
}

int main(void)
{
    pthread_t t;
    if (pipe(channel) != 0)
        return 1;
    pthread_create(&t, NULL, teller, NULL);
    wait_inside();
    pthread_join(t, NULL);
    puts(shared == 2 && early ? "ok" : "FAILED");
    return 0;
}
