/* A client connects without waiting; nobody listens any more if the server was faster. The client takes any event for
 * a connection and does not ask for the error.
 * Expected: assertion. */
#include "threads.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;

static void *server(void *arg)
{
    close(listener);
    return arg;
}

int main(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&a, &size))
        return 2;
    pthread_t t = start(server, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), error = 0;
    connect(fd, (struct sockaddr *)&a, sizeof a);
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (poll(&p, 1, -1) != 1)
        return 2;
#ifdef FIXED
    size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
        return 2;
#endif
    if (!error) {
        size = sizeof a;
#ifdef FIXED
        getpeername(fd, (struct sockaddr *)&a, &size);
#else
        assert(getpeername(fd, (struct sockaddr *)&a, &size) == 0);
#endif
    }
    finish(t);
    return 0;
}
