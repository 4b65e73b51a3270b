/* A slot is taken from a semaphore eventfd only after poll said that there is one; another thread was faster.
 * Expected: deadlock. */
#include "threads.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int slots;

static void *worker(void *arg)
{
    struct pollfd p = {slots, POLLIN, 0};
    uint64_t one = 0;
    if (poll(&p, 1, 0) == 1 && read(slots, &one, sizeof one) == sizeof one && one != 1)
        abort();
    return arg;
}

int main(void)
{
#ifdef FIXED
    slots = eventfd(3, EFD_CLOEXEC | EFD_SEMAPHORE);
#else
    slots = eventfd(2, EFD_CLOEXEC | EFD_SEMAPHORE);
#endif
    RUN(worker, worker, worker);
    close(slots);
    return 0;
}
