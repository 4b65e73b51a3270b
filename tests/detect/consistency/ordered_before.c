/* What is written before the other thread starts is in order with all that it does, and still the first of two
 * accesses of one call between which the other writes.
 * Expected: an observed atomicity on `state`. */
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int state;

static void *changer(void *arg)
{
    state = 2;
    return arg;
}

static int run(int first)
{
    pthread_t thread;
    struct timespec nap = {0, 200000000};
    state = first;
    pthread_create(&thread, NULL, changer, NULL);
    syscall(SYS_nanosleep, &nap, NULL);
    int seen = state;
    pthread_join(thread, NULL);
    return seen;
}

int main(void)
{
    printf("%d\n", run(1));
    return 0;
}
