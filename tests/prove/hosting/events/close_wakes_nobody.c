/* A listener is closed to end the thread that waits for connections: it goes on waiting; shutdown would wake it.
 * Expected: deadlock. */
#include "threads.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener, ends[2];

static void *server(void *arg)
{
    int fd = accept(listener, NULL, NULL);
    if (fd >= 0)
        close(fd);
    return arg;
}

static void *reader(void *arg)
{
    char c;
    if (read(ends[0], &c, 1) > 0)
        abort();
    return arg;
}

int main(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (pipe(ends) || bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 5))
        return 2;
    pthread_t s = start(server, 0), r = start(reader, 0);
#ifdef FIXED
    shutdown(listener, SHUT_RDWR);
    close(ends[1]);
    finish(s);
    finish(r);
    close(listener);
#else
    close(listener);
    close(ends[0]);
    finish(s);
    finish(r);
#endif
    return 0;
}
