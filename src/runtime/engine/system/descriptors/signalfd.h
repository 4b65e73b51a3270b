/* Descriptors that signals are read from (signalfd). Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_SIGNALFD_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_SIGNALFD_H

#include <stdint.h>

/* signalfd, signalfd4 */
long dh_signalfd(long number, const long a[6]);
/* At the snapshot: an open one is modelled from now on. */
void dh_signalfd_take_over(long fd, uint64_t set, unsigned flags);
/* A signal became pending. */
void dh_signalfd_raised(int signal);

#endif
