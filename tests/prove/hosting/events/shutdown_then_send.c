/* One thread closes its end of a connection while the other still sends, and does not expect that to fail.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void *sender(void *arg)
{
    long n = send(ends[1], "x", 1, MSG_NOSIGNAL);
#ifdef FIXED
    (void)n;
#else
    assert(n == 1);
#endif
    return arg;
}

static void *closer(void *arg)
{
    own_work();
    close(ends[0]);
    return arg;
}

int main(void)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return 2;
    RUN(sender, closer);
    return 0;
}
