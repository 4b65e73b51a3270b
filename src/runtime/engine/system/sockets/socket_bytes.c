/* Sockets: bytes and datagrams that come and go. */
#include "runtime/engine/processes/children.h"
#include "runtime/engine/system/descriptors/descriptor.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/sockets/netlink.h"
#include "runtime/engine/system/sockets/socket_internal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>

/* Before each datagram in the queue. */
struct header {
    uint32_t size;
    struct dh_socket_address from;
};

static struct dh_socket *socket_of(const struct dh_description *d)
{
    return d->state;
}

static int take_error(struct dh_socket *s)
{
    int error = s->error;
    s->error = 0;
    return error;
}

static bool is_at_end(const struct dh_socket *s)
{
    return s->no_reading || s->refused || (s->peer_closed && s->type != SOCK_DGRAM);
}

/* ---- receiving ---- */

static void tell_sender(const struct dh_transfer *t, const struct dh_socket_address *from)
{
    if (!t->message)
        return;
    t->message->msg_controllen = 0;
    t->message->msg_flags = 0;
    if (t->message->msg_name)
        dh_socket_tell_address(from, t->message->msg_name, &t->message->msg_namelen);
    else
        t->message->msg_namelen = 0;
}

static const struct dh_socket_address nobody;

/* What a receiver is told of who sent it: an unnamed Unix socket has no address. */
static struct dh_socket_address sender(const struct dh_socket *s)
{
    return s && (s->own.size > offsetof(struct sockaddr_un, sun_path) || s->domain != AF_UNIX) ? s->own : nobody;
}

static long receive_bytes(struct dh_socket *s, const struct dh_transfer *t)
{
    size_t left = t->size - t->done, n = s->in.n < left ? s->in.n : left;
    struct dh_socket_address from = s->domain != AF_UNIX ? nobody : s->peer ? sender(s->peer) : s->other;
    tell_sender(t, &from);
    dh_byte_queue_peek(&s->in, 0, t, t->done, n);
    if (!(t->flags & MSG_PEEK)) {
        dh_byte_queue_drop(&s->in, n);
        dh_socket_output(s->peer);
    }
    return (long)n;
}

static long receive_datagram(struct dh_socket *s, const struct dh_transfer *t)
{
    struct header h;
    dh_byte_queue_peek_raw(&s->in, 0, &h, sizeof h);
    size_t n = h.size < t->size ? h.size : t->size;
    tell_sender(t, &h.from);
    dh_byte_queue_peek(&s->in, sizeof h, t, 0, n);
    if (t->message && n < h.size)
        t->message->msg_flags = MSG_TRUNC;
    if (!(t->flags & MSG_PEEK)) {
        dh_byte_queue_drop(&s->in, sizeof h + h.size);
        dh_socket_output(s->peer);
    }
    return (long)(t->flags & MSG_TRUNC ? h.size : n);
}

static long receive(struct dh_description *d, const struct dh_transfer *t)
{
    struct dh_socket *s = socket_of(d);
    if (t->flags & MSG_OOB)
        return -EINVAL;
    if (s->from_child && (s->in.n || is_at_end(s)))
        dh_io_acquire(dh_forked_table());
    if (s->error && !dh_socket_is_stream(s))
        return -take_error(s);
    if (s->in.n)
        return dh_socket_is_stream(s) ? receive_bytes(s, t) : receive_datagram(s, t);
    bool never = s->type != SOCK_DGRAM && !s->connected && !s->peer_closed;
    if (s->error)
        return -take_error(s);
    if (never && s->domain == AF_UNIX)
        return s->type == SOCK_STREAM ? -EINVAL : -ENOTCONN;
    bool waits = !(d->flags & O_NONBLOCK) && !(t->flags & MSG_DONTWAIT);
    if (is_at_end(s) && (s->type != SOCK_DGRAM || waits)) {
        tell_sender(t, &nobody);
        return 0;
    }
    return never ? -ENOTCONN : -EAGAIN;
}

/* ---- sending ---- */

static bool has_room(const struct dh_socket *to, size_t size)
{
    if (dh_socket_is_stream(to))
        return to->in.n < to->capacity;
    return to->in.n == 0 || to->in.n + size + sizeof(struct header) <= to->capacity;
}

static void refuse_rights(const struct dh_transfer *t)
{
    if (t->message && t->message->msg_controllen)
        dh_syscalls_never_do("descriptors sent over a socket");
}

