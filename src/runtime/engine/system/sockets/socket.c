#include "runtime/engine/system/sockets/socket.h"

#include "runtime/core/start.h"
#include "runtime/engine/system/descriptors/descriptor.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/sockets/netlink.h"
#include "runtime/engine/system/sockets/socket_internal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/time.h>

enum { BUFFER = 212992, KIND = SOCK_STREAM | SOCK_DGRAM | SOCK_SEQPACKET };

/* ---- making and closing ---- */

struct dh_socket *dh_socket_new(int domain, int type)
{
    struct dh_socket *s = dh_model_alloc(sizeof *s);
    s->domain = domain;
    s->type = type;
    s->capacity = BUFFER;
    s->own = (struct dh_socket_address){.at.any.sa_family = (sa_family_t)domain, .size = sizeof(sa_family_t)};
    if (domain == AF_INET)
        s->own.size = sizeof s->own.at.four;
    if (domain == AF_INET6)
        s->own.size = sizeof s->own.at.six;
    return s;
}

struct dh_socket *dh_socket_of(long fd)
{
    const struct dh_description *d = dh_description_of(fd);
    return d && d->ops == &dh_socket_ops ? d->state : NULL;
}

bool dh_socket_is(long fd)
{
    return dh_socket_of(fd);
}

static long no_socket(long fd)
{
    return dh_description_of(fd) || dh_files_is_open(fd) ? -ENOTSOCK : -EBADF;
}

/* Streams: both ends are one object; all that use names share one. */
static const void *object_of(const struct dh_socket *s)
{
    return !s->peer || s->listens ? &dh_socket_names : s < s->peer ? (const void *)s : s->peer;
}

static void set_object(struct dh_socket *s)
{
    if (s->d)
        s->d->object = object_of(s);
}

long dh_socket_open(struct dh_socket *s, unsigned flags)
{
    long fd = dh_description_open(&dh_socket_ops, s, O_RDWR | (flags & SOCK_NONBLOCK), flags & SOCK_CLOEXEC, &s->d);
    if (fd < 0)
        dh_socket_free(s);
    else
        set_object(s);
    return fd;
}

void dh_socket_free(struct dh_socket *s)
{
    dh_byte_queue_release(&s->in);
    dh_model_free(s, sizeof *s);
}

static bool is_unnamed(const struct dh_socket_address *a)
{
    return a->at.any.sa_family == AF_UNIX && a->size <= offsetof(struct sockaddr_un, sun_path);
}

/* A peer that nobody accepted goes with it; one that is open sees the end. Its bytes on the way are lost to it only if
 * it leaves unread ones itself. */
void dh_socket_leave(struct dh_socket *s)
{
    dh_socket_forget_name(s);
    while (s->waiting) {
        struct dh_socket *w = s->waiting;
        s->waiting = w->next;
        if (w->peer)
            w->peer->error = ECONNRESET;
        dh_socket_leave(w);
        dh_socket_free(w);
    }
    struct dh_socket *peer = s->peer;
    if (!peer)
        return;
    if (s->domain == AF_UNIX && !is_unnamed(&s->own))
        peer->other = s->own;
    peer->peer = s->peer = NULL;
    peer->peer_closed = true;
    if (s->in.n && s->type != SOCK_DGRAM)
        peer->error = ECONNRESET;
    dh_socket_input(peer);
    dh_socket_output(peer);
}

static bool is_modelled(int domain, int type, int protocol)
{
    int kind = type & KIND;
    bool internet = domain == AF_INET || domain == AF_INET6;
    if (domain == AF_NETLINK)
        return dh_netlink_is_modelled(type, protocol);
    return (domain == AF_UNIX && kind) || (internet && (kind == SOCK_STREAM || kind == SOCK_DGRAM));
}

static int kind_of(int type)
{
    return type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
}

long dh_socket_make(long number, const long a[6])
{
    if (!is_modelled((int)a[0], kind_of((int)a[1]), (int)a[2]))
        return dh_syscalls_cannot(number);
    dh_io_step_numbers(NULL, -1);
    int type = a[0] == AF_NETLINK ? SOCK_DGRAM : kind_of((int)a[1]);
    return dh_socket_open(dh_socket_new((int)a[0], type), (unsigned)a[1]);
}

