/* Descriptors: how channels come to be, are connected, shared and closed, and waiting until they are ready. */
#include "runtime/interpose/glib/glib.h"
#include "runtime/interpose/interpose.h"
#include "runtime/interpose/io/channels.h"

#include <limits.h>

/* Listening happens before connecting, and connecting before accepting. */
static char listeners, connecting;

/* ---- making ---- */

#define MAKES(result, name, parameters, arguments, made)                                                               \
    static result dh_interposed_##name parameters                                                                      \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        result fd = dh_real.name arguments;                                                                            \
        if (fd >= 0) {                                                                                                 \
            made;                                                                                                      \
        }                                                                                                              \
        return fd;                                                                                                     \
    }                                                                                                                  \
    DH_INTERPOSE(name);

static void made_pair(const int *fds)
{
    dh_channel c = dh_channel_new();
    dh_channel_opened(fds[0], c);
    dh_channel_opened(fds[1], c);
}

MAKES(int, pipe, (int *fds), (fds), made_pair(fds))
MAKES(int, pipe2, (int *fds, int flags), (fds, flags), made_pair(fds))
MAKES(int, socketpair, (int domain, int type, int protocol, int *fds), (domain, type, protocol, fds), made_pair(fds))
MAKES(int, eventfd, (unsigned value, int flags), (value, flags), dh_channel_opened(fd, dh_channel_new()))
MAKES(int, epoll_create, (int size), (size), dh_channel_opened(fd, dh_channel_new()))
MAKES(int, epoll_create1, (int flags), (flags), dh_channel_opened(fd, dh_channel_new()))
MAKES(int, socket, (int domain, int type, int protocol), (domain, type, protocol),
      dh_channel_opened(fd, DH_CHANNEL_NONE))

MAKES(int, dup, (int old), (old), dh_channel_opened(fd, dh_channel_of(old)))
MAKES(int, dup2, (int old, int new), (old, new), old == new ? (void)0 : dh_channel_opened(fd, dh_channel_of(old)))
MAKES(int, dup3, (int old, int new, int flags), (old, new, flags), dh_channel_opened(fd, dh_channel_of(old)))

/* The mode is there only when a file may be made. */
#define OPENS(name, parameters, arguments)                                                                             \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        va_list ap;                                                                                                    \
        va_start(ap, flags);                                                                                           \
        int mode = va_arg(ap, int);                                                                                    \
        va_end(ap);                                                                                                    \
        dh_interpose_ready();                                                                                          \
        int fd = DH_WAIT(dh_real.name arguments);                                                                      \
        dh_engine_opened_early(fd, path);                                                                              \
        dh_channel_opened(fd, DH_CHANNEL_NONE);                                                                        \
        return fd;                                                                                                     \
    }                                                                                                                  \
    DH_INTERPOSE(name);

OPENS(open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPENS(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
MAKES(int, creat, (const char *path, mode_t mode), (path, mode), dh_channel_opened(fd, DH_CHANNEL_NONE))
MAKES(int, creat64, (const char *path, mode_t mode), (path, mode), dh_channel_opened(fd, DH_CHANNEL_NONE))

#define CONTROLS(name)                                                                                                 \
    static int dh_interposed_##name(int fd, int command, ...)                                                          \
    {                                                                                                                  \
        va_list ap;                                                                                                    \
        va_start(ap, command);                                                                                         \
        void *argument = va_arg(ap, void *);                                                                           \
        va_end(ap);                                                                                                    \
        dh_interpose_ready();                                                                                          \
        if (command == F_SETLKW || command == F_OFD_SETLKW)                                                            \
            return DH_WAIT(dh_real.name(fd, command, argument));                                                       \
        int result = dh_real.name(fd, command, argument);                                                              \
        if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))                                         \
            dh_channel_opened(result, dh_channel_of(fd));                                                              \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

CONTROLS(fcntl)
CONTROLS(fcntl64)

/* ---- connecting ---- */

static int dh_interposed_listen(int fd, int backlog)
{
    dh_interpose_ready();
    dh_sync_release_join(&listeners, DH_SYNC_CHANNEL);
    return dh_real.listen(fd, backlog);
}
DH_INTERPOSE(listen);

static int dh_interposed_connect(int fd, __CONST_SOCKADDR_ARG to, socklen_t n)
{
    dh_interpose_ready();
    dh_sync_release_join(&connecting, DH_SYNC_CHANNEL);
    int result = DH_WAIT(dh_real.connect(fd, to, n));
    dh_sync_acquire(&listeners, DH_SYNC_CHANNEL);
    dh_channel_set(fd, DH_CHANNEL_NONE);
    return result;
}
DH_INTERPOSE(connect);

static void accepted(int fd)
{
    dh_sync_acquire(&connecting, DH_SYNC_CHANNEL);
    dh_channel_opened(fd, DH_CHANNEL_NONE);
}

#define ACCEPTS(name, parameters, arguments)                                                                           \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        int result = DH_WAIT(dh_real.name arguments);                                                                  \
        if (result >= 0)                                                                                               \
            accepted(result);                                                                                          \
        return result;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

ACCEPTS(accept, (int fd, __SOCKADDR_ARG from, socklen_t *restrict n), (fd, from, n))
ACCEPTS(accept4, (int fd, __SOCKADDR_ARG from, socklen_t *restrict n, int flags), (fd, from, n, flags))

/* ---- ending: the other side reads that there is no more ---- */

static int dh_interposed_shutdown(int fd, int how)
{
    dh_interpose_ready();
    dh_channel_out(fd);
    return dh_real.shutdown(fd, how);
}
DH_INTERPOSE(shutdown);

static int dh_interposed_close(int fd)
{
    dh_interpose_ready();
    dh_channel_closing(fd);
    return DH_WAIT(dh_real.close(fd));
}
DH_INTERPOSE(close);

static void forget_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < DH_CHANNEL_DESCRIPTORS; fd++)
        dh_channel_set((int)fd, DH_CHANNEL_NONE);
}

