/* The program's memory as it was when the first thread was to be created. Layer: runtime. Pages are write-protected
 * and copied when they are first written; from then on they are copied back at every restore (a sticky set, which is
 * soon complete). Stacks and thread-local storage of tasks are new in every schedule. */
#ifndef DH_RUNTIME_ENGINE_SNAPSHOT_H
#define DH_RUNTIME_ENGINE_SNAPSHOT_H

#include "runtime/engine/engine.h"

/* On the engine's stack; `main_sp` is where main's stack ends now. */
bool dh_snapshot_take(uintptr_t main_sp);
/* A write to a page of ours was refused: true if it may be tried again. */
bool dh_snapshot_fault(uintptr_t address);
/* The kernel is about to write there: true if something was protected. */
bool dh_snapshot_unprotect(uintptr_t address, size_t size);
/* Is it in memory that is rolled back? */
bool dh_snapshot_covers(uintptr_t address);
void dh_snapshot_restore(void);
/* Mapped memory is the program's to give away; the snapshot keeps what it was. */
void dh_snapshot_touch_all(uintptr_t address, size_t size);

#endif
