/* One thread makes calls on sockets, pipes, eventfds and epoll sets by chance, from a seed, none of which blocks, and says
 * what each answered; another one is idle. What it says must be the same natively and in the engine, in every schedule.
 * usage: calls SEED CALLS */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { NUMBERS = 14, TEXT = 96, SENT_MOST = 60000 };

static unsigned long long state;
static int numbers[NUMBERS];
static enum kind { SOCKET, PIPE, COUNT, SET } kinds[NUMBERS];
static long sent; /* so that no buffer is ever full */

static unsigned pick(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

#define ONE_OF(...) ((const int[]){__VA_ARGS__})[pick(sizeof(int[]){__VA_ARGS__} / sizeof(int))]

static void say(const char *what, int on, long result)
{
    printf("%s %d = %ld%s%s\n", what, on, result, result < 0 ? " " : "", result < 0 ? strerrorname_np(errno) : "");
}

static int slot(void)
{
    return (int)pick(NUMBERS);
}

/* Mostly one that is open. */
static int open_slot(void)
{
    int s = slot();
    for (int i = 0; numbers[s] < 0 && i < 10; i++)
        s = (s + 1) % NUMBERS;
    return s;
}

/* -1: there is none. */
static int slot_of(enum kind kind)
{
    int s = slot();
    for (int i = 0; i < NUMBERS; i++, s = (s + 1) % NUMBERS)
        if (numbers[s] >= 0 && kinds[s] == kind)
            return s;
    return -1;
}

static int type_of(int fd)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &size) < 0 ? -1 : value;
}

static int domain_of(int fd)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &value, &size) < 0 ? -1 : value;
}

/* Another socket of that kind, as connecting and sending want it, if there is one. */
static int slot_like(int fd)
{
    int s = slot(), domain = domain_of(fd), type = type_of(fd);
    for (int i = 0; i < NUMBERS; i++, s = (s + 1) % NUMBERS)
        if (numbers[s] >= 0 && numbers[s] != fd && domain_of(numbers[s]) == domain && type_of(numbers[s]) == type && pick(4))
            return s;
    return s;
}

static void replace(int s, int fd, enum kind kind)
{
    if (numbers[s] >= 0)
        close(numbers[s]);
    numbers[s] = fd;
    kinds[s] = kind;
}

/* Numbers are the machine's: the engine may have inherited more. */
static long opened(int fd)
{
    return fd < 0 ? fd : 0;
}

/* ---- addresses ---- */

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un path;
};

/* Ports are the kernel's choice: which socket has it is said. */
static int owner_of_port(in_port_t port)
{
    for (int i = 0; i < NUMBERS; i++) {
        union address a;
        socklen_t size = sizeof a;
        if (numbers[i] >= 0 && getsockname(numbers[i], &a.any, &size) == 0 && (a.any.sa_family == AF_INET || a.any.sa_family == AF_INET6) &&
            a.four.sin_port == port)
            return i;
    }
    return -1;
}

static void say_address(const union address *a, socklen_t size)
{
    char text[INET6_ADDRSTRLEN] = "";
    if (size < sizeof(sa_family_t))
        printf("  nobody %u\n", size);
    else if (a->any.sa_family == AF_UNIX)
        printf("  unix %u %c\n", size, size > offsetof(struct sockaddr_un, sun_path) + 1 ? ((const char *)a)[size - 1] : '-');
    else if (a->any.sa_family == AF_INET)
        printf("  %u %s port of %d\n", size, inet_ntop(AF_INET, &a->four.sin_addr, text, sizeof text), a->four.sin_port ? owner_of_port(a->four.sin_port) : -2);
    else
        printf("  %u %s port of %d\n", size, inet_ntop(AF_INET6, &a->six.sin6_addr, text, sizeof text), a->six.sin6_port ? owner_of_port(a->six.sin6_port) : -2);
}