void dh_socket_connected(struct dh_socket *a, struct dh_socket *b)
{
    a->peer = b;
    b->peer = a;
    a->connected = b->connected = true;
    set_object(a);
    set_object(b);
}

long dh_socket_pair(long number, const long a[6])
{
    int *ends = (int *)a[3];
    if ((int)a[0] != AF_UNIX)
        return -EOPNOTSUPP;
    if (!is_modelled((int)a[0], kind_of((int)a[1]), (int)a[2]))
        return dh_syscalls_cannot(number);
    dh_io_step_numbers(NULL, -1);
    struct dh_socket *s[2];
    for (unsigned i = 0; i < 2; i++) {
        s[i] = dh_socket_new(AF_UNIX, kind_of((int)a[1]));
        long fd = dh_socket_open(s[i], (unsigned)a[1]);
        if (fd < 0) {
            if (i)
                dh_description_close(ends[0]);
            return fd;
        }
        ends[i] = (int)fd;
    }
    dh_socket_connected(s[0], s[1]);
    return 0;
}

/* ---- names ---- */

/* A step on names; then the socket again. */
static struct dh_socket *step_on_names(long fd)
{
    struct dh_io io = {
        .object = &dh_socket_names, .fd = (int)fd, .flags = DH_STEP_READS | DH_STEP_WRITES, .touch = DH_IO_CHANGES};
    dh_io_step(&io);
    return dh_socket_of(fd);
}

static long end_step(long result)
{
    if (result < 0 && result != -EINPROGRESS)
        dh_io_failed();
    return result;
}

long dh_socket_bind(long number, const long a[6])
{
    (void)number;
    struct dh_socket *s = step_on_names(a[0]);
    if (!s)
        return end_step(no_socket(a[0]));
    struct dh_socket_address name = dh_socket_address_of((const void *)a[1], (int)a[2]);
    if (s->domain == AF_NETLINK) {
        dh_netlink_name(s);
        return 0;
    }
    return end_step(dh_socket_give_name(s, &name));
}

void dh_socket_listens(struct dh_socket *s)
{
    s->listens = true;
    s->backlog = s->backlog ? s->backlog : 1;
    set_object(s);
}

/* An internet socket without a name gets one. */
static void name_if_needed(struct dh_socket *s)
{
    if (!s->named && s->domain != AF_UNIX)
        dh_socket_give_name(s, &s->own);
}

long dh_socket_listen(long number, const long a[6])
{
    (void)number;
    struct dh_socket *s = step_on_names(a[0]);
    if (!s)
        return end_step(no_socket(a[0]));
    if (s->type == SOCK_DGRAM || s->connected)
        return end_step(s->type == SOCK_DGRAM ? -EOPNOTSUPP : -EINVAL);
    if (s->connecting)
        return end_step(-EINVAL);
    if (!s->named && s->domain == AF_UNIX)
        return end_step(-EINVAL);
    name_if_needed(s);
    s->backlog = a[1] < 0 || a[1] > 4096 ? 4096 : (uint32_t)a[1] + 1;
    dh_socket_listens(s);
    return 0;
}

/* ---- connecting ---- */

static void wait_at(struct dh_socket *listener, struct dh_socket *server)
{
    struct dh_socket **at = &listener->waiting;
    while (*at)
        at = &(*at)->next;
    *at = server;
    listener->n_waiting++;
    listener->served = true;
    dh_socket_input(listener);
}

/* The address that it has for the other end of a connection. */
static void settle_address(struct dh_socket *s, const struct dh_socket_address *to)
{
    name_if_needed(s);
    struct dh_socket_address own = dh_socket_seen(s->domain, &s->own);
    if (s->domain == AF_INET6 && to->at.any.sa_family == AF_INET6 && own.at.six.sin6_addr.s6_addr[15] == 1)
        own.at.six.sin6_addr = dh_socket_seen(AF_INET6, to).at.six.sin6_addr;
    s->own = own;
}

static void connect_to(struct dh_socket *client, struct dh_socket *listener, const struct dh_socket_address *to)
{
    struct dh_socket *server = dh_socket_new(listener->domain, listener->type);
    settle_address(client, to);
    dh_socket_forget_name(client); /* its port is its own, but nobody connects to it */
    server->own = listener->domain == AF_UNIX ? listener->own : dh_socket_seen(listener->domain, to);
    server->other = dh_socket_seen(listener->domain, &client->own);
    client->other = client->domain == AF_UNIX ? listener->own : dh_socket_seen(client->domain, to);
    dh_socket_connected(client, server);
    wait_at(listener, server);
    dh_socket_output(client);
}

