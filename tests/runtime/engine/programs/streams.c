/* What is guarded by the lock of a stream is ordered; libc's own use of that lock waits for it.
 * drive: --schedules=300 --extend
 * expect: ends: done 300$ */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int shared;

static void *writes(void *a)
{
    for (int i = 0; i < 2; i++) {
        flockfile(stdout);
        flockfile(stdout);
        int seen = shared;
        printf("hello ");
        sched_yield();
        if (shared != seen)
            abort();
        shared = seen + 1;
        printf("world\n");
        funlockfile(stdout);
        funlockfile(stdout);
        puts("unguarded");
        if (ftrylockfile(stdout) == 0)
            funlockfile(stdout);
    }
    return a;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, writes, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    if (shared != 4)
        abort();
}