static int dh_interposed_close_range(unsigned first, unsigned last, int flags)
{
    dh_interpose_ready();
    int result = dh_real.close_range(first, last, flags);
    if (result == 0 && !(flags & (int)CLOSE_RANGE_CLOEXEC))
        forget_range(first, last);
    return result;
}
DH_INTERPOSE(close_range);

static void dh_interposed_closefrom(int first)
{
    dh_interpose_ready();
    dh_real.closefrom(first);
    forget_range(first < 0 ? 0 : (unsigned)first, UINT_MAX);
}
DH_INTERPOSE(closefrom);

/* ---- waiting until something is ready ---- */

static void polled(const struct pollfd *fds, nfds_t n, int ready)
{
    for (nfds_t i = 0; ready > 0 && i < n; i++)
        if (fds[i].revents) {
            dh_channel_in(fds[i].fd);
            ready--;
        }
    dh_glib_polled();
}

#define POLLS(name, parameters, arguments)                                                                             \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        int ready = DH_WAIT(dh_real.name arguments);                                                                   \
        polled(fds, n, ready);                                                                                         \
        return ready;                                                                                                  \
    }                                                                                                                  \
    DH_INTERPOSE(name);

POLLS(poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout))
POLLS(__poll_chk, (struct pollfd * fds, nfds_t n, int timeout, size_t room), (fds, n, timeout, room))
POLLS(ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
      (fds, n, timeout, mask))
POLLS(__ppoll_chk, (struct pollfd * fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask, size_t room),
      (fds, n, timeout, mask, room))

static void selected(int n, const fd_set *set, int ready)
{
    for (int fd = 0; set && ready > 0 && fd < n; fd++)
        if (FD_ISSET(fd, set))
            dh_channel_in(fd);
}

#define SETS fd_set *restrict reading, fd_set *restrict writing, fd_set *restrict special

static int dh_interposed_select(int n, SETS, struct timeval *restrict timeout)
{
    dh_interpose_ready();
    int ready = DH_WAIT(dh_real.select(n, reading, writing, special, timeout));
    selected(n, reading, ready);
    return ready;
}
DH_INTERPOSE(select);

static int dh_interposed_pselect(int n, SETS, const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
    dh_interpose_ready();
    int ready = DH_WAIT(dh_real.pselect(n, reading, writing, special, timeout, mask));
    selected(n, reading, ready);
    return ready;
}
DH_INTERPOSE(pselect);

/* What was done before a descriptor was put in comes before it is reported, as does what made it ready. */
static int dh_interposed_epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    dh_interpose_ready();
    dh_channel watcher = dh_channel_of(epoll);
    if (operation != EPOLL_CTL_DEL) {
        dh_channel_release(watcher);
        dh_channel_watch(dh_channel_of(fd), watcher);
    }
    return dh_real.epoll_ctl(epoll, operation, fd, event);
}
DH_INTERPOSE(epoll_ctl);

#define EPOLLS(name, parameters, arguments)                                                                            \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        int ready = DH_WAIT(dh_real.name arguments);                                                                   \
        if (ready > 0)                                                                                                 \
            dh_channel_woken(dh_channel_of(epoll));                                                                    \
        return ready;                                                                                                  \
    }                                                                                                                  \
    DH_INTERPOSE(name);

EPOLLS(epoll_wait, (int epoll, struct epoll_event *events, int most, int timeout), (epoll, events, most, timeout))
EPOLLS(epoll_pwait, (int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask),
       (epoll, events, most, timeout, mask))
EPOLLS(epoll_pwait2,
       (int epoll, struct epoll_event *events, int most, const struct timespec *timeout, const sigset_t *mask),
       (epoll, events, most, timeout, mask))
