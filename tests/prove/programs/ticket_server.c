/* Two workers take connections from a socket that listens since before the threads, and sell tickets to clients of the
 * same process: they look how many are left, and sell, in two steps.
 * Expected: assertion at `sold twice`. */
#include "threads.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sockaddr_in address = {.sin_family = AF_INET};
static int listener, tickets = 1;

static int sell(void)
{
    pthread_mutex_lock(&lock);
    int left = tickets;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (left > 0)
        tickets--;
    assert(tickets >= 0); /* sold twice */
    pthread_mutex_unlock(&lock);
    return left;
}

static void *worker(void *arg)
{
    struct sockaddr_in client;
    socklen_t size = sizeof client;
    char order;
    int on = 1, s = accept(listener, (struct sockaddr *)&client, &size);
    if (s < 0 || client.sin_family != AF_INET || setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
        abort();
    if (recv(s, &order, 1, 0) == 1) {
        order = sell() > 0 ? 'y' : 'n';
        if (send(s, &order, 1, MSG_NOSIGNAL) != 1)
            abort();
    }
    close(s);
    return arg;
}

static void *client(void *arg)
{
    struct sockaddr_in server;
    socklen_t size = sizeof server;
    char reply;
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address) || send(s, "1", 1, MSG_NOSIGNAL) != 1)
        abort();
    if (getpeername(s, (struct sockaddr *)&server, &size) || server.sin_port != address.sin_port)
        abort();
    if (recv(s, &reply, 1, 0) != 1)
        abort();
    close(s);
    return arg;
}

int main(void)
{
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4) ||
        getsockname(listener, (struct sockaddr *)&address, &size))
        abort();
    RUN(worker, client, worker, client);
    close(listener);
    return 0;
}
