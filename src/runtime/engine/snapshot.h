/* Copy-on-write snapshot of the program's memory before its first thread is created. Layer: runtime. Pages are
 * write-protected and copied when they are first written; every later restore copies them back (a sticky set, which is
 * soon complete). Stacks and thread-local storage of tasks are new in every schedule. */
#ifndef DH_RUNTIME_ENGINE_SNAPSHOT_H
#define DH_RUNTIME_ENGINE_SNAPSHOT_H

#include "runtime/engine/engine.h"

/* On the engine's stack; `main_sp` is main's stack pointer. */
bool dh_snapshot_take(uintptr_t main_sp);
/* A write fault: true if the page was protected by us and is writable now. */
bool dh_snapshot_fault(uintptr_t address);
/* Before the kernel writes there: true if a page was protected. */
bool dh_snapshot_unprotect(uintptr_t address, size_t size);
/* Is it in memory that restore copies back? */
bool dh_snapshot_covers(uintptr_t address);
void dh_snapshot_restore(void);
/* In a child process: everything is writable, and nothing is copied any more. */
void dh_snapshot_abandon(void);

#endif
