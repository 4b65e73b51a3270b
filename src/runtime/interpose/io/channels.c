#include "runtime/interpose/io/channels.h"

#include "base/hash.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/report.h"
#include "runtime/sync/sync.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* Half of the numbers are given in turn to what is made before our eyes; the other half by a hash to what is found by
 * its address or inode. Two that share a number are ordered where they need not be. */
#define MADE (1u << 18)
#define ALL (2 * MADE)
#define DATAGRAMS MADE         /* all of them: an unconnected socket hears anybody */
#define EVERY_EPOLL (MADE + 1) /* stands in for the watchers of what several watch */
#define UNASKED (MADE + 2)     /* all that could not be asked for */
#define FIRST_HASHED (MADE + 3)

/* Of a descriptor: 0 = not known yet, else the channel + 1. */
#define SEGMENT 1024
#define SEGMENTS (DH_CHANNEL_DESCRIPTORS / SEGMENT)

static _Atomic(_Atomic uint32_t *) segments[SEGMENTS];
static _Atomic dh_channel watchers[ALL];
static _Atomic uint32_t made;

/* No address of the program's. */
static const void *name_of(dh_channel c)
{
    return (const void *)((uintptr_t)1 << 62 | (uintptr_t)c * 64);
}

/* ---- the table of descriptors ---- */

static _Atomic uint32_t *entry_of(int fd)
{
    if (fd < 0 || fd >= SEGMENT * SEGMENTS)
        return NULL;
    _Atomic(_Atomic uint32_t *) *slot = &segments[fd / SEGMENT];
    _Atomic uint32_t *segment = atomic_load_explicit(slot, memory_order_acquire);
    if (!segment) {
        _Atomic uint32_t *fresh = dh_alloc_forever(SEGMENT * sizeof *fresh);
        if (!fresh)
            return NULL;
        if (atomic_compare_exchange_strong(slot, &segment, fresh))
            segment = fresh;
    }
    return &segment[fd % SEGMENT];
}

dh_channel dh_channel_new(void)
{
    dh_channel c = 1 + atomic_fetch_add(&made, 1) % (MADE - 1);
    atomic_store(&watchers[c], DH_CHANNEL_NONE);
    dh_sync_forget(name_of(c), DH_SYNC_CHANNEL);
    return c;
}

/* Programs keep what belongs to a connection in tables by number: a number comes again only after it was closed. The
 * names of numbers follow those of channels. */
static const void *number_of(int fd)
{
    return name_of(ALL + (dh_channel)fd);
}

void dh_channel_opened(int fd, dh_channel c)
{
    if (fd >= 0)
        dh_sync_acquire(number_of(fd), DH_SYNC_CHANNEL);
    dh_channel_set(fd, c);
}

void dh_channel_closing(int fd)
{
    if (fd < 0)
        return;
    dh_channel_out(fd);
    dh_sync_release_join(number_of(fd), DH_SYNC_CHANNEL);
    dh_channel_set(fd, DH_CHANNEL_NONE);
}

void dh_channel_set(int fd, dh_channel c)
{
    _Atomic uint32_t *entry = entry_of(fd);
    if (entry)
        atomic_store(entry, c == DH_CHANNEL_NONE ? 0 : c + 1);
}

/* ---- what a descriptor is ---- */

static dh_channel by_hash(uint64_t h)
{
    return FIRST_HASHED + (dh_channel)(dh_hash_fold(h, 1) % (ALL - FIRST_HASHED));
}

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

static bool ask_address(long call, int fd, union address *a)
{
    socklen_t n = sizeof *a;
    dh_bytes_zero(a, sizeof *a);
    return dh_syscall3(call, fd, (long)a, (long)&n) == 0;
}

static uint64_t hash_bytes(const void *at, size_t n)
{
    const unsigned char *bytes = at;
    uint64_t h = n;
    for (size_t i = 0; i < n; i++)
        h = dh_hash_fold(h, bytes[i]);
    return h;
}

