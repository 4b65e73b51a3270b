/* The deadlock watcher: reports a deadlock that happens instead of hanging. Layer: runtime. On by the option
 * detect=deadlock; does nothing otherwise. An observer of synchronisation (sync/observers.def): it learns which
 * locks a thread holds and what it waits for, if only another thread of this process can end that wait: no time limit,
 * no object that other processes share. Any thread, signal handlers, after fork. */
#ifndef DH_RUNTIME_DEADLOCK_DEADLOCK_H
#define DH_RUNTIME_DEADLOCK_DEADLOCK_H

#include <stdbool.h>

extern bool dh_deadlock_on;

/* Before the program confines itself (seccomp): waits are not watched any more. */
void dh_deadlock_stop(void);
#endif
