/* Descriptors: what is written comes before it is read, at the other end of a pipe, a connection, a counter. Broken:
 * the reader reads what came through another one. */
#include "pair.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

/* Of two channels, the ends to write to and to read from. The second has something in it. */
static int to[2], from[2];
static char byte = 'x';

static void fill_other(void)
{
    CHECK(write(to[1], "12345678", 8) == 8);
}

static void make_pipes(void)
{
    for (int i = 0; i < 2; i++) {
        int fd[2];
        CHECK(pipe(fd) == 0);
        from[i] = fd[0];
        to[i] = fd[1];
    }
    fill_other();
}
static void make_duped_pipes(void)
{
    make_pipes();
    for (int i = 0; i < 2; i++) {
        to[i] = dup(to[i]);
        from[i] = fcntl(from[i], F_DUPFD, 100);
        CHECK(dup2(from[i], 200 + i) == 200 + i);
        from[i] = 200 + i;
    }
}
static void make_fifos(void)
{
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "/tmp/deadheat-fifo-%d-%d", getpid(), i);
        CHECK(mkfifo(path, 0600) == 0);
        from[i] = open(path, O_RDONLY | O_NONBLOCK);
        to[i] = open(path, O_WRONLY);
        unlink(path);
        CHECK(from[i] >= 0 && to[i] >= 0 && fcntl(from[i], F_SETFL, 0) == 0);
    }
    fill_other();
}
static void make_pairs(int type)
{
    for (int i = 0; i < 2; i++) {
        int fd[2];
        CHECK(socketpair(AF_UNIX, type, 0, fd) == 0);
        from[i] = fd[0];
        to[i] = fd[1];
    }
    fill_other();
}
static void make_stream_pairs(void)
{
    make_pairs(SOCK_STREAM);
}
static void make_datagram_pairs(void)
{
    make_pairs(SOCK_DGRAM);
}
static void make_connection(int i, const void *address, socklen_t n)
{
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int domain = ((const struct sockaddr *)address)->sa_family, listening = socket(domain, SOCK_STREAM, 0);
    CHECK(listening >= 0 && bind(listening, address, n) == 0 && listen(listening, 5) == 0);
    CHECK(getsockname(listening, (struct sockaddr *)&bound, &length) == 0);
    to[i] = socket(domain, SOCK_STREAM, 0);
    CHECK(to[i] >= 0 && connect(to[i], (struct sockaddr *)&bound, length) == 0);
    from[i] = accept(listening, NULL, NULL);
    CHECK(from[i] >= 0);
}
static void make_tcp(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < 2; i++)
        make_connection(i, &a, sizeof a);
    fill_other();
}
static void make_local(void)
{
    for (int i = 0; i < 2; i++) {
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "deadheat-test-%d-%d", getpid(), i);
        make_connection(i, &a, (socklen_t)(sizeof a.sun_family + 1) + (socklen_t)n);
    }
    fill_other();
}
static void make_udp(void)
{
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t n = sizeof a;
        from[i] = socket(AF_INET, SOCK_DGRAM, 0);
        to[i] = socket(AF_INET, SOCK_DGRAM, 0);
        CHECK(bind(from[i], (struct sockaddr *)&a, n) == 0 && getsockname(from[i], (struct sockaddr *)&a, &n) == 0);
        CHECK(connect(to[i], (struct sockaddr *)&a, n) == 0);
    }
}
static void make_eventfds(void)
{
    for (int i = 0; i < 2; i++)
        CHECK((to[i] = from[i] = eventfd((unsigned)i, 0)) >= 0);
}

/* ---- ways to write ---- */

