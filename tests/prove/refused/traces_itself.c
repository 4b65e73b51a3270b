/* Asks to be traced by its parent, as programs do that want no debugger.
 * Refused: it asks to be traced \(ptrace\) */
#include <pthread.h>
#include <stdio.h>
#include <sys/ptrace.h>

static int shared;

static void *work(void *arg)
{
    (void)arg;
    shared++;
    return NULL;
}

int main(void)
{
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) {
        puts("no debugger, please");
        return 1;
    }
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
    puts("done");
    return 0;
}
