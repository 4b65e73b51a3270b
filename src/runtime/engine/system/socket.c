#include "runtime/engine/system/socket.h"

#include "runtime/core/bytes.h"
#include "runtime/core/print.h"
#include "runtime/core/start.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/system/event.h"
#include "runtime/engine/system/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { SCANNED = 256, SCANNED_ASIDE = 1024, BACKLOG = 4096, PORTS = 65536, MADE_UP = 40000 };
#define PREFIX "deadheat-"

/* What an internet address comes to: everybody here is the same machine. */
struct place {
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

static struct place place_of(const void *address, long size)
{
    const struct sockaddr_in *four = address;
    const struct sockaddr_in6 *six = address;
    if (address && size >= (long)sizeof *four && four->sin_family == AF_INET)
        return (struct place){AF_INET, ntohs(four->sin_port)};
    if (address && size >= (long)sizeof *six && six->sin6_family == AF_INET6)
        return (struct place){AF_INET6, ntohs(six->sin6_port)};
    return (struct place){0, -1};
}

static struct place place_bound(long fd)
{
    struct sockaddr_storage own;
    int size = sizeof own;
    if (dh_kernel_call(SYS_getsockname, fd, (long)&own, (long)&size, 0, 0, 0) < 0)
        return (struct place){0, -1};
    return place_of(&own, size);
}

static bool listens(long fd)
{
    return option(fd, SO_ACCEPTCONN) == 1;
}

/* ---- names ---- */

static long name_place(struct place p, struct sockaddr_un *out)
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

/* What a name of ours stands for; port -1: it is none. */
static struct place place_named(const struct sockaddr_un *name, int size)
{
    struct place p = {0, -1};
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

static struct place ask_name(long number, long fd)
{
    struct sockaddr_un name;
    int size = sizeof name;
    if (dh_kernel_call(number, fd, (long)&name, (long)&size, 0, 0, 0) < 0)
        return (struct place){0, -1};
    return place_named(&name, size);
}

static bool is_ours(long fd)
{
    return ask_name(SYS_getsockname, fd).port >= 0 || ask_name(SYS_getpeername, fd).port >= 0;
}

/* ---- local sockets in the place of others ---- */

static bool take_place(long fd, long local)
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

static long local_socket(void)
{
    return dh_kernel_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);
}

static bool listen_locally(long fd, struct place p)
{
    struct sockaddr_un name;
    long local = local_socket(), size = name_place(p, &name);
    if (local >= 0 && (dh_kernel_call(SYS_bind, local, (long)&name, size, 0, 0, 0) < 0 ||
                       dh_kernel_call(SYS_listen, local, BACKLOG, 0, 0, 0, 0) < 0)) {
        dh_kernel_call(SYS_close, local, 0, 0, 0, 0, 0);
        return false;
    }
    return take_place(fd, local);
}

/* A set of descriptors that was made before would go on watching the socket that is replaced. */
static bool is_watched(void)
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
    struct place p = place_bound(fd);
    if (p.port < 0 || !is_inet(fd) || !listens(fd) || is_watched())
        return false;
    if (dh_kernel_call(SYS_ppoll, (long)&waiting, 1, (long)&none, 0, 8, 0) != 0)
        return false;
    return listen_locally(fd, p);
}

long dh_sockets_listen(long number, const long a[6])
{
    struct place p = place_bound(a[0]);
    if (!dh_files_is_new((int)a[0]))
        return dh_syscalls_cannot(number);
    if (!is_inet(a[0]) || p.port < 0)
        return dh_syscalls_pass_through(number, a);
    return listen_locally(a[0], p) ? 0 : dh_syscalls_cannot(number);
}

/* ---- connecting ---- */

/* A descriptor that listens at the port, of the snapshot or put aside; -1: none. */
static long listener_at(int port, long from, long to)
{
    for (long fd = from; fd < to; fd++)
        if (listens(fd) && is_inet(fd) && place_bound(fd).port == port)
            return fd;
    return -1;
}

static long connect_locally(long fd, int port)
{
    static const int families[] = {AF_INET, AF_INET6};
    for (unsigned i = 0; i < 2; i++) {
        struct sockaddr_un name;
        long size = name_place((struct place){families[i], port}, &name), local = local_socket();
        if (local >= 0 && dh_kernel_call(SYS_connect, local, (long)&name, size, 0, 0, 0) == 0)
            return take_place(fd, local) ? 0 : -EMFILE;
        if (local >= 0)
            dh_kernel_call(SYS_close, local, 0, 0, 0, 0, 0);
    }
    return -ECONNREFUSED;
}

long dh_sockets_connect(long number, const long a[6])
{
    struct place to = place_of((const void *)a[1], (int)a[2]);
    if (to.port >= 0 && is_inet(a[0])) {
        long listener = listener_at(to.port, 0, SCANNED);
        if (listener >= 0 && !dh_sockets_make_local(listener))
            return dh_syscalls_cannot(number);
        long result = connect_locally(a[0], to.port);
        if (result == 0 || listener >= 0 || listener_at(to.port, SCANNED, SCANNED_ASIDE) >= 0)
            return result;
    }
    return dh_files_is_new((int)a[0]) ? dh_syscalls_pass_through(number, a) : dh_syscalls_cannot(number);
}

/* ---- what a program asks of a socket ---- */

static void fill_address(struct place p, long address, long size)
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

/* Of the end that has no port of its own. */
static struct place made_up(struct place other, long fd)
{
    return (struct place){other.family, (int)(MADE_UP + fd) % PORTS};
}

long dh_sockets_getname(long number, const long a[6])
{
    struct place own = ask_name(SYS_getsockname, a[0]), other = ask_name(SYS_getpeername, a[0]);
    if (own.port < 0 && other.port < 0)
        return dh_syscalls_pass_through(number, a);
    bool peer = number == SYS_getpeername;
    struct place asked = peer ? other : own, known = peer ? own : other;
    if (peer && listens(a[0]))
        return -ENOTCONN;
    fill_address(asked.port >= 0 ? asked : made_up(known, a[0]), a[1], a[2]);
    return 0;
}

/* Options of the protocol that it no longer has change nothing that a schedule could show. */
long dh_sockets_setsockopt(long number, const long a[6])
{
    bool protocol = a[1] == IPPROTO_TCP || a[1] == IPPROTO_IP || a[1] == IPPROTO_IPV6;
    return protocol && is_ours(a[0]) ? 0 : dh_syscalls_pass_through(number, a);
}

long dh_sockets_accept(long number, const long a[6])
{
    if (dh_engine->carrier->is_kernel) {
        dh_wait_until_readable((int)a[0]);
        return dh_syscalls_pass_through(number, a);
    }
    if (!dh_descriptors_replace(a[0]))
        dh_syscalls_cannot(number);
    dh_wait_until_readable((int)a[0]);
    struct place own = ask_name(SYS_getsockname, a[0]);
    bool ours = own.port >= 0;
    long unnamed[6] = {a[0], ours ? 0 : a[1], ours ? 0 : a[2], number == SYS_accept4 ? a[3] : 0};
    long fd = dh_files_new_descriptor(SYS_accept4, unnamed);
    if (fd >= 0 && ours)
        fill_address(made_up(own, fd), a[1], a[2]);
    return fd;
}
