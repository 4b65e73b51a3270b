/* A thread resolves a name, for which libc asks the kernel which addresses the machine has; the result is looked at
 * without waiting for the thread.
 * Expected: race on `found`. */
#include "threads.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static struct addrinfo *found;

static void *resolver(void *arg)
{
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    if (getaddrinfo("127.0.0.1", "80", &hints, &list))
        abort();
    found = list;
    return arg;
}

int main(void)
{
    pthread_t t = start(resolver, 0);
#ifdef FIXED
    finish(t);
#endif
    int is_found = found && found->ai_addr;
#ifndef FIXED
    finish(t);
#endif
    freeaddrinfo(found);
    return !is_found && 0;
}