bool dh_socket_pending(struct dh_socket *client, const struct dh_socket_address *to)
{
    struct dh_socket *listener = dh_socket_find(client->type, true, to);
    if (listener)
        connect_to(client, listener, to);
    return listener;
}

static long connect_datagram(struct dh_socket *s, const struct dh_socket_address *to)
{
    bool off = to->at.any.sa_family == AF_UNSPEC;
    if (!off && !dh_socket_is_local(to))
        dh_syscalls_never(SYS_connect);
    const struct dh_socket *found = s->domain == AF_UNIX && !off ? dh_socket_find(s->type, false, to) : NULL;
    if (s->domain == AF_UNIX && !off && (!found || !dh_socket_hears(found, s)))
        return found ? -EPERM : -ECONNREFUSED;
    if (s->domain != AF_UNIX && !off)
        settle_address(s, to);
    s->connected = !off;
    s->other = off ? (struct dh_socket_address){.size = 0} : dh_socket_seen(s->domain, to);
    return 0;
}

static bool is_full(const struct dh_socket *listener)
{
    return listener->n_waiting >= listener->backlog;
}

/* Of a Unix name that is a path: nobody ever had it. */
static long nobody_listens(const struct dh_socket *s, const struct dh_socket_address *to)
{
    bool is_path = s->domain == AF_UNIX && to->at.path.sun_path[0];
    return is_path && !dh_socket_find(s->type, false, to) ? -ENOENT : -ECONNREFUSED;
}

/* The caller asks again. */
static long connected_meanwhile(struct dh_socket *s)
{
    int error = s->error ? s->error : ECONNABORTED;
    bool was_refused = s->refused;
    s->connecting = s->refused = false;
    s->error = 0;
    return was_refused || s->peer_closed ? -error : 0;
}

/* A connection over the internet is made later, if the caller does not wait. */
static long connect_stream(struct dh_socket *s, const struct dh_socket_address *to)
{
    bool later = s->domain != AF_UNIX && s->d->flags & O_NONBLOCK;
    if (s->connecting)
        return connected_meanwhile(s);
    if ((s->connected || s->listens) && s->domain != AF_UNIX)
        return -EISCONN;
    if (!dh_socket_is_local(to))
        dh_syscalls_never(SYS_connect);
    struct dh_socket *listener = dh_socket_find(s->type, true, to);
    if (listener && is_full(listener))
        return -EAGAIN;
    if (listener && (s->connected || s->listens))
        return s->connected ? -EISCONN : -EINVAL;
    if (listener)
        connect_to(s, listener, to);
    else if (later) {
        s->error = ECONNREFUSED;
        s->refused = true;
        dh_socket_input(s);
        dh_socket_output(s);
    }
    s->connecting = later;
    return later ? -EINPROGRESS : listener ? 0 : nobody_listens(s, to);
}

/* A full listener makes it wait. */
static uint32_t when_connectable(const struct dh_task *t)
{
    const struct dh_socket *s = dh_socket_of(t->io_args[0]);
    struct dh_socket_address to = dh_socket_address_of((const void *)t->io_args[1], t->io_args[2]);
    const struct dh_socket *listener = s ? dh_socket_find(s->type, true, &to) : NULL;
    bool waits = listener && is_full(listener) && !(s->d->flags & O_NONBLOCK);
    return dh_io_alternatives(t, !waits, DH_NEVER);
}

long dh_socket_connect(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    struct dh_io io = {.object = &dh_socket_names,
                       .fd = (int)a[0],
                       .flags = DH_STEP_READS | DH_STEP_WRITES,
                       .touch = DH_IO_CHANGES,
                       .alternatives = when_connectable};
    (void)number;
    for (unsigned i = 0; i < 3; i++)
        t->io_args[i] = a[i];
    t->io_args[2] = (int)a[2];
    dh_io_step(&io);
    struct dh_socket *s = dh_socket_of(a[0]);
    struct dh_socket_address to = dh_socket_address_of((const void *)a[1], (int)a[2]);
    if (!s || !to.size || is_unnamed(&to))
        return end_step(s ? -EINVAL : no_socket(a[0]));
    return end_step(s->type == SOCK_DGRAM ? connect_datagram(s, &to) : connect_stream(s, &to));
}

