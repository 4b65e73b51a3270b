/* Two threads send each other more than a pipe holds before either reads.
 * Expected: deadlock. */
#include "threads.h"

#include <unistd.h>

enum { BYTES = 100000 };

static int to[2][2];

static void send_all(int fd)
{
    static const char zeros[BYTES];
    if (write(fd, zeros, BYTES) != BYTES)
        abort();
}

static void read_all(int fd)
{
    char some[4096];
    for (long n = 0, now; n < BYTES; n += now)
        if ((now = read(fd, some, sizeof some)) <= 0)
            abort();
}

static void *first(void *arg)
{
    send_all(to[1][1]);
    read_all(to[0][0]);
    return arg;
}

static void *second(void *arg)
{
#ifdef FIXED
    read_all(to[1][0]);
    send_all(to[0][1]);
#else
    send_all(to[0][1]);
    read_all(to[1][0]);
#endif
    return arg;
}

int main(void)
{
    if (pipe(to[0]) || pipe(to[1]))
        return 2;
    RUN(first, second);
    return 0;
}