static long send_bytes(struct dh_socket *s, const struct dh_transfer *t)
{
    struct dh_socket *to = s->peer;
    size_t left = t->size - t->done;
    bool names = t->message && t->message->msg_name && s->domain == AF_UNIX;
    if (names)
        return s->connected || s->peer_closed ? -EISCONN : -EOPNOTSUPP;
    if (!s->connected && !s->peer_closed)
        return s->domain == AF_UNIX ? -ENOTCONN : -EPIPE;
    if (!to || s->no_writing)
        return -EPIPE;
    if (!has_room(to, left))
        return -EAGAIN;
    size_t room = to->capacity - to->in.n, n = room < left ? room : left;
    dh_byte_queue_put(&to->in, t, t->done, n);
    dh_socket_input(to);
    if (to->bridges) {
        dh_io_release(dh_forked_table());
        dh_children_channel_changed(to);
    }
    return (long)n;
}

/* NULL: nobody has that name. */
static struct dh_socket *receiver_of(const struct dh_socket *s, const struct dh_transfer *t)
{
    bool names = t->message && t->message->msg_name && s->type == SOCK_DGRAM;
    if (!names && (s->peer || s->peer_closed || !s->other.size))
        return s->peer;
    struct dh_socket_address to =
        names ? dh_socket_address_of(t->message->msg_name, t->message->msg_namelen) : s->other;
    if (!dh_socket_is_local(&to))
        dh_syscalls_never(SYS_sendto);
    return dh_socket_find(s->type, false, &to);
}

/* A Unix socket that sends datagrams notices that the other end is gone, and loses what came from there. */
static long disconnected(struct dh_socket *s)
{
    dh_byte_queue_release(&s->in);
    s->peer_closed = s->connected = false;
    return -ECONNREFUSED;
}

static long nobody_receives(struct dh_socket *s, const struct dh_transfer *t)
{
    bool names = t->message && t->message->msg_name && s->type == SOCK_DGRAM;
    if (s->peer_closed && !names)
        return s->type == SOCK_SEQPACKET ? -EPIPE : disconnected(s);
    if (!names && !s->connected)
        return s->domain == AF_UNIX ? -ENOTCONN : -EDESTADDRREQ;
    return s->domain == AF_UNIX ? -ECONNREFUSED : (long)t->size; /* lost on its way */
}

static bool names_nobody(const struct dh_transfer *t)
{
    const struct sockaddr *to = t->message ? t->message->msg_name : NULL;
    return to && to->sa_family == AF_UNIX && t->message->msg_namelen <= offsetof(struct sockaddr_un, sun_path);
}

static long send_datagram(struct dh_socket *s, const struct dh_transfer *t)
{
    if (names_nobody(t) && s->type == SOCK_DGRAM)
        return -EINVAL;
    if (s->type == SOCK_SEQPACKET && !s->connected && !s->peer_closed)
        return -ENOTCONN;
    if (!s->named && s->domain != AF_UNIX)
        dh_socket_give_name(s, &s->own);
    struct header h = {(uint32_t)t->size, sender(s)};
    struct dh_socket *to = receiver_of(s, t);
    if (!to)
        return nobody_receives(s, t);
    if (s->no_writing || (to->no_reading && s->domain == AF_UNIX))
        return -EPIPE;
    if (s->type == SOCK_DGRAM && !dh_socket_hears(to, s))
        return s->domain == AF_UNIX ? -EPERM : (long)t->size;
    if (t->size + sizeof h > to->capacity)
        return -EMSGSIZE;
    if (!has_room(to, t->size))
        return s->domain == AF_UNIX ? -EAGAIN : (long)t->size;
    dh_byte_queue_put_raw(&to->in, &h, sizeof h);
    dh_byte_queue_put(&to->in, t, 0, t->size);
    dh_socket_input(to);
    return (long)t->size;
}

void dh_socket_put_datagram(struct dh_socket *to, const struct dh_socket_address *from, const void *bytes, size_t n)
{
    struct header h = {(uint32_t)n, *from};
    dh_byte_queue_put_raw(&to->in, &h, sizeof h);
    dh_byte_queue_put_raw(&to->in, bytes, n);
    dh_socket_input(to);
}

static long transmit(struct dh_description *d, const struct dh_transfer *t)
{
    struct dh_socket *s = socket_of(d);
    refuse_rights(t);
    bool is_over = s->domain == AF_UNIX && s->type == SOCK_STREAM && (s->peer_closed || s->no_writing);
    if (s->error && !is_over)
        return -take_error(s);
    if (s->domain == AF_NETLINK)
        return dh_netlink_ask(s, t);
    return dh_socket_is_stream(s) ? send_bytes(s, t) : send_datagram(s, t);
}

