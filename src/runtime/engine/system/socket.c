#include "runtime/engine/system/socket.h"

#include "runtime/core/start.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/system/file.h"
#include "runtime/engine/system/for_real.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { SCANNED = 256, SCANNED_PRESERVED = 1024, BACKLOG = 4096, PORTS = 65536, FIRST_EPHEMERAL = 40000 };
#define PREFIX "deadheat-"

/* An internet address without its host: all connections are local. */
struct endpoint {
    int family, port;
};

static int option(long fd, int which)
{
    int value = 0, size = sizeof value;
    return dh_kernel_call(SYS_getsockopt, fd, SOL_SOCKET, which, (long)&value, (long)&size, 0) < 0 ? -1 : value;
}

static bool is_inet(long fd)
{
    int domain = option(fd, SO_DOMAIN);
    return (domain == AF_INET || domain == AF_INET6) && option(fd, SO_TYPE) == SOCK_STREAM;
}

static struct endpoint endpoint_of(const void *address, long size)
{
    const struct sockaddr_in *four = address;
    const struct sockaddr_in6 *six = address;
    if (address && size >= (long)sizeof *four && four->sin_family == AF_INET)
        return (struct endpoint){AF_INET, ntohs(four->sin_port)};
    if (address && size >= (long)sizeof *six && six->sin6_family == AF_INET6)
        return (struct endpoint){AF_INET6, ntohs(six->sin6_port)};
    return (struct endpoint){0, -1};
}

static struct endpoint bound_endpoint(long fd)
{
    struct sockaddr_storage own;
    int size = sizeof own;
    if (dh_kernel_call(SYS_getsockname, fd, (long)&own, (long)&size, 0, 0, 0) < 0)
        return (struct endpoint){0, -1};
    return endpoint_of(&own, size);
}

static bool listens(long fd)
{
    return option(fd, SO_ACCEPTCONN) == 1;
}

/* ---- names ---- */

static long name_of_endpoint(struct endpoint p, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    dh_print_text(out->sun_path + 1, sizeof out->sun_path - 1, PREFIX "%d-%d-%d", (int)dh_process.pid, p.family,
                  p.port);
    return (long)(offsetof(struct sockaddr_un, sun_path) + 1 + dh_text_length(out->sun_path + 1));
}

static const char *number_after(const char *at, int *out)
{
    for (*out = 0; *at >= '0' && *at <= '9'; at++)
        *out = *out * 10 + (*at - '0');
    return *at == '-' ? at + 1 : at;
}

/* Of a name that name_of_endpoint made; port -1: it is none. */
static struct endpoint endpoint_of_name(const struct sockaddr_un *name, int size)
{
    struct endpoint p = {0, -1};
    char text[sizeof name->sun_path + 1] = {0};
    int n = size - (int)offsetof(struct sockaddr_un, sun_path) - 1, pid;
    if (name->sun_family != AF_UNIX || n <= 0 || name->sun_path[0])
        return p;
    dh_bytes_copy(text, name->sun_path + 1, (size_t)n);
    const char *at = dh_text_after(text, PREFIX);
    if (at)
        number_after(number_after(number_after(at, &pid), &p.family), &p.port);
    return p;
}

static struct endpoint get_endpoint(long number, long fd)
{
    struct sockaddr_un name;
    int size = sizeof name;
    if (dh_kernel_call(number, fd, (long)&name, (long)&size, 0, 0, 0) < 0)
        return (struct endpoint){0, -1};
    return endpoint_of_name(&name, size);
}

static bool is_replaced(long fd)
{
    return get_endpoint(SYS_getsockname, fd).port >= 0 || get_endpoint(SYS_getpeername, fd).port >= 0;
}

/* ---- replacing ---- */

static bool replace_by(long fd, long local)
{
    long flags = dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0),
         closing = dh_kernel_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0);
    bool ok = local >= 0 && dh_files_preserve(fd) &&
              dh_kernel_call(SYS_dup3, local, fd, closing & FD_CLOEXEC ? O_CLOEXEC : 0, 0, 0, 0) >= 0;
    if (ok)
        dh_kernel_call(SYS_fcntl, fd, F_SETFL, flags, 0, 0, 0);
    if (local >= 0)
        dh_kernel_call(SYS_close, local, 0, 0, 0, 0, 0);
    return ok;
}

static long unix_socket(void)
{
    return dh_kernel_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);
}

static bool listen_locally(long fd, struct endpoint p)
{
    struct sockaddr_un name;
    long local = unix_socket(), size = name_of_endpoint(p, &name);
    if (local >= 0 && (dh_kernel_call(SYS_bind, local, (long)&name, size, 0, 0, 0) < 0 ||
                       dh_kernel_call(SYS_listen, local, BACKLOG, 0, 0, 0, 0) < 0)) {
        dh_kernel_call(SYS_close, local, 0, 0, 0, 0, 0);
        return false;
    }
    return replace_by(fd, local);
}

/* An epoll instance of the snapshot would still watch the socket that is replaced. */
static bool has_old_epoll(void)
{
    char path[40], target[32];
    for (int fd = 0; fd < SCANNED; fd++) {
        dh_print_text(path, sizeof path, "/proc/self/fd/%d", fd);
        long n = dh_kernel_call(SYS_readlink, (long)path, (long)target, sizeof target - 1, 0, 0, 0);
        target[n > 0 ? n : 0] = 0;
        if (dh_text_equal(target, "anon_inode:[eventpoll]") && !dh_files_is_new(fd))
            return true;
    }
    return false;
}

