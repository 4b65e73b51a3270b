/* Sockets within the process: pairs, streams over loopback and Unix names, datagrams. Layer: runtime. A listener that
 * somebody outside could connect to is one here, too, but nobody does. Functions with the arguments of a system call
 * are rows of syscalls.def. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SOCKETS_SOCKET_H
#define DH_RUNTIME_ENGINE_SYSTEM_SOCKETS_SOCKET_H

#include "runtime/engine/system/descriptors/description.h"

#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/un.h>

union dh_socket_name {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    struct sockaddr_un path;
    struct sockaddr_nl netlink;
};

struct dh_socket_address {
    union dh_socket_name at;
    socklen_t size; /* 0: none */
};

/* Is it the number of one? */
bool dh_socket_is(long fd);
long dh_socket_make(long number, const long a[6]);
long dh_socket_pair(long number, const long a[6]);
long dh_socket_bind(long number, const long a[6]);
long dh_socket_listen(long number, const long a[6]);
long dh_socket_connect(long number, const long a[6]);
long dh_socket_accept(long number, const long a[6]);
long dh_socket_shutdown(long number, const long a[6]);
long dh_socket_name(long number, const long a[6]);
long dh_socket_get_option(long number, const long a[6]);
long dh_socket_set_option(long number, const long a[6]);
/* sendmmsg and recvmmsg. */
long dh_socket_send_many(long number, const long a[6]);
long dh_socket_receive_many(long number, const long a[6]);

/* ---- ends that child processes have (child_bridges.h) ---- */

/* One end of two that are connected streams of this process; NULL: it is none. */
struct dh_socket *dh_socket_of_pair(long fd);
struct dh_socket *dh_socket_peer(const struct dh_socket *s);
/* Has the program a number for it? */
bool dh_socket_is_ours(const struct dh_socket *s);
/* Nothing more is written there. */
bool dh_socket_is_shut(const struct dh_socket *s);
/* Its peer writes nothing more. */
void dh_socket_peer_is_done(struct dh_socket *s);
/* One child more, or less, has it. */
void dh_socket_share(struct dh_socket *s, int children);
/* A bridge refers to it, or does not any more. */
void dh_socket_hold(struct dh_socket *s, int bridges);
/* The first bytes that wait there, which stay until they are dropped; answers how many. */
size_t dh_socket_peek(const struct dh_socket *s, void *to, size_t n);
void dh_socket_drop(struct dh_socket *s, size_t n);

/* ---- at the snapshot ---- */

struct dh_socket *dh_socket_take_over(long fd, int domain, int type, unsigned flags);
void dh_socket_named(struct dh_socket *s, const struct dh_socket_address *own, const struct dh_socket_address *peer);
void dh_socket_listens(struct dh_socket *s);
void dh_socket_connected(struct dh_socket *a, struct dh_socket *b);
void dh_socket_fill(struct dh_socket *s, const void *from, size_t n);
/* Waits at the listener of that name to be accepted; false: there is none. */
bool dh_socket_pending(struct dh_socket *client, const struct dh_socket_address *to);

#endif
