/* Connections within the process. Layer: runtime. Internet sockets leave traces that no restore takes back (ports in
 * use, ends that linger), so in a schedule a socket that listens and those that connect to it are local ones, under a
 * name that tells which port they stand for. With kernel threads they are what they are. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SOCKET_H
#define DH_RUNTIME_ENGINE_SYSTEM_SOCKET_H

#include "runtime/engine/engine.h"

/* A socket of the snapshot that listens becomes a local one; false: it is another, or others are connected to it. */
bool dh_sockets_make_local(long fd);

/* Each does the system call of that name and answers as the kernel. */
long dh_sockets_listen(long number, const long a[6]);
long dh_sockets_connect(long number, const long a[6]);
long dh_sockets_accept(long number, const long a[6]);
long dh_sockets_getname(long number, const long a[6]);
long dh_sockets_setsockopt(long number, const long a[6]);

#endif
