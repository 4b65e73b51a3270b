/* A message is sent as two datagrams, its length and its bytes; those of two senders mix.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *sender(void *arg)
{
    char body[3] = "ab";
    long length = 1 + (long)arg;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    if (send(ends[1], &length, sizeof length, 0) < 0 || send(ends[1], body, (size_t)length, 0) < 0)
        abort();
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends))
        return 2;
    RUN(sender, sender);
    for (int i = 0; i < 2; i++) {
        long length = 0;
        char body[16];
        assert(recv(ends[0], &length, sizeof length, 0) == sizeof length);
        assert(recv(ends[0], body, sizeof body, 0) == length);
    }
    return 0;
}
