/* Somebody waits for a flag without synchronisation. A stale flag only makes it look again, and the newest value comes
 * sometimes: no failure. `only` is accessed by one thread alone. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static volatile int flag;
static int only;

static void *setter(void *unused)
{
    flag = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, setter, NULL);
    while (!flag)
        sched_yield();
    only++;
    pthread_join(thread, NULL);
    printf("%d\n", only);
    return 0;
}
