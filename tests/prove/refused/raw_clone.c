/* A thread that libc knows nothing of.
 * Refused: clone at .*raw_clone\.c:\d+, or hosted */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

static char stack[1 << 16];
static int shared;

static int child(void *p)
{
    (void)p;
    shared = 1;
    return 0;
}

static void *works(void *p)
{
    int pid = clone(child, stack + sizeof stack, CLONE_VM | SIGCHLD, 0);
    waitpid(pid, 0, 0);
    return p;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, works, 0);
    pthread_join(t, 0);
    return !shared;
}
