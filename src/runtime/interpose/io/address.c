/* Addresses of sockets: libc fills them in for its caller, and turns them into text and back. */
#include "runtime/interpose/rows.h"

#include <arpa/inet.h>
#include <sys/socket.h>

/* An address that does not fit is cut; its whole length is returned all the same. */
static void length_is_known(struct sockaddr *address, socklen_t room, socklen_t *n, const uintptr_t *slot)
{
    W(n, sizeof *n);
    W(address, *n < room ? *n : room);
}

#define TELLS(name)                                                                                                    \
    DH_ROW(int, name, (int fd, __SOCKADDR_ARG address, socklen_t *restrict n), (fd, address, n),                       \
           socklen_t room = n ? *n : 0, if (answer == 0) length_is_known(address.__sockaddr__, room, n, slot))

TELLS(getpeername)
TELLS(getsockname)

/* ---- as text ---- */

static size_t length_of(int family)
{
    return family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
}

static void written_as_text(int family, const void *address, char *text, const uintptr_t *slot)
{
    R(address, length_of(family));
    W(text, dh_real.strlen(text) + 1);
}

static void read_from_text(int family, const char *text, void *address, const uintptr_t *slot)
{
    R(text, dh_real.strlen(text) + 1);
    W(address, length_of(family));
}

DH_ROW(const char *, inet_ntop, (int family, const void *restrict address, char *restrict text, socklen_t room),
       (family, address, text, room), , if (answer) written_as_text(family, address, text, slot))
DH_ROW(int, inet_pton, (int family, const char *restrict text, void *restrict address), (family, text, address), ,
       if (answer == 1) read_from_text(family, text, address, slot))
