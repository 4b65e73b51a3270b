/* Taking over what is open at the snapshot. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_TAKE_OVER_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_TAKE_OVER_H

#include "runtime/engine/system/descriptors/description.h"

void dh_take_over_descriptors(void);

/* ---- take_over_socket.c: a socket by itself, then those that are connected with each other ---- */
void dh_take_over_socket(long fd);
void dh_take_over_connections(char *scratch, size_t room);

#endif
