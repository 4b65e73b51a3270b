/* Names of sockets: which are taken, and who is found by them. */
#include "runtime/engine/system/sockets/socket_internal.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <stddef.h>

const char dh_socket_names;

enum { FIRST_PORT = 40000 };

static struct dh_socket *all;
static uint16_t next_port;

static bool is_internet(int family)
{
    return family == AF_INET || family == AF_INET6;
}

static uint16_t port_of(const struct dh_socket_address *a)
{
    return a->at.any.sa_family == AF_INET6 ? a->at.six.sin6_port : a->at.four.sin_port;
}

/* All internet addresses are this machine. */
static bool is_same(const struct dh_socket_address *a, const struct dh_socket_address *b)
{
    if (is_internet(a->at.any.sa_family) && is_internet(b->at.any.sa_family))
        return port_of(a) == port_of(b);
    if (a->at.any.sa_family != b->at.any.sa_family || a->at.any.sa_family != AF_UNIX)
        return false;
    if (a->at.path.sun_path[0])
        return dh_text_equal(a->at.path.sun_path, b->at.path.sun_path);
    bool same = a->size == b->size && a->size > offsetof(struct sockaddr_un, sun_path);
    for (size_t i = 0; same && i < a->size - offsetof(struct sockaddr_un, sun_path); i++)
        same = a->at.path.sun_path[i] == b->at.path.sun_path[i];
    return same;
}

struct dh_socket_address dh_socket_address_of(const void *at, long size)
{
    struct dh_socket_address a = {.size = 0};
    if (!at || size < (long)sizeof a.at.any.sa_family)
        return a;
    a.size = size < (long)sizeof a.at ? (socklen_t)size : sizeof a.at;
    dh_bytes_copy(&a.at, at, a.size);
    if (a.size < sizeof a.at)
        ((char *)&a.at)[a.size] = 0;
    return a;
}

void dh_socket_tell_address(const struct dh_socket_address *from, void *to, socklen_t *size)
{
    if (!to || !size)
        return;
    socklen_t n = *size < from->size ? *size : from->size;
    dh_bytes_copy(to, &from->at, n);
    *size = from->size;
}

static bool is_any(const struct dh_socket_address *a)
{
    const uint32_t *six = a->at.six.sin6_addr.s6_addr32;
    if (a->at.any.sa_family == AF_INET)
        return !a->at.four.sin_addr.s_addr;
    return a->at.any.sa_family == AF_INET6 && !(six[0] | six[1] | six[2] | six[3]);
}

static struct dh_socket_address mapped(const struct dh_socket_address *a)
{
    struct dh_socket_address six = {.at.six = {.sin6_family = AF_INET6, .sin6_port = a->at.four.sin_port},
                                    .size = sizeof six.at.six};
    unsigned char *to = six.at.six.sin6_addr.s6_addr;
    to[10] = to[11] = 0xff;
    dh_bytes_copy(to + 12, &a->at.four.sin_addr, sizeof a->at.four.sin_addr);
    return six;
}

struct dh_socket_address dh_socket_seen(int domain, const struct dh_socket_address *a)
{
    struct dh_socket_address seen = *a;
    if (is_any(a) && a->at.any.sa_family == AF_INET)
        seen.at.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (is_any(a) && a->at.any.sa_family == AF_INET6)
        seen.at.six.sin6_addr.s6_addr[15] = 1;
    return domain == AF_INET6 && a->at.any.sa_family == AF_INET ? mapped(&seen) : seen;
}

bool dh_socket_hears(const struct dh_socket *s, const struct dh_socket *from)
{
    return !s->connected || (s->peer ? s->peer == from : is_same(&s->other, &from->own));
}

bool dh_socket_is_local(const struct dh_socket_address *to)
{
    if (to->at.any.sa_family == AF_UNIX)
        return true;
    if (to->at.any.sa_family == AF_INET) {
        uint32_t host = ntohl(to->at.four.sin_addr.s_addr);
        return !host || host >> 24 == 127;
    }
    const unsigned char *six = to->at.six.sin6_addr.s6_addr;
    bool zeros = true;
    for (unsigned i = 0; i < 10; i++)
        zeros = zeros && !six[i];
    return to->at.any.sa_family == AF_INET6 && zeros && (six[12] == 127 || six[15] <= 1);
}

struct dh_socket *dh_socket_find(int type, bool listener, const struct dh_socket_address *to)
{
    for (struct dh_socket *s = all; s; s = s->next)
        if (s->type == type && s->listens == listener && is_same(&s->own, to))
            return s;
    return NULL;
}

void dh_socket_forget_name(struct dh_socket *s)
{
    struct dh_socket **at = &all;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    s->next = NULL;
    s->named = false;
}

static bool is_taken(const struct dh_socket *s, const struct dh_socket_address *name)
{
    for (const struct dh_socket *o = all; o; o = o->next)
        if (o->type == s->type && is_same(&o->own, name) && !(o->reuses_port && s->reuses_port))
            return true;
    return false;
}

/* Port 0: any that is free. */
static void choose_port(const struct dh_socket *s, struct dh_socket_address *name)
{
    do {
        uint16_t port = htons((uint16_t)(FIRST_PORT + next_port++));
        if (name->at.any.sa_family == AF_INET6)
            name->at.six.sin6_port = port;
        else
            name->at.four.sin_port = port;
    } while (is_taken(s, name));
}

long dh_socket_give_name(struct dh_socket *s, const struct dh_socket_address *name)
{
    struct dh_socket_address own = *name;
    if (s->named || (s->connected && s->domain != AF_UNIX))
        return -EINVAL;
    if (own.at.any.sa_family != s->domain)
        return own.at.any.sa_family == AF_UNSPEC ? -EINVAL : -EAFNOSUPPORT;
    if (is_internet(s->domain) && !port_of(&own))
        choose_port(s, &own);
    else if (is_taken(s, &own))
        return -EADDRINUSE;
    s->own = own;
    s->named = true;
    s->next = all;
    all = s;
    return 0;
}
