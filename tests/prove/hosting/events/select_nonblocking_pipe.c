/* Two consumers select on one non-blocking pipe; the one that comes second finds nothing and takes that for the end.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/select.h>
#include <unistd.h>

static int ends[2];
static atomic_int taken;

static void *consumer(void *arg)
{
    fd_set set;
    char byte;
    for (;;) {
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        if (select(ends[0] + 1, &set, NULL, NULL, NULL) != 1)
            return arg;
        ssize_t n = read(ends[0], &byte, 1);
        if (n == 1)
            taken++;
#ifdef FIXED
        else if (n == 0)
            return arg;
#else
        else {
            assert(n == 0);
            return arg;
        }
#endif
    }
}

int main(void)
{
    if (pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
        return 2;
    pthread_t a = start(consumer, 0), b = start(consumer, 1);
    for (int i = 0; i < 8; i++)
        own_work();
    if (write(ends[1], "x", 1) != 1)
        return 2;
    for (int i = 0; i < 40; i++)
        own_work();
    close(ends[1]);
    finish(a);
    finish(b);
    assert(taken == 1);
    return 0;
}
