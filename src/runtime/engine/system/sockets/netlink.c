#include "runtime/engine/system/sockets/netlink.h"

#include "runtime/core/start.h"
#include "runtime/engine/system/descriptors/descriptor.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

enum { REQUEST = 1024, ANSWER = 32768, ASKS = 2 /* of each group of four types: RTM_GET... */ };

bool dh_netlink_is_modelled(int type, int protocol)
{
    return (type == SOCK_RAW || type == SOCK_DGRAM) && protocol == NETLINK_ROUTE;
}

void dh_netlink_name(struct dh_socket *s)
{
    struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_pid = (uint32_t)dh_process.pid};
    s->own = (struct dh_socket_address){.at.netlink = own, .size = sizeof own};
    s->named = true;
}

static bool is_question(const struct nlmsghdr *h, size_t size)
{
    return size >= sizeof *h && h->nlmsg_len <= size && h->nlmsg_type >= RTM_BASE &&
           (h->nlmsg_type - RTM_BASE) % 4 == ASKS;
}

/* The asker knows its answers by its own number. */
static bool address_to(struct dh_socket *s, char *answer, long n)
{
    bool more = true;
    for (long at = 0; at + (long)sizeof(struct nlmsghdr) <= n;) {
        struct nlmsghdr *h = (struct nlmsghdr *)(answer + at);
        if (h->nlmsg_len < sizeof *h)
            return false;
        h->nlmsg_pid = s->own.at.netlink.nl_pid;
        more = h->nlmsg_type != NLMSG_DONE && h->nlmsg_type != NLMSG_ERROR && h->nlmsg_flags & NLM_F_MULTI;
        at += NLMSG_ALIGN(h->nlmsg_len);
    }
    return more;
}

static void ask_kernel(struct dh_socket *s, long fd, const char *request, size_t n)
{
    static char answer[ANSWER];
    const struct dh_socket_address kernel = {.at.netlink = {.nl_family = AF_NETLINK}, .size = sizeof kernel.at.netlink};
    long got = dh_kernel_call(SYS_sendto, fd, (long)request, (long)n, 0, 0, 0);
    const long receive[6] = {fd, (long)answer, ANSWER};
    while (got > 0 && (got = dh_syscalls_pass_through(SYS_recvfrom, receive)) > 0) {
        bool more = address_to(s, answer, got);
        dh_socket_put_datagram(s, &kernel, answer, (size_t)got);
        if (!more)
            return;
    }
}

long dh_netlink_ask(struct dh_socket *s, const struct dh_transfer *t)
{
    static char request[REQUEST] __attribute__((aligned(NLMSG_ALIGNTO)));
    if (t->size > REQUEST)
        return dh_syscalls_cannot(SYS_sendto);
    dh_transfer_take(t, 0, request, t->size);
    if (!is_question((const struct nlmsghdr *)request, t->size))
        return dh_syscalls_cannot(SYS_sendto);
    if (!s->named)
        dh_netlink_name(s);
    long fd = dh_kernel_call(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE, 0, 0, 0);
    if (fd < 0)
        return fd;
    ask_kernel(s, fd, request, t->size);
    dh_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return (long)t->size;
}

long dh_netlink_ask_interface(unsigned long request, long argument)
{
    static const uint16_t questions[] = {SIOCGIFNAME,    SIOCGIFCONF,    SIOCGIFFLAGS, SIOCGIFADDR,  SIOCGIFDSTADDR,
                                         SIOCGIFBRDADDR, SIOCGIFNETMASK, SIOCGIFMTU,   SIOCGIFINDEX, SIOCGIFHWADDR};
    bool asks = false;
    for (unsigned i = 0; i < sizeof questions / sizeof *questions; i++)
        asks = asks || request == questions[i];
    if (!asks)
        return -ENOTTY;
    long fd = dh_kernel_call(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0, 0, 0, 0);
    if (fd < 0)
        return fd;
    const long a[6] = {fd, (long)request, argument};
    long result = dh_syscalls_pass_through(SYS_ioctl, a);
    dh_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return result;
}
