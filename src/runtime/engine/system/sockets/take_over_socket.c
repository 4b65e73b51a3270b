/* Sockets that are open at the snapshot. */
#include "runtime/core/start.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/descriptors/take_over.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/sockets/socket.h"
#include "runtime/platform/bytes.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stddef.h>
#include <sys/stat.h>

enum { SOCKETS = 700 };

/* By number, until the connections are known. */
static struct taken {
    struct dh_socket *of[SOCKETS];
    struct address {
        union dh_socket_name at;
        socklen_t size;
    } own[SOCKETS], peer[SOCKETS];
    bool open[SOCKETS]; /* connected, the other end not found yet */
} taken;

static int option(long fd, int which)
{
    int value = -1, size = sizeof value;
    return dh_kernel_call(SYS_getsockopt, fd, SOL_SOCKET, which, (long)&value, (long)&size, 0) < 0 ? -1 : value;
}

static bool get_name(long number, long fd, struct address *out)
{
    *out = (struct address){.size = sizeof out->at};
    if (dh_kernel_call(number, fd, (long)&out->at, (long)&out->size, 0, 0, 0) < 0) {
        out->size = 0;
        return false;
    }
    return true;
}

static const struct dh_socket_address *known_address(const struct address *a, struct dh_socket_address *room)
{
    *room = (struct dh_socket_address){a->at, a->size};
    return room;
}

static bool has_name(const struct address *a)
{
    if (a->at.any.sa_family == AF_UNIX)
        return a->size > offsetof(struct sockaddr_un, sun_path);
    return a->at.any.sa_family == AF_INET6 ? a->at.six.sin6_port : a->at.four.sin_port;
}

static unsigned flags_of(long fd)
{
    return (unsigned)dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
}

void dh_take_over_socket(long fd)
{
    int domain = option(fd, SO_DOMAIN), type = option(fd, SO_TYPE);
    struct dh_socket_address own;
    if (domain != AF_UNIX && domain != AF_INET && domain != AF_INET6) {
        dh_outside_take_over(fd, "socket", flags_of(fd));
        return;
    }
    bool connected = get_name(SYS_getpeername, fd, &taken.peer[fd]);
    get_name(SYS_getsockname, fd, &taken.own[fd]);
    struct dh_socket *s = taken.of[fd] = dh_socket_take_over(fd, domain, type, flags_of(fd));
    taken.open[fd] = connected;
    if (!connected && has_name(&taken.own[fd]))
        dh_socket_named(s, known_address(&taken.own[fd], &own), NULL);
    if (option(fd, SO_ACCEPTCONN) == 1)
        dh_socket_listens(s);
}

/* ---- who is connected with whom ---- */

/* Asks the kernel for the inode of a Unix socket's peer; 0: unknown. */
static uint64_t peer_inode(uint64_t inode)
{
    struct {
        struct nlmsghdr h;
        struct unix_diag_req r;
    } ask = {{sizeof ask, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0},
             {AF_UNIX, 0, 0, ~0u, (uint32_t)inode, UDIAG_SHOW_PEER, {~0u, ~0u}}};
    char answer[1024];
    long fd = dh_kernel_call(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG, 0, 0, 0);
    long sent = fd < 0 ? -1 : dh_kernel_call(SYS_sendto, fd, (long)&ask, sizeof ask, 0, 0, 0);
    long n = sent < 0 ? -1 : dh_kernel_call(SYS_recvfrom, fd, (long)answer, sizeof answer, 0, 0, 0);
    if (fd >= 0)
        dh_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    const struct nlmsghdr *h = (const struct nlmsghdr *)answer;
    if (n < (long)(sizeof *h + sizeof(struct unix_diag_msg)) || h->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    long at = NLMSG_LENGTH(sizeof(struct unix_diag_msg)), end = (long)h->nlmsg_len < n ? (long)h->nlmsg_len : n;
    for (; at + (long)sizeof(struct nlattr) <= end; at += NLA_ALIGN(((const struct nlattr *)(answer + at))->nla_len)) {
        const struct nlattr *attribute = (const struct nlattr *)(answer + at);
        if (attribute->nla_type == UNIX_DIAG_PEER)
            return *(const uint32_t *)(answer + at + NLA_HDRLEN);
        if (attribute->nla_len < NLA_HDRLEN)
            break;
    }
    return 0;
}

static uint64_t inode_of(long fd)
{
    struct stat s;
    return dh_kernel_call(SYS_fstat, fd, (long)&s, 0, 0, 0, 0) == 0 ? s.st_ino : 0;
}

static long unix_peer(long fd)
{
    uint64_t peer = peer_inode(inode_of(fd));
    for (long other = 0; peer && other < SOCKETS; other++)
        if (taken.open[other] && inode_of(other) == peer)
            return other;
    return -1;
}

static bool is_same_port(const struct address *a, const struct address *b)
{
    return a->at.any.sa_family == b->at.any.sa_family && a->at.four.sin_port == b->at.four.sin_port;
}

static long internet_peer(long fd)
{
    for (long other = 0; other < SOCKETS; other++)
        if (other != fd && taken.open[other] && is_same_port(&taken.own[other], &taken.peer[fd]) &&
            is_same_port(&taken.peer[other], &taken.own[fd]))
            return other;
    return -1;
}

static void copy_content(long fd, char *scratch, size_t room)
{
    long n = dh_kernel_call(SYS_recvfrom, fd, (long)scratch, (long)room, MSG_PEEK | MSG_DONTWAIT, 0, 0);
    if (n > 0 && option(fd, SO_TYPE) != SOCK_STREAM)
        dh_engine_cannot("datagrams that were sent before the first thread, descriptor %d", (int)fd);
    if (n > 0)
        dh_socket_fill(taken.of[fd], scratch, (size_t)n);
}

static void find_other_end(long fd, char *scratch, size_t room)
{
    struct dh_socket_address own, to;
    struct dh_socket *s = taken.of[fd];
    long other = taken.own[fd].at.any.sa_family == AF_UNIX ? unix_peer(fd) : internet_peer(fd);
    taken.open[fd] = false;
    dh_socket_named(s, NULL, known_address(&taken.peer[fd], &to));
    if (other >= 0) {
        taken.open[other] = false;
        dh_socket_connected(s, taken.of[other]);
        dh_socket_named(taken.of[other], NULL, known_address(&taken.peer[other], &own));
        copy_content(fd, scratch, room);
        copy_content(other, scratch, room);
    } else if (!dh_socket_pending(s, &to))
        dh_outside_take_over(fd, "socket", flags_of(fd));
}

void dh_take_over_connections(char *scratch, size_t room)
{
    for (long fd = 0; fd < SOCKETS; fd++)
        if (taken.open[fd])
            find_other_end(fd, scratch, room);
}