static void write_out(int o)
{
    guarded++;
    CHECK(write(to[o], &byte, 1) == 1);
}
static void writev_out(int o)
{
    struct iovec part = {&byte, 1};
    guarded++;
    CHECK(writev(to[o], &part, 1) == 1);
}
static void send_out(int o)
{
    guarded++;
    CHECK(send(to[o], &byte, 1, 0) == 1);
}
static void sendmsg_out(int o)
{
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    guarded++;
    CHECK(sendmsg(to[o], &m, 0) == 1);
}
static void close_out(int o)
{
    guarded++;
    CHECK(close(to[o]) == 0);
}
static void shutdown_out(int o)
{
    guarded++;
    CHECK(shutdown(to[o], SHUT_WR) == 0);
}
static void print_out(int o)
{
    FILE *f = fdopen(to[o], "w");
    guarded++;
    CHECK(fprintf(f, "a line\n") == 7 && fflush(f) == 0);
}
static void count_out(int o)
{
    guarded++;
    CHECK(eventfd_write(to[o], 1) == 0);
}
static void write_number(int o)
{
    uint64_t one = 1;
    guarded++;
    CHECK(write(to[o], &one, sizeof one) == sizeof one);
}
static void splice_out(int o)
{
    int fd[2];
    CHECK(pipe(fd) == 0 && write(fd[1], &byte, 1) == 1);
    guarded++;
    CHECK(splice(fd[0], NULL, to[o], NULL, 1, 0) == 1);
}

/* ---- ways to read ---- */

static void read_in(int o)
{
    char got;
    CHECK(read(from[o], &got, 1) == 1);
    guarded++;
}
static void readv_in(int o)
{
    char got;
    struct iovec part = {&got, 1};
    CHECK(readv(from[o], &part, 1) == 1);
    guarded++;
}
static void recv_in(int o)
{
    char got;
    CHECK(recv(from[o], &got, 1, 0) == 1);
    guarded++;
}
static void recvmsg_in(int o)
{
    char got;
    struct iovec part = {&got, 1};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    CHECK(recvmsg(from[o], &m, 0) == 1);
    guarded++;
}
static void read_end(int o)
{
    char got;
    CHECK(read(from[o], &got, 1) == (o ? 1 : 0));
    guarded++;
}
static void read_line(int o)
{
    char line[9];
    FILE *f = fdopen(from[o], "r");
    CHECK(fgets(line, sizeof line, f));
    guarded++;
}
static void count_in(int o)
{
    eventfd_t value;
    CHECK(eventfd_read(from[o], &value) == 0);
    guarded++;
}
static void read_number(int o)
{
    uint64_t value;
    CHECK(read(from[o], &value, sizeof value) == sizeof value);
    guarded++;
}
static void receive(int o)
{
    char got;
    if (o)
        invisible_await(WRITTEN);
    else
        CHECK(recvfrom(from[0], &got, 1, 0, NULL, NULL) == 1);
    guarded++;
}
static void poll_in(int o)
{
    struct pollfd p = {from[o], POLLIN, 0};
    CHECK(poll(&p, 1, -1) == 1);
    guarded++;
}
static void select_in(int o)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(from[o], &set);
    CHECK(select(from[o] + 1, &set, NULL, NULL, NULL) == 1);
    guarded++;
}
static int epoll_for(int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);
    CHECK(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    return epoll;
}
static int epolls[2];
static void make_watched_pipes(void)
{
    make_pipes();
    for (int i = 0; i < 2; i++)
        epolls[i] = epoll_for(from[i]);
}
static void epoll_in(int o)
{
    struct epoll_event event;
    CHECK(epoll_wait(epolls[o], &event, 1, -1) == 1);
    guarded++;
}

/* What was done before a descriptor was added to an instance comes before it is reported. */
static void add_ready(int o)
{
    struct epoll_event event = {.events = EPOLLIN};
    guarded++;
    CHECK(epoll_ctl(epolls[o], EPOLL_CTL_ADD, from[1], &event) == 0);
}
static void make_unwatched_pipes(void)
{
    make_pipes();
    epolls[0] = epoll_create(1);
    epolls[1] = epoll_for(from[1]);
}

