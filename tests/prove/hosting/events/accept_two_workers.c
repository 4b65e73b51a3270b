/* Two workers poll one listener; both see the connection, one takes it, and the other blocks in accept for ever.
 * Expected: deadlock. */
#include "threads.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;

static void *worker(void *arg)
{
    struct pollfd p = {listener, POLLIN, 0};
    if (poll(&p, 1, 20) == 1) {
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0)
            close(fd);
    }
    return arg;
}

static void *client(void *arg)
{
    struct sockaddr_in to;
    socklen_t size = sizeof to;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (getsockname(listener, (struct sockaddr *)&to, &size) || connect(fd, (struct sockaddr *)&to, size))
        abort();
    close(fd);
    return arg;
}

int main(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int kind = SOCK_STREAM | SOCK_CLOEXEC;
#ifdef FIXED
    kind |= SOCK_NONBLOCK;
#endif
    listener = socket(AF_INET, kind, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 5))
        return 2;
    RUN(client, worker, worker);
    close(listener);
    return 0;
}