static socklen_t name_for(int domain, union address *a)
{
    memset(a, 0, sizeof *a);
    a->any.sa_family = (sa_family_t)domain;
    if (domain == AF_INET) {
        a->four.sin_addr.s_addr = htonl(pick(3) ? INADDR_LOOPBACK : INADDR_ANY);
        return sizeof a->four;
    }
    if (domain == AF_INET6) {
        a->six.sin6_addr = pick(3) ? in6addr_loopback : in6addr_any;
        return sizeof a->six;
    }
    a->path.sun_family = AF_UNIX;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (unsigned)sprintf(a->path.sun_path + 1, "deadheat-%07d-%u", getppid(), pick(5)));
}

static void names(void)
{
    int s = open_slot();
    union address a = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof a;
    bool own = pick(2);
    int result = own ? getsockname(numbers[s], &a.any, &size) : getpeername(numbers[s], &a.any, &size);
    say(own ? "getsockname" : "getpeername", s, result);
    if (result == 0 && a.any.sa_family != AF_UNIX)
        say_address(&a, size);
}

/* ---- making ---- */

static void makes_socket(void)
{
    int s = slot(), domain = ONE_OF(AF_UNIX, AF_UNIX, AF_INET, AF_INET, AF_INET, AF_INET6), kind = ONE_OF(SOCK_STREAM, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET);
    if (domain != AF_UNIX && kind == SOCK_SEQPACKET)
        kind = SOCK_STREAM;
    replace(s, socket(domain, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), SOCKET);
    say("socket", s, opened(numbers[s]));
    printf("  %d %d\n", domain, kind);
}

static void makes_pair(void)
{
    int pair[2] = {-1, -1}, a = slot(), b = slot();
    if (a == b)
        return;
    replace(a, -1, SOCKET);
    replace(b, -1, SOCKET);
    int kind = ONE_OF(SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET);
    say("socketpair", kind, socketpair(AF_UNIX, kind | SOCK_NONBLOCK, 0, pair));
    numbers[a] = pair[0];
    numbers[b] = pair[1];
    printf("  %d %d\n", a, b);
}

static void makes_pipe(void)
{
    int pair[2] = {-1, -1}, a = slot(), b = slot();
    if (a == b)
        return;
    replace(a, -1, PIPE);
    replace(b, -1, PIPE);
    say("pipe", 0, pipe2(pair, O_NONBLOCK));
    numbers[a] = pair[0];
    numbers[b] = pair[1];
    printf("  %d %d\n", a, b);
}

static void makes_eventfd(void)
{
    int s = slot();
    unsigned value = pick(3);
    replace(s, eventfd(value, EFD_NONBLOCK | (pick(2) ? EFD_SEMAPHORE : 0)), COUNT);
    say("eventfd", s, opened(numbers[s]));
}

static void makes_set(void)
{
    int s = slot();
    replace(s, epoll_create1(pick(2) ? EPOLL_CLOEXEC : 0), SET);
    say("epoll_create1", s, opened(numbers[s]));
}

static void closes(void)
{
    int s = open_slot();
    say("close", s, close(numbers[s]));
    numbers[s] = -1;
}

static void duplicates(void)
{
    int from = open_slot(), to = slot();
    if (from == to || numbers[from] < 0)
        return;
    replace(to, pick(2) ? dup(numbers[from]) : fcntl(numbers[from], F_DUPFD_CLOEXEC, 0), kinds[from]);
    printf("dup %d to %d = %ld\n", from, to, opened(numbers[to]));
}

/* ---- connections ---- */

/* A server, as programs make them. */
static void serves(void)
{
    int s = open_slot(), domain = domain_of(numbers[s]);
    union address a;
    if (domain < 0)
        return;
    socklen_t size = name_for(domain, &a);
    say("bind", s, bind(numbers[s], &a.any, size));
    if (pick(4))
        say("listen", s, listen(numbers[s], 4 + (int)pick(4)));
}

static void binds(void)
{
    int s = open_slot(), domain = domain_of(numbers[s]);
    union address a;
    socklen_t size = name_for(domain < 0 ? AF_UNIX : domain, &a);
    say("bind", s, bind(numbers[s], &a.any, size));
}

static void listens(void)
{
    int s = open_slot();
    say("listen", s, listen(numbers[s], 5));
}

