/* Does not want to be looked at: not dumpable, so that its memory cannot be read from outside. Hosted. */
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>

static int shared;

static void *work(void *arg)
{
    (void)arg;
    shared++;
    return NULL;
}

int main(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    puts("done");
    return 0;
}
