/* A thread that reads from a pipe waits for the one that writes.
 * drive: --schedules=300
 * expect: ends: done 300$ */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2];

static void *writes(void *a)
{
    if (write(ends[1], "abc", 3) != 3)
        abort();
    return a;
}

static void *starts(void *a)
{
    char bytes[3];
    pthread_t t;
    struct pollfd p = {0, POLLIN, 0};
    if (pipe(ends))
        abort();
    pthread_create(&t, 0, writes, 0);
    p.fd = ends[0];
    if (poll(&p, 1, -1) != 1 || read(ends[0], bytes, 3) != 3 || bytes[2] != 'c')
        abort();
    pthread_join(t, 0);
    return a;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, starts, 0);
    pthread_join(t, 0);
}