static void connects(void)
{
    int s = open_slot(), to = slot_like(numbers[s]);
    union address a = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof a;
    if (s == to || domain_of(numbers[s]) < 0 || getsockname(numbers[to], &a.any, &size) < 0)
        return;
    if (domain_of(numbers[s]) != a.any.sa_family || (a.any.sa_family != AF_UNIX && !a.four.sin_port))
        return;
    printf("to %d, ", to);
    say("connect", s, connect(numbers[s], &a.any, size));
}

static void accepts(void)
{
    int s = open_slot(), to = slot();
    union address a = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof a;
    if (s == to)
        return;
    int got = accept4(numbers[s], &a.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    say("accept", s, got < 0 ? -1 : 0);
    if (got < 0)
        return;
    replace(to, got, SOCKET);
    printf("  as %d\n", to);
    say_address(&a, size);
}

static void shuts(void)
{
    int s = open_slot(), how = ONE_OF(SHUT_RD, SHUT_WR, SHUT_WR, SHUT_RDWR);
    printf("%d ", how);
    say("shutdown", s, shutdown(numbers[s], how));
}

/* ---- bytes ---- */

static unsigned sum(const char *text, long n)
{
    unsigned h = 5381;
    for (long i = 0; i < n; i++)
        h = h * 33 + (unsigned char)text[i];
    return h;
}

static void fill(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        text[i] = (char)('a' + pick(26));
}

static long send_pieces(int fd, char *text, size_t n, int flags)
{
    struct iovec pieces[3] = {{text, n / 3}, {text + n / 3, 0}, {text + n / 3, n - n / 3}};
    struct msghdr m = {.msg_iov = pieces, .msg_iovlen = 3};
    return sendmsg(fd, &m, flags);
}

static void writes(void)
{
    char text[TEXT];
    int s = open_slot(), how = (int)pick(4);
    size_t n = 1 + pick(TEXT - 1);
    if (sent > SENT_MOST || kinds[s] == COUNT)
        return;
    sent += (long)n;
    fill(text, n);
    long result = how == 0   ? write(numbers[s], text, n)
                  : how == 1 ? send(numbers[s], text, n, MSG_NOSIGNAL)
                  : how == 2 ? send_pieces(numbers[s], text, n, MSG_NOSIGNAL | MSG_DONTWAIT)
                             : writev(numbers[s], &(struct iovec){text, n}, 1);
    printf("%d ", how);
    say("write", s, result);
}

static void counts(void)
{
    int s = slot_of(COUNT);
    uint64_t value = pick(3);
    if (s < 0)
        return;
    if (pick(2))
        say("add", s, write(numbers[s], &value, sizeof value));
    else {
        long n = read(numbers[s], &value, sizeof value);
        say("count", s, n < 0 ? n : (long)value);
    }
}

static void sends_to(void)
{
    char text[TEXT];
    int s = open_slot(), to = slot_like(numbers[s]);
    union address a;
    socklen_t size = sizeof a;
    size_t n = pick(TEXT);
    if (sent > SENT_MOST || domain_of(numbers[s]) < 0 || getsockname(numbers[to], &a.any, &size) < 0)
        return;
    if (domain_of(numbers[s]) != a.any.sa_family || (a.any.sa_family != AF_UNIX && !a.four.sin_port))
        return;
    sent += (long)n;
    fill(text, n);
    printf("to %d, ", to);
    say("sendto", s, sendto(numbers[s], text, n, MSG_NOSIGNAL, &a.any, size));
}

static long receive_pieces(int fd, char *text, size_t n, int *flags, int how)
{
    struct iovec pieces[2] = {{text, n / 2}, {text + n / 2, n - n / 2}};
    struct msghdr m = {.msg_iov = pieces, .msg_iovlen = 2};
    long got = recvmsg(fd, &m, how);
    *flags = m.msg_flags;
    return got;
}

static void reads(void)
{
    char text[TEXT] = "";
    int s = open_slot(), how = (int)pick(5), flags = -1;
    size_t n = 1 + pick(TEXT - 1);
    long got = how == 0   ? read(numbers[s], text, n)
               : how == 1 ? recv(numbers[s], text, n, 0)
               : how == 2 ? recv(numbers[s], text, n, ONE_OF(MSG_PEEK, MSG_PEEK | MSG_TRUNC, MSG_DONTWAIT))
               : how == 3 ? readv(numbers[s], &(struct iovec){text, n}, 1)
                          : receive_pieces(numbers[s], text, n, &flags, MSG_DONTWAIT);
    printf("%d ", how);
    say("read", s, got);
    if (got > 0)
        printf("  %u\n", sum(text, got < (long)n ? got : (long)n));
    if (flags >= 0 && got >= 0)
        printf("  flags %d\n", flags & ~MSG_CMSG_CLOEXEC);
}

static void receives_from(void)
{
    char text[TEXT] = "";
    union address a = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof a;
    int s = open_slot();
    long got = recvfrom(numbers[s], text, sizeof text, 0, &a.any, &size);
    say("recvfrom", s, got);
    if (got > 0)
        printf("  %u\n", sum(text, got));
    if (got >= 0)
        say_address(&a, size);
}

/* ---- what is so ---- */

static void asks_option(void)
{
    static const struct {
        int level, name;
    } options[] = {{SOL_SOCKET, SO_TYPE},      {SOL_SOCKET, SO_DOMAIN},    {SOL_SOCKET, SO_ACCEPTCONN}, {SOL_SOCKET, SO_PROTOCOL}, {SOL_SOCKET, SO_ERROR},
                   {SOL_SOCKET, SO_REUSEADDR}, {SOL_SOCKET, SO_KEEPALIVE}, {SOL_SOCKET, SO_BROADCAST},  {IPPROTO_TCP, TCP_NODELAY}};
    unsigned o = pick(sizeof options / sizeof *options);
    int s = open_slot(), value = 77;
    socklen_t size = sizeof value;
    int result = getsockopt(numbers[s], options[o].level, options[o].name, &value, &size);
    printf("%u ", o);
    say("getsockopt", s, result);
    if (result == 0)
        printf("  %d %u\n", options[o].name == SO_ERROR || options[o].level != SOL_SOCKET ? value : value != 0 ? value : 0, size);
}

static void sets_option(void)
{
    static const struct {
        int level, name;
    } options[] = {{SOL_SOCKET, SO_REUSEADDR}, {SOL_SOCKET, SO_KEEPALIVE}, {SOL_SOCKET, SO_BROADCAST}, {IPPROTO_TCP, TCP_NODELAY}};
    unsigned o = pick(sizeof options / sizeof *options);
    int s = open_slot(), value = (int)pick(2);
    printf("%u ", o);
    say("setsockopt", s, setsockopt(numbers[s], options[o].level, options[o].name, &value, sizeof value));
}

static void controls(void)
{
    int s = open_slot(), value = -7;
    if (kinds[s] == SET)
        return;
    int result = ioctl(numbers[s], FIONREAD, &value);
    say("FIONREAD", s, result);
    if (result == 0)
        printf("  %d\n", value);
}

enum { ASKED = POLLIN | POLLOUT | POLLPRI | POLLRDHUP };

static void polls(void)
{
    struct pollfd p[NUMBERS];
    for (int i = 0; i < NUMBERS; i++)
        p[i] = (struct pollfd){.fd = numbers[i], .events = ASKED};
    printf("poll = %d:", poll(p, NUMBERS, 0));
    for (int i = 0; i < NUMBERS; i++)
        if (p[i].revents)
            printf(" %d %x", i, p[i].revents);
    putchar('\n');
}

static void selects(void)
{
    fd_set in, out;
    struct timeval none = {0};
    int most = 0, n;
    FD_ZERO(&in);
    FD_ZERO(&out);
    for (int i = 0; i < NUMBERS; i++)
        if (numbers[i] >= 0) {
            FD_SET(numbers[i], &in);
            FD_SET(numbers[i], &out);
            most = numbers[i] > most ? numbers[i] : most;
        }
    n = select(most + 1, &in, &out, NULL, &none);
    printf("select = %d:", n);
    for (int i = 0; n > 0 && i < NUMBERS; i++)
        if (numbers[i] >= 0 && (FD_ISSET(numbers[i], &in) || FD_ISSET(numbers[i], &out)))
            printf(" %d%s%s", i, FD_ISSET(numbers[i], &in) ? " in" : "", FD_ISSET(numbers[i], &out) ? " out" : "");
    putchar('\n');
}

/* ---- sets ---- */

static void watches(void)
{
    int s = slot_of(SET), on = open_slot(), how = ONE_OF(EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL);
    struct epoll_event e = {.events = (uint32_t)ONE_OF(EPOLLIN, EPOLLIN | EPOLLOUT, EPOLLOUT, EPOLLIN | EPOLLRDHUP) | (pick(2) ? EPOLLET : 0u) | (pick(4) ? 0u : EPOLLONESHOT),
                            .data.u32 = (uint32_t)on};
    if (s < 0)
        return;
    printf("%d %x on %d, ", how, e.events, on);
    say("epoll_ctl", s, epoll_ctl(numbers[s], how, numbers[on], &e));
}

static int by_slot(const void *a, const void *b)
{
    const struct epoll_event *x = a, *y = b;
    return x->data.u32 == y->data.u32 ? (int)x->events - (int)y->events : (int)x->data.u32 - (int)y->data.u32;
}

static void waits(void)
{
    struct epoll_event e[64];
    int s = slot_of(SET), n = s < 0 ? -1 : epoll_wait(numbers[s], e, 64, 0);
    if (s < 0)
        return;
    say("epoll_wait", s, n);
    if (n > 0)
        qsort(e, (size_t)n, sizeof *e, by_slot);
    for (int i = 0; i < n; i++)
        printf("  %u %x\n", e[i].data.u32, e[i].events);
}

static void flags(void)
{
    int s = open_slot();
    say("flags", s, fcntl(numbers[s], F_GETFL));
}

static long calls;

static void *worker(void *arg)
{
    static void (*const all[])(void) = {makes_socket, makes_socket, makes_socket, makes_pair,  makes_pipe, makes_eventfd, makes_set, closes,    duplicates, serves,
                                        serves,       serves,       binds,        listens,     connects,   connects,      connects,  connects,  accepts,    accepts,
                                        accepts,      accepts,      shuts,        writes,      writes,     writes,        writes,    writes,    sends_to,   sends_to,
                                        reads,        reads,        reads,        reads,       reads,      receives_from, names,     names,     asks_option, sets_option,
                                        controls,     polls,        polls,        polls,       selects,    watches,       watches,   watches,   watches,    waits,
                                        waits,        waits,        flags,        counts,      counts};
    for (long i = 0; i < calls; i++)
        all[pick(sizeof all / sizeof *all)]();
    for (int i = 0; i < NUMBERS; i++)
        replace(i, -1, SOCKET);
    return arg;
}

static void *idle(void *arg)
{
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    static char buffer[1 << 20];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    signal(SIGPIPE, SIG_IGN);
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    calls = argc > 2 ? atol(argv[2]) : 100;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = -1;
    /* From before the threads: two ends with something on its way, a count, and a set that watches both. */
    int pair[2];
    struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u32 = 1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) < 0 || write(pair[0], "early", 5) != 5)
        abort();
    numbers[0] = pair[0];
    numbers[1] = pair[1];
    numbers[2] = eventfd(3, EFD_NONBLOCK);
    kinds[2] = COUNT;
    numbers[3] = epoll_create1(0);
    kinds[3] = SET;
    if (epoll_ctl(numbers[3], EPOLL_CTL_ADD, numbers[1], &e) < 0)
        abort();
    e = (struct epoll_event){.events = EPOLLIN, .data.u32 = 2};
    if (epoll_ctl(numbers[3], EPOLL_CTL_ADD, numbers[2], &e) < 0)
        abort();
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, idle, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    fflush(stdout);
    return 0;
}
