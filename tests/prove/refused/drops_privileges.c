/* A thread gives up what it may do, which every thread is told by a signal of libc's.
 * Refused: setgid at|in the engine it ends with .*33.* natively it ends with exit code 0 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int shared;

static void *work(void *arg)
{
    (void)arg;
    if (setgid(65534) || setuid(65534))
        puts("may not");
    shared++;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    printf("%d\n", (int)getuid());
    return 0;
}
