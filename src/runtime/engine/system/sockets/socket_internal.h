/* What the files of sockets share. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SOCKETS_SOCKET_INTERNAL_H
#define DH_RUNTIME_ENGINE_SYSTEM_SOCKETS_SOCKET_INTERNAL_H

#include "runtime/engine/system/descriptors/byte_queue.h"
#include "runtime/engine/system/sockets/socket.h"

/* What the program set, for when it asks. */
struct dh_socket_option {
    int level, name, value;
};
enum { DH_SOCKET_OPTIONS = 12 };

struct dh_socket {
    struct dh_socket *next;   /* of all that have a name, or of those that wait to be accepted */
    struct dh_description *d; /* NULL: not accepted yet, or closed */
    int domain, type;
    bool named, listens, connected;
    bool connecting;             /* the caller did not wait for its connection, and did not ask again */
    bool refused;                /* it did not come about */
    bool no_reading, no_writing; /* shut down, by either side */
    bool peer_closed;
    bool reuses_port;
    bool served; /* of a listener: somebody connected */
    int error;   /* SO_ERROR */
    struct dh_socket *peer;
    struct dh_socket *waiting; /* to be accepted, oldest first */
    uint32_t n_waiting, backlog;
    struct dh_byte_queue in; /* of datagrams: each with its header */
    size_t capacity;
    uint32_t children, bridges; /* child processes that have it, and what refers to it for that */
    bool from_child;            /* one had its peer */
    struct dh_socket_address own, other;
    struct dh_socket_option options[DH_SOCKET_OPTIONS];
    uint32_t n_options;
};

/* One object for all that concerns names and waiting connections. */
extern const char dh_socket_names;

/* ---- socket.c ---- */
struct dh_socket *dh_socket_new(int domain, int type);
struct dh_socket *dh_socket_of(long fd);
long dh_socket_open(struct dh_socket *s, unsigned flags);
static inline bool dh_socket_is_stream(const struct dh_socket *s)
{
    return s->type == SOCK_STREAM;
}
static inline void dh_socket_input(struct dh_socket *s)
{
    if (s && s->d)
        dh_description_input(s->d);
}
static inline void dh_socket_output(struct dh_socket *s)
{
    if (s && s->d)
        dh_description_output(s->d);
}
void dh_socket_free(struct dh_socket *s);
void dh_socket_leave(struct dh_socket *s);

/* ---- socket_names.c ---- */
struct dh_socket *dh_socket_find(int type, bool listener, const struct dh_socket_address *to);
void dh_socket_forget_name(struct dh_socket *s);
long dh_socket_give_name(struct dh_socket *s, const struct dh_socket_address *name);
/* A datagram socket that is connected hears only who it is connected with. */
bool dh_socket_hears(const struct dh_socket *s, const struct dh_socket *from);
/* An address as a socket of that domain is told it, with this machine in place of any. */
struct dh_socket_address dh_socket_seen(int domain, const struct dh_socket_address *a);
bool dh_socket_is_local(const struct dh_socket_address *to);
struct dh_socket_address dh_socket_address_of(const void *at, long size);
void dh_socket_tell_address(const struct dh_socket_address *from, void *to, socklen_t *size);

/* ---- socket_bytes.c ---- */
extern const struct dh_description_ops dh_socket_ops;
void dh_socket_put_datagram(struct dh_socket *to, const struct dh_socket_address *from, const void *bytes, size_t n);

#endif
