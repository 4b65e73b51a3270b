/* System calls on descriptors of any kind: on those that are modelled (description.h) they are visible steps, others
 * are the file layer's. Layer: runtime. Each function makes the system call of its row and returns what the kernel
 * would. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_DESCRIPTOR_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_DESCRIPTOR_H

#include "runtime/engine/system/descriptors/description.h"

/* read, readv, recvfrom, recvmsg; write, writev, sendto, sendmsg. */
long dh_descriptor_read(long number, const long a[6]);
long dh_descriptor_write(long number, const long a[6]);
long dh_descriptor_close(long number, const long a[6]);
long dh_descriptor_dup(long number, const long a[6]);
long dh_descriptor_fcntl(long number, const long a[6]);
long dh_descriptor_ioctl(long number, const long a[6]);
/* close_range; splice, tee, vmsplice, sendfile where an end is a model. */
long dh_descriptor_close_range(long number, const long a[6]);
long dh_descriptor_splice(long number, const long a[6]);

/* Moves bytes between the caller and a descriptor that is modelled, waiting as it must. */
long dh_descriptor_move(long fd, struct dh_transfer *t, bool writes);
/* Copies between the pieces of a transfer, from byte `at` on, and memory. */
void dh_transfer_give(const struct dh_transfer *t, size_t at, const void *from, size_t n);
void dh_transfer_take(const struct dh_transfer *t, size_t at, void *to, size_t n);

#endif
