/* Pipes and event descriptors that were made before the threads hold in every schedule what they held then.
 * drive: --schedules=300
 * expect: ends: done 300$ */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int ends[2], event;

static void *writes(void *a)
{
    uint64_t one = 1;
    if (write(ends[1], "bc", 2) != 2 || write(event, &one, 8) != 8)
        abort();
    return a;
}

int main(void)
{
    pthread_t t;
    char bytes[3];
    uint64_t count;
    event = eventfd(5, 0);
    if (pipe(ends) || write(ends[1], "a", 1) != 1)
        abort();
    pthread_create(&t, 0, writes, 0);
    for (int n = 0; n < 3;)
        n += read(ends[0], bytes + n, 3 - n);
    if (bytes[0] != 'a' || bytes[2] != 'c')
        abort();
    pthread_join(t, 0);
    if (read(event, &count, 8) != 8 || count != 6)
        abort();
}
