/* System calls on sockets: connections within the process. Layer: runtime. Internet sockets leave state that cannot be
 * undone (ports in use, TIME_WAIT), so in a schedule listeners and connections to them are replaced by Unix sockets
 * whose name holds the port. Serial threads use the real ones. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SOCKET_H
#define DH_RUNTIME_ENGINE_SYSTEM_SOCKET_H

#include "runtime/engine/engine.h"

/* Replaces a listening socket of the snapshot by a Unix socket; false: not a listener, or already in use. */
bool dh_sockets_make_local(long fd);

/* Each makes the system call of that name and returns what the kernel would. */
long dh_sockets_listen(long number, const long a[6]);
long dh_sockets_connect(long number, const long a[6]);
long dh_sockets_accept(long number, const long a[6]);
long dh_sockets_getname(long number, const long a[6]);
long dh_sockets_setsockopt(long number, const long a[6]);

#endif
