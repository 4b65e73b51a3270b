/* One read of an eventfd takes all its counts, but the consumer handles one item for each read: items are left over.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int fd;
static atomic_int queued, handled;

static void *producer(void *arg)
{
    uint64_t one = 1;
    for (int i = 0; i < 2; i++) {
        queued++;
        assert(write(fd, &one, sizeof one) == sizeof one);
        for (int k = 0; k < 20; k++)
            own_work();
    }
    return arg;
}

static void *consumer(void *arg)
{
    uint64_t n = 0;
    for (int seen = 0; seen < 2; seen += (int)n) {
        assert(read(fd, &n, sizeof n) == sizeof n);
#ifdef FIXED
        handled += (int)n;
#else
        handled++;
#endif
    }
    return arg;
}

int main(void)
{
    fd = eventfd(0, EFD_CLOEXEC);
    RUN(consumer, producer);
    assert(handled == 2);
    close(fd);
    return 0;
}
