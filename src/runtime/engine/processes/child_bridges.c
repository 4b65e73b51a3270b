#include "runtime/engine/processes/child_bridges.h"

#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/sockets/socket.h"
#include "runtime/platform/print.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

enum { NUMBERS = 1024, OWN_DESCRIPTORS = 750, BLOCK = 4096, READS = 0, WRITES = 1 };

static long call(long number, long a, long b, long c, long d)
{
    return dh_kernel_call(number, a, b, c, d, 0, 0);
}

static void close_end(struct dh_bridge *b, unsigned end)
{
    if (b->ends[end] >= 0)
        call(SYS_close, b->ends[end], 0, 0, 0);
    b->ends[end] = -1;
}

static uint32_t poll_now(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};
    struct timespec none = {0, 0};
    dh_kernel_call(SYS_ppoll, (long)&p, 1, (long)&none, 0, 8, 0);
    return (uint32_t)p.revents;
}

static void give_up(struct dh_bridge *b, unsigned end)
{
    if (!b->has[end])
        return;
    b->has[end] = false;
    if (b->pipe)
        dh_pipe_share(b->pipe, end == READS ? -1 : 0, end == WRITES ? -1 : 0);
    else
        dh_socket_share(b->sockets[end], -1);
}

/* ---- pipes ---- */

/* To the child: what waits in the pipe, if nobody here reads it; then its end, if nobody here writes. */
static bool feed_pipe(struct dh_bridge *b)
{
    char block[BLOCK];
    bool moved = false;
    for (size_t n;
         b->ends[WRITES] >= 0 && !dh_pipe_own_readers(b->pipe) && (n = dh_pipe_peek(b->pipe, block, BLOCK));) {
        long written = call(SYS_write, b->ends[WRITES], (long)block, (long)n, 0);
        if (written <= 0)
            return moved;
        dh_pipe_drop(b->pipe, (size_t)written);
        moved = true;
    }
    if (!dh_pipe_own_writers(b->pipe))
        close_end(b, WRITES);
    return moved;
}

static bool drain_pipe(struct dh_bridge *b)
{
    char block[BLOCK];
    bool moved = false;
    for (long n; b->ends[READS] >= 0 && dh_pipe_own_readers(b->pipe) &&
                 (n = call(SYS_read, b->ends[READS], (long)block, BLOCK, 0)) > 0;) {
        dh_pipe_fill(b->pipe, block, (size_t)n);
        moved = true;
    }
    return moved;
}

static bool move_pipe(struct dh_bridge *b)
{
    bool fed = b->has[READS] && feed_pipe(b);
    return (b->has[WRITES] && drain_pipe(b)) || fed;
}

/* ---- socket pairs ---- */

