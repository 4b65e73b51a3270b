/* The stop flag is set after the wake-up byte was written: the loop sees the byte, not the flag, and polls for ever.
 * Expected: deadlock or lost-wakeup. */
#include "threads.h"

#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

static int wake[2];
static atomic_int is_stopped;

static void *loop(void *arg)
{
    struct pollfd p = {.fd = wake[0], .events = POLLIN};
    char byte;
    while (!is_stopped)
        if (poll(&p, 1, -1) == 1 && read(wake[0], &byte, 1) != 1)
            abort();
    return arg;
}

int main(void)
{
    if (pipe(wake))
        return 2;
    pthread_t t = start(loop, 0);
    for (int i = 0; i < 8; i++)
        own_work();
#ifdef FIXED
    is_stopped = 1;
    if (write(wake[1], "", 1) != 1)
        return 2;
#else
    if (write(wake[1], "", 1) != 1)
        return 2;
    is_stopped = 1;
#endif
    finish(t);
    return 0;
}