/* ---- accepting ---- */

static uint32_t when_acceptable(const struct dh_task *t)
{
    const struct dh_socket *s = t->io_args[0] < 0 ? t->io_on->state : dh_socket_of(t->io_args[0]);
    bool ready = !s || !s->listens || s->waiting;
    if (t->io_held)
        return DH_IO_CLOSED;
    if (s && !(s->d->flags & O_NONBLOCK))
        return dh_io_alternatives(t, ready, DH_NEVER);
    dh_engine->actors[t->index].yields = !ready && dh_task_step(t)->occurrence;
    return 1;
}

static bool listens_outside(const struct dh_task *t)
{
    return dh_description_waits_for_outside(dh_description_of(t->io_args[0]));
}

static long take_connection(struct dh_socket *s, unsigned flags, const long a[6])
{
    struct dh_socket *server = s->waiting;
    struct dh_socket_address other = server->other;
    s->waiting = server->next;
    server->next = NULL;
    s->n_waiting--;
    long fd = dh_socket_open(server, flags);
    if (fd >= 0 && server->peer)
        set_object(server->peer);
    if (fd >= 0)
        dh_socket_tell_address(&other, (void *)a[1], (socklen_t *)a[2]);
    return fd;
}

/* `held` as in descriptor.c. */
static long accept_next(long number, const long a[6], struct dh_description **held)
{
    struct dh_io io = {.object = &dh_socket_names,
                       .flags = DH_STEP_READS | DH_STEP_WRITES,
                       .touch = DH_IO_CHANGES | DH_IO_NUMBERS,
                       .alternatives = when_acceptable,
                       .outside = listens_outside};
    for (;;) {
        io.on = *held ? *held : dh_description_of(a[0]);
        dh_engine_self()->io_args[0] = *held ? -1 : a[0];
        io.fd = *held ? -1 : (int)a[0];
        dh_io_step(&io);
        if (dh_io_was_closed(io.on, held))
            continue;
        struct dh_socket *s = *held ? (*held)->state : dh_socket_of(a[0]);
        if (!s || !s->listens)
            return end_step(!s ? no_socket(a[0]) : s->type == SOCK_DGRAM ? -EOPNOTSUPP : -EINVAL);
        if (s->waiting)
            return take_connection(s, number == SYS_accept4 ? (unsigned)a[3] : 0, a);
        dh_io_failed();
        if (s->d->flags & O_NONBLOCK)
            return -EAGAIN;
        if (dh_io_was_interrupted())
            return -EINTR;
    }
}

long dh_socket_accept(long number, const long a[6])
{
    struct dh_description *held = NULL;
    long fd = accept_next(number, a, &held);
    if (held)
        dh_description_drop(held);
    return fd;
}

/* ---- both ends ---- */

static void stop_reading(struct dh_socket *s)
{
    if (!s)
        return;
    s->no_reading = true;
    dh_socket_input(s);
    dh_socket_output(s);
}

static void stop_writing(struct dh_socket *s)
{
    if (!s)
        return;
    s->no_writing = true;
    dh_socket_input(s);
    dh_socket_output(s);
}

/* A listener that is shut down wakes who accepts. */
long dh_socket_shutdown(long number, const long a[6])
{
    (void)number;
    const struct dh_description *d = dh_description_of(a[0]);
    if (d)
        dh_io_step_on(d->object, (int)a[0], true);
    struct dh_socket *s = dh_socket_of(a[0]);
    if (!s)
        return end_step(no_socket(a[0]));
    if (s->listens && a[1] != SHUT_WR) {
        s->listens = false;
        dh_socket_input(s);
        return 0;
    }
    struct dh_socket *peer = s->type == SOCK_DGRAM ? NULL : s->peer;
    bool fails = !s->connected && !s->listens && s->domain != AF_UNIX;
    if (a[1] != SHUT_WR) {
        stop_reading(s);
        if (s->domain == AF_UNIX)
            stop_writing(peer);
    }
    if (a[1] != SHUT_RD) {
        stop_writing(s);
        stop_reading(peer);
    }
    return fails ? -ENOTCONN : 0;
}

