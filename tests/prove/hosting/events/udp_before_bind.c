/* A datagram that is sent before the receiver has its port is lost, and the receiver waits for ever.
 * Expected: deadlock. */
#include "threads.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in at = {.sin_family = AF_INET};
static int receiver;

static void bind_it(void)
{
    if (bind(receiver, (struct sockaddr *)&at, sizeof at))
        abort();
}

static void *receive(void *arg)
{
    char c;
#ifndef FIXED
    bind_it();
#endif
    if (recv(receiver, &c, 1, 0) != 1)
        abort();
    return arg;
}

static void *transmit(void *arg)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sendto(fd, "x", 1, 0, (struct sockaddr *)&at, sizeof at) != 1)
        abort();
    close(fd);
    return arg;
}

int main(void)
{
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(47123);
    receiver = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
#ifdef FIXED
    bind_it();
#endif
    RUN(receive, transmit);
    close(receiver);
    return 0;
}