/* Connecting itself: before the acceptance. Broken: after it. */
static int server;
static struct sockaddr_in address = {.sin_family = AF_INET};
static void make_server(void)
{
    socklen_t n = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(server, (struct sockaddr *)&address, n) == 0 && listen(server, 5) == 0);
    CHECK(getsockname(server, (struct sockaddr *)&address, &n) == 0);
}
static void connect_to(int o)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    (void)o;
    if (!broken)
        guarded++;
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    if (broken)
        guarded++;
}
static void accept_from(int o)
{
    (void)o;
    CHECK(accept(server, NULL, NULL) >= 0);
    guarded++;
}

/* A number comes again after it was closed: what a table keeps under it is handed over. Broken: it is used after the
 * close. */
static int number;
static void use_number(int o)
{
    (void)o;
    if (!broken)
        guarded++;
    CHECK(close(number) == 0);
    if (broken)
        guarded++;
}
static void make_number(void)
{
    CHECK((number = open("/dev/null", O_RDONLY)) >= 0);
}
static void get_number_again(int o)
{
    int fd;
    (void)o;
    while ((fd = open("/dev/null", O_RDONLY)) != number)
        CHECK(fd > 0 && fd < 100);
    guarded++;
}

/* The buffer itself. Broken: it is read into while the writer uses it. */
static char buffer_fill[2][16];
static struct {
    char guarded[16];
} buffer;
static void use_buffer(int o)
{
    CHECK(buffer.guarded[0] == 0);
    if (broken)
        invisible_say(STEP);
    else
        CHECK(write(to[o], buffer_fill[0], 8) == 8);
}
static void read_into_buffer(int o)
{
    CHECK(read(from[o], buffer.guarded, 8) == 8);
}
static void change_buffer(int o)
{
    buffer.guarded[7] = 1;
    write_out(o);
}
static void send_buffer(int o)
{
    char got;
    if (!o)
        CHECK(read(from[o], &got, 1) == 1);
    CHECK(write(to[1], buffer.guarded, 8) == 8);
}

static const struct pair pairs[] = {
    {"pipe", make_pipes, write_out, read_in, TOGETHER},
    {"pipe-duped", make_duped_pipes, write_out, read_in, TOGETHER},
    {"pipe-vectors", make_pipes, writev_out, readv_in, TOGETHER},
    {"pipe-closed", make_pipes, close_out, read_end, TOGETHER},
    {"pipe-spliced", make_pipes, splice_out, read_in, TOGETHER},
    {"pipe-stream", make_pipes, print_out, read_line, TOGETHER},
    {"fifo", make_fifos, write_out, read_in, TOGETHER},
    {"socketpair", make_stream_pairs, send_out, recv_in, TOGETHER},
    {"socketpair-messages", make_datagram_pairs, sendmsg_out, recvmsg_in, TOGETHER},
    {"socketpair-shutdown", make_stream_pairs, shutdown_out, read_end, TOGETHER},
    {"tcp", make_tcp, send_out, recv_in, TOGETHER},
    {"tcp-closed", make_tcp, close_out, read_end, TOGETHER},
    {"udp", make_udp, send_out, receive, TOGETHER}, /* broken: nothing is received */
    {"local", make_local, write_out, read_in, TOGETHER},
    {"connect", make_server, connect_to, accept_from, TOGETHER},
    {"eventfd", make_eventfds, count_out, count_in, TOGETHER},
    {"eventfd-raw", make_eventfds, write_number, read_number, TOGETHER},
    {"poll", make_pipes, write_out, poll_in, TOGETHER},
    {"select", make_pipes, write_out, select_in, TOGETHER},
    {"epoll", make_watched_pipes, write_out, epoll_in, TOGETHER},
    {"epoll-added", make_unwatched_pipes, add_ready, epoll_in, TOGETHER},
    {"number", make_number, use_number, get_number_again, 0},
    {"buffer-read", make_pipes, use_buffer, read_into_buffer, 0},
    {"buffer-written", make_pipes, change_buffer, send_buffer, 0},
};
PAIRS_MAIN(pairs)
