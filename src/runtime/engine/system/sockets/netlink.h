/* Netlink sockets that ask which interfaces, addresses and routes the machine has, as getaddrinfo and getifaddrs do.
 * Layer: runtime. The kernel is asked for real, which changes nothing, and its answers are datagrams of the model. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SOCKETS_NETLINK_H
#define DH_RUNTIME_ENGINE_SYSTEM_SOCKETS_NETLINK_H

#include "runtime/engine/system/sockets/socket_internal.h"

bool dh_netlink_is_modelled(int type, int protocol);
/* The address that bind, or the first request, gives it. */
void dh_netlink_name(struct dh_socket *s);
/* A request is sent: its answers arrive at once. Anything but a question is refused. */
long dh_netlink_ask(struct dh_socket *s, const struct dh_transfer *t);
/* ioctl on any socket that asks about an interface; -ENOTTY: it does not. */
long dh_netlink_ask_interface(unsigned long request, long argument);

#endif