long dh_socket_name(long number, const long a[6])
{
    struct dh_socket *s = dh_socket_of(a[0]);
    if (!s)
        return no_socket(a[0]);
    if (number == SYS_getpeername && !s->connected)
        return -ENOTCONN;
    struct dh_socket_address unnamed = {.at.any.sa_family = (sa_family_t)s->domain, .size = sizeof(sa_family_t)};
    const struct dh_socket_address *asked = number == SYS_getsockname ? &s->own : s->other.size ? &s->other : &unnamed;
    dh_socket_tell_address(asked, (void *)a[1], (socklen_t *)a[2]);
    return 0;
}

/* ---- options ---- */

static struct dh_socket_option *find_option(struct dh_socket *s, int level, int name)
{
    for (uint32_t i = 0; i < s->n_options; i++)
        if (s->options[i].level == level && s->options[i].name == name)
            return &s->options[i];
    return NULL;
}

static bool is_switch(int level, int name)
{
    return level == SOL_SOCKET ? name == SO_REUSEADDR || name == SO_REUSEPORT || name == SO_KEEPALIVE ||
                                     name == SO_BROADCAST || name == SO_OOBINLINE || name == SO_DONTROUTE
                               : level == IPPROTO_TCP && (name == TCP_NODELAY || name == TCP_CORK);
}

static void remember_option(struct dh_socket *s, int level, int name, int value)
{
    struct dh_socket_option *o = find_option(s, level, name);
    if (!o && s->n_options < DH_SOCKET_OPTIONS)
        o = &s->options[s->n_options++];
    bool doubles = level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF);
    if (o)
        *o = (struct dh_socket_option){level, name, is_switch(level, name) ? value != 0 : doubles ? 2 * value : value};
}

/* Of a level that this kind of socket does not have; 0: it has it. */
static long no_such_level(const struct dh_socket *s, long level)
{
    if (level == SOL_SOCKET)
        return 0;
    if (s->domain == AF_UNIX)
        return -EOPNOTSUPP;
    return level == IPPROTO_TCP && !dh_socket_is_stream(s) ? -ENOPROTOOPT : 0;
}

static int socket_option(struct dh_socket *s, int which)
{
    int error = s->error;
    switch (which) {
    case SO_ERROR:
        s->error = 0;
        return error;
    case SO_TYPE:
        return s->type;
    case SO_DOMAIN:
        return s->domain;
    case SO_ACCEPTCONN:
        return s->listens;
    case SO_PROTOCOL:
        return s->domain == AF_UNIX ? 0 : s->type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
    case SO_SNDBUF:
    case SO_RCVBUF:
        return BUFFER;
    default:
        return 0;
    }
}

static int option_value(struct dh_socket *s, int level, int which)
{
    const struct dh_socket_option *o = find_option(s, level, which);
    if (o)
        return o->value;
    if (level == IPPROTO_TCP && which == TCP_MAXSEG)
        return 536;
    return level == SOL_SOCKET ? socket_option(s, which) : 0;
}

/* Who is at the other end is this process. */
static long get_credentials(const struct dh_socket *s, void *out, socklen_t *size)
{
    bool is_known = s->domain == AF_UNIX && s->connected;
    struct ucred who = {is_known ? (pid_t)dh_process.pid : 0, is_known ? 0 : -1u, is_known ? 0 : -1u};
    if (is_known) {
        who.uid = (uid_t)dh_kernel_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
        who.gid = (gid_t)dh_kernel_call(SYS_getegid, 0, 0, 0, 0, 0, 0);
    }
    *size = *size < sizeof who ? *size : sizeof who;
    dh_bytes_copy(out, &who, *size);
    return 0;
}

static long get_timeout(uint64_t ns, void *out, socklen_t *size)
{
    struct timeval v = {(time_t)(ns / 1000000000u), (suseconds_t)(ns % 1000000000u / 1000u)};
    *size = *size < sizeof v ? *size : sizeof v;
    dh_bytes_copy(out, &v, *size);
    return 0;
}

static long get_linger(struct dh_socket *s, void *out, socklen_t *size)
{
    const struct dh_socket_option *o = find_option(s, SOL_SOCKET, SO_LINGER);
    struct linger l = {o != NULL, o ? o->value : 0};
    *size = *size < sizeof l ? *size : sizeof l;
    dh_bytes_copy(out, &l, *size);
    return 0;
}

