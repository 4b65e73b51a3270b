/* A thread's vforked child writes into its parent's memory before it ends, which a copy of the program cannot show.
 * Refused: ends with exit code 1 at .*vfork_writes\.c:\d+ in main, natively it ends with exit code 0 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int from_child;
static int shared;

static void *starter(void *arg)
{
    (void)arg;
    pid_t child = vfork();
    if (child == 0) {
        from_child = 7;
        _exit(3);
    }
    int status;
    waitpid(child, &status, 0);
    shared++;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, starter, NULL);
    pthread_join(t, NULL);
    printf("%d\n", from_child);
    return from_child != 7;
}
