#include "host/reach.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { POLLED_MOST = 256, SETS_MOST = 1024, LINE_MOST = 512, ADDRESS_MOST = 64 };

/* ---- descriptors as /proc names them ---- */

static bool target_of(pid_t process, int fd, char target[PATH_MAX])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process, fd);
    ssize_t n = readlink(path, target, PATH_MAX - 1);
    target[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* Of "socket:[1234]"; 0: it is none. */
static uint64_t inode_in(const char *target, const char *kind)
{
    size_t n = strlen(kind);
    return strncmp(target, kind, n) == 0 && strncmp(target + n, ":[", 2) == 0 ? strtoull(target + n + 2, NULL, 10) : 0;
}

static void add_inodes(pid_t process, const char *kind, struct dh_u64_set *out)
{
    char path[64], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        uint64_t inode =
            e->d_name[0] != '.' && target_of(process, atoi(e->d_name), target) ? inode_in(target, kind) : 0;
        if (inode)
            dh_u64_set_add(out, inode);
    }
    if (d)
        closedir(d);
}

void dh_reach_init(struct dh_reach *r, const dh_pids *all)
{
    *r = (struct dh_reach){0};
    for (size_t i = 1; i < all->n; i++)
        add_inodes(all->at[i], "socket", &r->sockets);
    add_inodes(getpid(), "pipe", &r->shared);
    if (all->n)
        add_inodes(all->at[0], "pipe", &r->shared);
}

void dh_reach_release(struct dh_reach *r)
{
    dh_u64_set_release(&r->sockets);
    dh_u64_set_release(&r->shared);
}

/* ---- the other end of a socket ---- */

struct unix_question {
    struct nlmsghdr head;
    struct unix_diag_req ask;
};

static uint64_t peer_in(const char *answer, size_t n)
{
    const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
    if (!NLMSG_OK(head, n) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return 0;
    const char *at = (const char *)NLMSG_DATA(head) + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
    for (const char *end = answer + head->nlmsg_len; at + sizeof(struct nlattr) <= end;) {
        const struct nlattr *a = (const struct nlattr *)at;
        uint32_t inode;
        if (a->nla_len < sizeof *a)
            return 0;
        if (a->nla_type == UNIX_DIAG_PEER && a->nla_len >= sizeof *a + sizeof inode) {
            memcpy(&inode, a + 1, sizeof inode);
            return inode;
        }
        at += NLA_ALIGN(a->nla_len);
    }
    return 0;
}

/* 0: it is no Unix socket that is connected, or the kernel does not say. */
static uint64_t unix_peer(uint64_t inode)
{
    struct unix_question q = {.head = {sizeof q, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0},
                              .ask = {.sdiag_family = AF_UNIX,
                                      .udiag_states = UINT32_MAX,
                                      .udiag_ino = (uint32_t)inode,
                                      .udiag_show = UDIAG_SHOW_PEER,
                                      .udiag_cookie = {UINT32_MAX, UINT32_MAX}}};
    union {
        struct nlmsghdr head; /* for its alignment */
        char bytes[1024];
    } answer;
    int s = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (s < 0)
        return 0;
    ssize_t n = send(s, &q, sizeof q, 0) == sizeof q ? recv(s, answer.bytes, sizeof answer.bytes, 0) : 0;
    close(s);
    return n > 0 ? peer_in(answer.bytes, (size_t)n) : 0;
}

struct connection {
    char local[ADDRESS_MOST], remote[ADDRESS_MOST];
    uint64_t inode;
};

static bool read_connection(const char *line, struct connection *c)
{
    return sscanf(line, " %*d: %63s %63s %*x %*x:%*x %*x:%*x %*x %*u %*d %" SCNu64, c->local, c->remote, &c->inode) ==
           3;
}

/* The connection with that inode, or, with `mirrored`, the other end of that one. */
static bool find_connection(FILE *f, uint64_t inode, const struct connection *mirrored, struct connection *out)
{
    char line[LINE_MOST];
    rewind(f);
    while (fgets(line, sizeof line, f))
        if (read_connection(line, out) &&
            (mirrored ? !strcmp(out->local, mirrored->remote) && !strcmp(out->remote, mirrored->local) && out->inode
                      : out->inode == inode))
            return true;
    return false;
}

static uint64_t tcp_peer(pid_t process, const char *table, uint64_t inode)
{
    char path[64];
    struct connection own, other;
    snprintf(path, sizeof path, "/proc/%d/net/%s", (int)process, table);
    FILE *f = fopen(path, "re");
    bool found = f && find_connection(f, inode, NULL, &own) && find_connection(f, 0, &own, &other);
    if (f)
        fclose(f);
    return found ? other.inode : 0;
}

/* One end is taken by the processes, and so is the other: what they do not send does not come. */
static bool is_between_them(const struct dh_reach *r, pid_t process, uint64_t inode)
{
    uint64_t peer = unix_peer(inode);
    peer = peer ? peer : tcp_peer(process, "tcp", inode);
    peer = peer ? peer : tcp_peer(process, "tcp6", inode);
    return peer && dh_u64_set_has(&r->sockets, peer);
}

/* ---- one descriptor ---- */

/* Files and devices never let anybody wait for long; events of the process itself; time. */
static const struct {
    const char *target;
    enum dh_waiting waiting;
} known[] = {
    {"anon_inode:[eventfd]", DH_WAITING_FOR_EACH_OTHER},
    {"anon_inode:[eventpoll]", DH_WAITING_FOR_TIME},
    {"anon_inode:[timerfd]", DH_WAITING_FOR_TIME},
    {"anon_inode:[signalfd]", DH_WAITING_FOR_TIME},
    {"/dev/null", DH_WAITING_FOR_EACH_OTHER},
    {"/dev/zero", DH_WAITING_FOR_EACH_OTHER},
    {"/dev/urandom", DH_WAITING_FOR_EACH_OTHER},
};

static enum dh_waiting waiting_at_file(pid_t process, int fd)
{
    char path[64];
    struct stat about;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process, fd);
    bool is_file = stat(path, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
    return is_file ? DH_WAITING_FOR_TIME : DH_WAITING_FOR_OUTSIDE; /* locks of others on the file */
}

/* Standard input may be a terminal, or a pipe of its user; what is written to standard output is taken. */
static enum dh_waiting waiting_at(const struct dh_reach *r, pid_t process, int fd)
{
    char target[PATH_MAX];
    if (fd == STDOUT_FILENO || fd == STDERR_FILENO)
        return DH_WAITING_FOR_TIME;
    if (!target_of(process, fd, target))
        return DH_WAITING_FOR_OUTSIDE;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(target, known[i].target) == 0)
            return known[i].waiting;
    uint64_t pipe = inode_in(target, "pipe"), socket = inode_in(target, "socket");
    if (pipe)
        return fd == STDIN_FILENO                 ? DH_WAITING_FOR_OUTSIDE
               : dh_u64_set_has(&r->shared, pipe) ? DH_WAITING_FOR_TIME
                                                  : DH_WAITING_FOR_EACH_OTHER;
    if (socket)
        return fd != STDIN_FILENO && is_between_them(r, process, socket) ? DH_WAITING_FOR_EACH_OTHER
                                                                         : DH_WAITING_FOR_OUTSIDE;
    return waiting_at_file(process, fd);
}