/* ---- readiness ---- */

static uint32_t poll_socket(const struct dh_description *d, size_t size)
{
    const struct dh_socket *s = socket_of(d);
    if (s->listens)
        return s->waiting ? POLLIN | POLLRDNORM : 0;
    uint32_t events = (s->in.n || is_at_end(s) ? POLLIN | POLLRDNORM : 0) | (s->error ? POLLERR : 0);
    if (is_at_end(s))
        events |= POLLRDHUP;
    if (s->type == SOCK_DGRAM ? !s->peer || has_room(s->peer, size)
                              : s->error || s->peer_closed || (s->peer && has_room(s->peer, size)))
        events |= POLLOUT | POLLWRNORM;
    bool hung = (s->type != SOCK_DGRAM && s->peer_closed) || (s->no_reading && s->no_writing);
    bool never = s->type != SOCK_DGRAM && !s->connected;
    return events | (hung || never ? POLLHUP : 0) | (never ? POLLOUT : 0);
}

/* A listener that nobody here connects to is for others. */
static bool waits_for_outside(const struct dh_description *d)
{
    const struct dh_socket *s = socket_of(d);
    return s->listens && !s->served;
}

static void release(struct dh_description *d)
{
    struct dh_socket *s = socket_of(d);
    s->d = NULL;
    if (!s->children)
        dh_socket_leave(s);
    if (!s->bridges) {
        dh_socket_free(s);
        return;
    }
    dh_io_release(dh_forked_table());
    dh_children_channel_changed(s);
}

/* ---- ends that child processes have ---- */

struct dh_socket *dh_socket_of_pair(long fd)
{
    struct dh_socket *s = dh_socket_of(fd);
    return s && dh_socket_is_stream(s) && s->peer && s->connected ? s : NULL;
}

struct dh_socket *dh_socket_peer(const struct dh_socket *s)
{
    return s->peer;
}

bool dh_socket_is_ours(const struct dh_socket *s)
{
    return s->d;
}

bool dh_socket_is_shut(const struct dh_socket *s)
{
    return s->no_writing;
}

void dh_socket_peer_is_done(struct dh_socket *s)
{
    if (s->no_reading)
        return;
    s->no_reading = true;
    dh_socket_input(s);
}

void dh_socket_share(struct dh_socket *s, int children)
{
    s->children += (uint32_t)children;
    if (s->peer)
        s->peer->from_child |= children > 0;
    if (!s->children && !s->d)
        dh_socket_leave(s);
}

void dh_socket_hold(struct dh_socket *s, int bridges)
{
    s->bridges += (uint32_t)bridges;
    if (!s->bridges && !s->d)
        dh_socket_free(s);
}

size_t dh_socket_peek(const struct dh_socket *s, void *to, size_t n)
{
    n = n < s->in.n ? n : s->in.n;
    dh_byte_queue_peek_raw(&s->in, 0, to, n);
    return n;
}

void dh_socket_drop(struct dh_socket *s, size_t n)
{
    dh_byte_queue_drop(&s->in, n);
    dh_socket_output(s->peer);
}

/* Of datagrams that of the first, of packets of a connection all. */
static int unread(const struct dh_socket *s)
{
    struct header h = {.size = 0};
    int n = 0;
    if (dh_socket_is_stream(s))
        return (int)s->in.n;
    for (size_t at = 0; at < s->in.n; at += sizeof h + h.size) {
        dh_byte_queue_peek_raw(&s->in, at, &h, sizeof h);
        n += (int)h.size;
        if (s->type == SOCK_DGRAM)
            break;
    }
    return n;
}

static long control(struct dh_description *d, unsigned long request, long argument)
{
    const struct dh_socket *s = socket_of(d);
    if (request != FIONREAD && request != SIOCOUTQ)
        return request < 2048 ? -EINVAL : dh_netlink_ask_interface(request, argument);
    if (s->listens)
        return -EINVAL;
    *(int *)argument = request == SIOCOUTQ ? 0 : unread(s);
    return 0;
}

const struct dh_description_ops dh_socket_ops = {.name = "socket",
                                                 .read = receive,
                                                 .write = transmit,
                                                 .poll = poll_socket,
                                                 .waits_for_outside = waits_for_outside,
                                                 .release = release,
                                                 .control = control};