/* The same host may be written as IPv4 and as IPv6. */
static uint64_t hash_address(const union address *a)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    if (a->any.sa_family == AF_INET)
        return dh_hash_fold(hash_bytes(&a->in.sin_addr, 4), a->in.sin_port);
    const uint8_t *in6 = a->in6.sin6_addr.s6_addr;
    bool is_mapped = true;
    for (int i = 0; i < 12; i++)
        is_mapped = is_mapped && in6[i] == mapped[i];
    return dh_hash_fold(is_mapped ? hash_bytes(in6 + 12, 4) : hash_bytes(in6, 16), a->in6.sin6_port);
}

/* Both ends of a connection know both addresses: in the sum they are the same. Of local sockets only one end has a
 * name, which is all we have. */
static dh_channel connection(const union address *here, const union address *there)
{
    if (here->any.sa_family == AF_UNIX)
        return by_hash(hash_bytes(here->un.sun_path, sizeof here->un.sun_path) +
                       hash_bytes(there->un.sun_path, sizeof there->un.sun_path));
    return by_hash(hash_address(here) + hash_address(there));
}

/* `settled`: the answer holds as long as the descriptor is open. */
static dh_channel identify_socket(int fd, bool *settled)
{
    union address here, there;
    int type = 0;
    socklen_t n = sizeof type;
    *settled = false;
    if (dh_syscall6(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, (long)&type, (long)&n, 0) == 0 && type == SOCK_DGRAM)
        return DATAGRAMS;
    if (!ask_address(SYS_getpeername, fd, &there) || !ask_address(SYS_getsockname, fd, &here))
        return DH_CHANNEL_NONE;
    *settled = true;
    return connection(&here, &there);
}

static dh_channel identify(int fd, bool *settled)
{
    struct stat about;
    *settled = false;
    if (dh_report_is_sandboxed())
        return UNASKED;
    if (dh_syscall3(SYS_fstat, fd, (long)&about, 0) != 0)
        return DH_CHANNEL_NONE;
    if (S_ISSOCK(about.st_mode))
        return identify_socket(fd, settled);
    *settled = true;
    if (S_ISFIFO(about.st_mode))
        return by_hash(dh_hash_fold(about.st_dev, about.st_ino));
    /* eventfd and its like, not seen being made: without a type, and all of one inode. */
    return about.st_mode & S_IFMT ? DH_CHANNEL_NONE : dh_channel_new();
}

dh_channel dh_channel_of(int fd)
{
    _Atomic uint32_t *entry = entry_of(fd);
    uint32_t known = entry ? atomic_load_explicit(entry, memory_order_relaxed) : 0;
    if (known)
        return known - 1;
    bool settled;
    dh_channel c = identify(fd, &settled);
    if (entry && settled)
        atomic_compare_exchange_strong(entry, &known, c + 1);
    return c;
}

void dh_channels_settle(void)
{
    for (int fd = 0; fd < SEGMENT; fd++)
        dh_channel_of(fd);
}

/* ---- edges ---- */

void dh_channel_release(dh_channel c)
{
    if (c == DH_CHANNEL_NONE)
        return;
    dh_sync_release_join(name_of(c), DH_SYNC_CHANNEL);
    dh_channel watcher = atomic_load_explicit(&watchers[c], memory_order_relaxed);
    if (watcher)
        dh_sync_release_join(name_of(watcher), DH_SYNC_CHANNEL);
}

static void acquire_channel(dh_channel c)
{
    if (c != DH_CHANNEL_NONE)
        dh_sync_acquire(name_of(c), DH_SYNC_CHANNEL);
}

void dh_channel_out(int fd)
{
    dh_channel_release(dh_channel_of(fd));
}

void dh_channel_in(int fd)
{
    acquire_channel(dh_channel_of(fd));
}

void dh_channel_watch(dh_channel c, dh_channel watcher)
{
    dh_channel none = DH_CHANNEL_NONE;
    if (c == DH_CHANNEL_NONE || watcher == DH_CHANNEL_NONE)
        return;
    if (!atomic_compare_exchange_strong(&watchers[c], &none, watcher) && none != watcher)
        atomic_store(&watchers[c], EVERY_EPOLL);
}

void dh_channel_woken(dh_channel watcher)
{
    acquire_channel(watcher);
    acquire_channel(EVERY_EPOLL);
}
