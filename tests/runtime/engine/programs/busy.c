/* A thread that looks at the same flag over and over while it works is not one that hangs.
 * drive: --schedules=20
 * expect: ends: done 20$ */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int stop;
static int done[2];

static void *works(void *a)
{
    int *mine = a;
    for (int i = 0; i < 20000; i++) {
        if (atomic_load(&stop))
            break;
        ++*mine;
    }
    return a;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], 0, works, &done[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    if (done[0] != 20000 || done[1] != 20000)
        abort();
}