bool dh_sockets_make_local(long fd)
{
    struct pollfd waiting = {(int)fd, POLLIN, 0};
    struct timespec none = {0, 0};
    struct endpoint p = bound_endpoint(fd);
    if (p.port < 0 || !is_inet(fd) || !listens(fd) || has_old_epoll())
        return false;
    if (dh_kernel_call(SYS_ppoll, (long)&waiting, 1, (long)&none, 0, 8, 0) != 0)
        return false;
    return listen_locally(fd, p);
}

long dh_sockets_listen(long number, const long a[6])
{
    struct endpoint p = bound_endpoint(a[0]);
    if (!dh_files_is_new((int)a[0]))
        return dh_syscalls_cannot(number);
    if (!is_inet(a[0]) || p.port < 0)
        return dh_syscalls_pass_through(number, a);
    return listen_locally(a[0], p) ? 0 : dh_syscalls_cannot(number);
}

/* ---- connecting ---- */

/* A descriptor that listens at the port, of the snapshot or preserved; -1: none. */
static long listener_at(int port, long from, long to)
{
    for (long fd = from; fd < to; fd++)
        if (listens(fd) && is_inet(fd) && bound_endpoint(fd).port == port)
            return fd;
    return -1;
}

static long connect_locally(long fd, int port)
{
    static const int families[] = {AF_INET, AF_INET6};
    for (unsigned i = 0; i < 2; i++) {
        struct sockaddr_un name;
        long size = name_of_endpoint((struct endpoint){families[i], port}, &name), local = unix_socket();
        if (local >= 0 && dh_kernel_call(SYS_connect, local, (long)&name, size, 0, 0, 0) == 0)
            return replace_by(fd, local) ? 0 : -EMFILE;
        if (local >= 0)
            dh_kernel_call(SYS_close, local, 0, 0, 0, 0, 0);
    }
    return -ECONNREFUSED;
}

long dh_sockets_connect(long number, const long a[6])
{
    struct endpoint to = endpoint_of((const void *)a[1], (int)a[2]);
    if (to.port >= 0 && is_inet(a[0])) {
        long listener = listener_at(to.port, 0, SCANNED);
        if (listener >= 0 && !dh_sockets_make_local(listener))
            return dh_syscalls_cannot(number);
        long result = connect_locally(a[0], to.port);
        if (result == 0 || listener >= 0 || listener_at(to.port, SCANNED, SCANNED_PRESERVED) >= 0)
            return result;
    }
    return dh_files_is_new((int)a[0]) ? dh_syscalls_pass_through(number, a) : dh_syscalls_cannot(number);
}

/* ---- addresses and options ---- */

static void fill_address(struct endpoint p, long address, long size)
{
    struct sockaddr_in four = {AF_INET, htons((uint16_t)p.port), {htonl(INADDR_LOOPBACK)}, {0}};
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)p.port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const void *from = p.family == AF_INET6 ? (const void *)&six : &four;
    socklen_t whole = p.family == AF_INET6 ? sizeof six : sizeof four, *room = (socklen_t *)size;
    if (!address || !room)
        return;
    dh_snapshot_unprotect((uintptr_t)address, *room);
    dh_snapshot_unprotect((uintptr_t)room, sizeof *room);
    dh_bytes_copy((void *)address, from, *room < whole ? *room : whole);
    *room = whole;
}

/* For the end that has no port of its own. */
static struct endpoint ephemeral(struct endpoint other, long fd)
{
    return (struct endpoint){other.family, (int)(FIRST_EPHEMERAL + fd) % PORTS};
}

long dh_sockets_getname(long number, const long a[6])
{
    struct endpoint own = get_endpoint(SYS_getsockname, a[0]), other = get_endpoint(SYS_getpeername, a[0]);
    if (own.port < 0 && other.port < 0)
        return dh_syscalls_pass_through(number, a);
    bool peer = number == SYS_getpeername;
    struct endpoint asked = peer ? other : own, known = peer ? own : other;
    if (peer && listens(a[0]))
        return -ENOTCONN;
    fill_address(asked.port >= 0 ? asked : ephemeral(known, a[0]), a[1], a[2]);
    return 0;
}

/* Options of the protocol make no difference to a schedule. */
long dh_sockets_setsockopt(long number, const long a[6])
{
    bool protocol = a[1] == IPPROTO_TCP || a[1] == IPPROTO_IP || a[1] == IPPROTO_IPV6;
    return protocol && is_replaced(a[0]) ? 0 : dh_syscalls_pass_through(number, a);
}

long dh_sockets_accept(long number, const long a[6])
{
    if (!dh_descriptors_replace(a[0]))
        dh_syscalls_cannot(number);
    struct endpoint own = get_endpoint(SYS_getsockname, a[0]);
    bool ours = own.port >= 0;
    long unnamed[6] = {a[0], ours ? 0 : a[1], ours ? 0 : a[2], number == SYS_accept4 ? a[3] : 0};
    long fd = dh_files_log_new(dh_for_real_read(SYS_accept4, unnamed));
    if (fd >= 0 && ours)
        fill_address(ephemeral(own, fd), a[1], a[2]);
    return fd;
}