/* What the child would read at that end, if nobody here does, goes into the real one at the other. */
static bool feed_socket(struct dh_bridge *b, unsigned end)
{
    char block[BLOCK];
    int to = b->ends[!end];
    bool moved = false;
    for (size_t n;
         to >= 0 && !dh_socket_is_ours(b->sockets[end]) && (n = dh_socket_peek(b->sockets[end], block, BLOCK));) {
        long written = call(SYS_sendto, to, (long)block, (long)n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (written <= 0)
            return moved;
        dh_socket_drop(b->sockets[end], (size_t)written);
        moved = true;
    }
    return moved;
}

/* The child closed the other end, or will only read there from now on. */
static void end_of_peer(struct dh_bridge *b, unsigned end)
{
    if (!b->has[!end] || dh_socket_is_ours(b->sockets[!end]))
        return;
    if (poll_now(b->ends[end]) & POLLHUP)
        give_up(b, !end);
    else
        dh_socket_peer_is_done(b->sockets[end]);
}

static bool drain_socket(struct dh_bridge *b, unsigned end)
{
    char block[BLOCK];
    bool moved = false;
    long n = -EAGAIN;
    while (b->ends[end] >= 0 && dh_socket_is_ours(b->sockets[end]) &&
           (n = call(SYS_recvfrom, b->ends[end], (long)block, BLOCK, MSG_DONTWAIT)) > 0) {
        dh_socket_fill(b->sockets[end], block, (size_t)n);
        moved = true;
    }
    if (n == 0)
        end_of_peer(b, end);
    return moved;
}

/* A real end stays open for as long as the program has that of the model. */
static bool move_sockets(struct dh_bridge *b)
{
    bool moved = false;
    for (unsigned end = 0; end < 2; end++) {
        moved |= feed_socket(b, end);
        moved |= drain_socket(b, end);
    }
    for (unsigned end = 0; end < 2; end++) {
        if (!dh_socket_is_ours(b->sockets[end]))
            close_end(b, end);
        else if (dh_socket_is_shut(b->sockets[end]) && b->ends[end] >= 0)
            call(SYS_shutdown, b->ends[end], SHUT_WR, 0, 0);
    }
    return moved;
}

/* ---- all of a child ---- */

/* What closes on exec is closed. */
static void note_exec(struct dh_child_bridges *b)
{
    if (b->executes[0] < 0 || !(poll_now(b->executes[0]) & POLLHUP))
        return;
    call(SYS_close, b->executes[0], 0, 0, 0);
    b->executes[0] = -1;
    for (unsigned i = 0; i < b->n; i++)
        for (unsigned end = 0; end < 2; end++)
            if (b->at[i].until_exec[end])
                give_up(&b->at[i], end);
}

bool dh_bridges_move(struct dh_child_bridges *b)
{
    bool moved = false;
    note_exec(b);
    for (unsigned i = 0; i < b->n; i++)
        moved |= b->at[i].pipe ? move_pipe(&b->at[i]) : move_sockets(&b->at[i]);
    return moved;
}

bool dh_bridges_lead_to_child(const struct dh_child_bridges *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        const struct dh_bridge *at = &b->at[i];
        if (at->pipe ? at->has[READS] && at->ends[WRITES] >= 0 : at->ends[0] >= 0 || at->ends[1] >= 0)
            return true;
    }
    return false;
}

bool dh_bridges_concern(const struct dh_child_bridges *b, const void *channel)
{
    for (unsigned i = 0; i < b->n; i++)
        if (channel == b->at[i].pipe || channel == b->at[i].sockets[0] || channel == b->at[i].sockets[1])
            return true;
    return false;
}

void dh_bridges_close(struct dh_child_bridges *b)
{
    for (unsigned end = 0; end < 2; end++) {
        if (b->executes[end] >= 0)
            call(SYS_close, b->executes[end], 0, 0, 0);
        b->executes[end] = -1;
    }
    for (unsigned i = 0; i < b->n; i++)
        for (unsigned end = 0; end < 2; end++)
            close_end(&b->at[i], end);
}

void dh_bridges_end(struct dh_child_bridges *b)
{
    dh_bridges_close(b);
    for (unsigned i = 0; i < b->n; i++) {
        struct dh_bridge *at = &b->at[i];
        for (unsigned end = 0; end < 2; end++)
            give_up(at, end);
        for (unsigned end = 0; !at->pipe && end < 2; end++)
            dh_socket_hold(at->sockets[end], -1);
    }
    b->n = 0;
}

/* ---- at the fork ---- */

static int high_number(int fd)
{
    long high = call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS, 0);
    call(SYS_close, fd, 0, 0, 0);
    return (int)high;
}

static struct dh_bridge *new_bridge(struct dh_child_bridges *b, bool sockets)
{
    int ends[2];
    long made = b->n == DH_BRIDGES ? -EMFILE
                : sockets          ? call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long)ends)
                                   : call(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0);
    if (made != 0)
        dh_engine_cannot("a child process with more than %d pipes", DH_BRIDGES);
    struct dh_bridge *new = &b->at[b->n++];
    *new = (struct dh_bridge){.ends = {high_number(ends[0]), high_number(ends[1])}};
    return new;
}

static bool closes_on_exec(int fd)
{
    return call(SYS_fcntl, fd, F_GETFD, 0, 0) & FD_CLOEXEC;
}

/* Which end of which channel the number is; NULL: none that a child can share. */
static struct dh_pipe *pipe_at(int fd, unsigned *end)
{
    bool writes;
    const struct dh_description *d = dh_description_of(fd);
    struct dh_pipe *p = d ? dh_pipe_of(d, &writes) : NULL;
    *end = p && writes;
    return p;
}