long dh_socket_get_option(long number, const long a[6])
{
    (void)number;
    const struct dh_description *d = dh_description_of(a[0]);
    if (d)
        dh_io_step_on(d->object, (int)a[0], a[2] == SO_ERROR);
    struct dh_socket *s = dh_socket_of(a[0]);
    if (!s)
        return no_socket(a[0]);
    long missing = no_such_level(s, a[1]);
    socklen_t *size = (socklen_t *)a[4];
    if (missing)
        return missing;
    if (a[1] == SOL_SOCKET && a[2] == SO_PEERCRED)
        return get_credentials(s, (void *)a[3], size);
    if (a[1] == SOL_SOCKET && a[2] == SO_LINGER)
        return get_linger(s, (void *)a[3], size);
    if (a[1] == SOL_SOCKET && (a[2] == SO_RCVTIMEO || a[2] == SO_SNDTIMEO))
        return get_timeout(a[2] == SO_RCVTIMEO ? s->d->receive_timeout_ns : s->d->send_timeout_ns, (void *)a[3], size);
    int value = option_value(s, (int)a[1], (int)a[2]);
    *size = *size < sizeof value ? *size : sizeof value;
    dh_bytes_copy((void *)a[3], &value, *size);
    return 0;
}

/* Options make no difference to a schedule, but for timeouts and shared ports. */
long dh_socket_set_option(long number, const long a[6])
{
    (void)number;
    struct dh_socket *s = dh_socket_of(a[0]);
    if (!s)
        return no_socket(a[0]);
    long missing = no_such_level(s, a[1]);
    if (missing)
        return missing;
    if (a[1] == SOL_SOCKET && (a[2] == SO_RCVTIMEO || a[2] == SO_SNDTIMEO)) {
        const struct timeval *v = (const struct timeval *)a[3];
        uint64_t ns = (uint64_t)v->tv_sec * 1000000000u + (uint64_t)v->tv_usec * 1000u;
        *(a[2] == SO_RCVTIMEO ? &s->d->receive_timeout_ns : &s->d->send_timeout_ns) = ns;
        return 0;
    }
    if (a[1] == SOL_SOCKET && a[2] == SO_LINGER) {
        const struct linger *l = (const struct linger *)a[3];
        if (l->l_onoff)
            remember_option(s, SOL_SOCKET, SO_LINGER, l->l_linger);
        return 0;
    }
    if (a[4] < (long)sizeof(int))
        return a[4] == 1 && a[1] != SOL_SOCKET ? 0 : -EINVAL;
    if (a[4] == (long)sizeof(int))
        remember_option(s, (int)a[1], (int)a[2], *(const int *)a[3]);
    if (a[1] == SOL_SOCKET && a[2] == SO_REUSEPORT)
        s->reuses_port = *(const int *)a[3];
    return 0;
}

/* ---- many messages ---- */

static long move_many(const long a[6], bool writes)
{
    struct mmsghdr *m = (struct mmsghdr *)a[1];
    long n = 0;
    for (; n < (long)(unsigned)a[2]; n++) {
        long flags = n && !writes && a[3] & MSG_WAITFORONE ? a[3] | MSG_DONTWAIT : a[3];
        const long one[6] = {a[0], (long)&m[n].msg_hdr, flags & ~MSG_WAITFORONE};
        long result = writes ? dh_descriptor_write(SYS_sendmsg, one) : dh_descriptor_read(SYS_recvmsg, one);
        if (result < 0)
            return n ? n : result;
        m[n].msg_len = (unsigned)result;
    }
    return n;
}

long dh_socket_send_many(long number, const long a[6])
{
    (void)number;
    return move_many(a, true);
}

long dh_socket_receive_many(long number, const long a[6])
{
    (void)number;
    return move_many(a, false);
}

/* ---- at the snapshot ---- */

struct dh_socket *dh_socket_take_over(long fd, int domain, int type, unsigned flags)
{
    struct dh_socket *s = dh_socket_new(domain, type);
    s->d = dh_description_take_over(fd, &dh_socket_ops, s, flags);
    set_object(s);
    return s;
}

void dh_socket_named(struct dh_socket *s, const struct dh_socket_address *own, const struct dh_socket_address *peer)
{
    if (own)
        dh_socket_give_name(s, own);
    if (peer)
        s->other = *peer;
}

/* A datagram has a header: only bytes of streams are taken over. */
void dh_socket_fill(struct dh_socket *s, const void *from, size_t n)
{
    dh_byte_queue_put_raw(&s->in, from, n);
}