/* ---- the descriptors of a call ---- */

struct looking {
    const struct dh_reach *reach;
    pid_t process;
    const struct dh_wait_call *call;
    enum dh_waiting most;
};

static void look_at(struct looking *l, int fd)
{
    enum dh_waiting w = waiting_at(l->reach, l->process, fd);
    l->most = w > l->most ? w : l->most;
}

static bool read_memory(const struct looking *l, uint64_t at, void *out, size_t n)
{
    struct iovec here = {out, n}, there = {(void *)(uintptr_t)at, n};
    return process_vm_readv(l->process, &here, 1, &there, 1, 0) == (ssize_t)n;
}

static void look_at_polled(struct looking *l)
{
    struct pollfd polled[POLLED_MOST];
    uint64_t n = l->call->arguments[1];
    if (n > POLLED_MOST || !read_memory(l, l->call->arguments[0], polled, n * sizeof *polled))
        l->most = DH_WAITING_FOR_OUTSIDE;
    else
        for (uint64_t i = 0; i < n; i++)
            if (polled[i].fd >= 0)
                look_at(l, polled[i].fd);
}

static void look_at_sets(struct looking *l)
{
    uint64_t bits[SETS_MOST / 64], n = l->call->arguments[0];
    for (unsigned set = 1; set <= 3; set++) {
        if (!l->call->arguments[set])
            continue;
        if (n > SETS_MOST || !read_memory(l, l->call->arguments[set], bits, (n + 63) / 64 * sizeof *bits)) {
            l->most = DH_WAITING_FOR_OUTSIDE;
            return;
        }
        for (uint64_t fd = 0; fd < n; fd++)
            if (bits[fd / 64] >> fd % 64 & 1)
                look_at(l, (int)fd);
    }
}

static void look_at_epoll(struct looking *l)
{
    char path[64], line[LINE_MOST];
    int fd;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)l->process, (int)l->call->arguments[0]);
    FILE *f = fopen(path, "re");
    if (!f)
        l->most = DH_WAITING_FOR_OUTSIDE;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "tfd: %d", &fd) == 1)
            look_at(l, fd);
    if (f)
        fclose(f);
}

/* A handler may write where the process waits, and anybody may send the signal. */
static bool catches_signals(pid_t process)
{
    static const int sent[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGIO};
    char path[64], line[LINE_MOST];
    uint64_t caught = 0;
    bool any = false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "SigCgt: %" SCNx64, &caught) != 1)
        ;
    if (f)
        fclose(f);
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++)
        any |= caught >> (sent[i] - 1) & 1;
    return any;
}

/* Of other calls that wait for what is outside only a signal is known to end them. */
static const struct {
    long number;
    void (*look)(struct looking *l);
} calls[] = {
    {SYS_poll, look_at_polled},   {SYS_ppoll, look_at_polled},     {SYS_select, look_at_sets},
    {SYS_pselect6, look_at_sets}, {SYS_epoll_wait, look_at_epoll}, {SYS_epoll_pwait, look_at_epoll},
};

static bool look_at_all(struct looking *l)
{
    if (dh_wait_call_is_on_descriptor(l->call)) {
        look_at(l, (int)l->call->arguments[0]);
        return true;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == l->call->number) {
            calls[i].look(l);
            return true;
        }
    return false;
}

enum dh_waiting dh_reach_of(const struct dh_reach *r, pid_t process, const struct dh_wait_call *c)
{
    struct looking l = {r, process, c, DH_WAITING_FOR_EACH_OTHER};
    enum dh_waiting kind = dh_wait_call_kind(c);
    if (kind != DH_WAITING_FOR_OUTSIDE)
        return kind;
    if (!look_at_all(&l))
        return dh_wait_call_is_known(c) ? DH_WAITING_FOR_TIME : DH_WAITING_FOR_OUTSIDE; /* signals may come */
    return l.most == DH_WAITING_FOR_EACH_OTHER && catches_signals(process) ? DH_WAITING_FOR_TIME : l.most;
}