static struct dh_bridge *find(const struct dh_child_bridges *b, int fd, unsigned *end)
{
    struct dh_pipe *p = pipe_at(fd, end);
    struct dh_socket *s = p ? NULL : dh_socket_of_pair(fd);
    for (unsigned i = 0; (p || s) && i < b->n; i++) {
        const struct dh_bridge *at = &b->at[i];
        if (p ? at->pipe == p : at->sockets[0] == s || at->sockets[1] == s) {
            *end = p ? *end : at->sockets[1] == s;
            return (struct dh_bridge *)at;
        }
    }
    return NULL;
}

static struct dh_bridge *find_or_make(struct dh_child_bridges *b, int fd, unsigned *end)
{
    struct dh_bridge *at = find(b, fd, end);
    struct dh_pipe *p = at ? NULL : pipe_at(fd, end);
    struct dh_socket *s = at || p ? NULL : dh_socket_of_pair(fd);
    if (at || (!p && !s))
        return at;
    at = new_bridge(b, s);
    at->pipe = p;
    at->sockets[0] = s;
    at->sockets[1] = s ? dh_socket_peer(s) : NULL;
    return at;
}

static void share(const struct dh_bridge *at)
{
    if (at->pipe)
        dh_pipe_share(at->pipe, at->has[READS], at->has[WRITES]);
    for (unsigned end = 0; !at->pipe && end < 2; end++) {
        dh_socket_hold(at->sockets[end], 1);
        if (at->has[end])
            dh_socket_share(at->sockets[end], 1);
    }
}

void dh_bridges_make(struct dh_child_bridges *b)
{
    unsigned end;
    if (call(SYS_pipe2, (long)b->executes, O_CLOEXEC, 0, 0) != 0)
        dh_engine_cannot("no descriptor is left for a child process");
    for (end = 0; end < 2; end++)
        b->executes[end] = high_number(b->executes[end]);
    for (int fd = 0; fd < NUMBERS; fd++) {
        struct dh_bridge *at = find_or_make(b, fd, &end);
        if (!at)
            continue;
        at->until_exec[end] = closes_on_exec(fd) && (!at->has[end] || at->until_exec[end]);
        at->has[end] = true;
    }
    for (unsigned i = 0; i < b->n; i++)
        share(&b->at[i]);
}

/* A description of our own, so that calls of ours do not wait, and those of the child do. */
static int reopened(int fd, bool writes)
{
    char path[40];
    dh_print_text(path, sizeof path, "/proc/self/fd/%d", fd);
    long own = call(SYS_openat, AT_FDCWD, (long)path, (writes ? O_WRONLY : O_RDONLY) | O_NONBLOCK | O_CLOEXEC, 0);
    return own < 0 ? -1 : high_number((int)own);
}

static void reopen_pipe(struct dh_bridge *b)
{
    int own[2] = {reopened(b->ends[READS], false), reopened(b->ends[WRITES], true)};
    for (unsigned end = 0; end < 2; end++) {
        close_end(b, end);
        b->ends[end] = own[end];
    }
    if (!b->has[READS])
        close_end(b, WRITES);
}

void dh_bridges_keep_own(struct dh_child_bridges *b)
{
    call(SYS_close, b->executes[1], 0, 0, 0);
    b->executes[1] = -1;
    for (unsigned i = 0; i < b->n; i++)
        if (b->at[i].pipe)
            reopen_pipe(&b->at[i]);
}

void dh_bridges_use(const struct dh_child_bridges *b)
{
    unsigned end;
    for (int fd = 0; fd < NUMBERS; fd++) {
        const struct dh_bridge *at = find(b, fd, &end);
        if (at)
            call(SYS_dup3, at->ends[end], fd, closes_on_exec(fd) ? O_CLOEXEC : 0, 0);
    }
}

void dh_bridges_close_in_child(const struct dh_child_bridges *b, bool own)
{
    struct dh_child_bridges copy = *b;
    if (own)
        copy.executes[1] = -1;
    dh_bridges_close(&copy);
}
