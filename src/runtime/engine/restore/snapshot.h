/* Copy-on-write snapshot of the program's memory before its first thread is created. Layer: runtime. Pages are
 * write-protected and copied when they are first written; every later restore copies them back (a sticky set, which is
 * soon complete). When the set is large, pages that many schedules in a row left as they were are protected again, so
 * that restoring costs what is changed. Stacks and thread-local storage of tasks are new in every schedule. */
#ifndef DH_RUNTIME_ENGINE_RESTORE_SNAPSHOT_H
#define DH_RUNTIME_ENGINE_RESTORE_SNAPSHOT_H

#include "runtime/engine/engine.h"

/* On the engine's stack; `main_sp` is main's stack pointer. */
bool dh_snapshot_take(uintptr_t main_sp);
/* A write fault: true if the page was protected by us and is writable now. */
bool dh_snapshot_fault(uintptr_t address);
/* Before the kernel writes there: true if a page was protected. */
bool dh_snapshot_unprotect(uintptr_t address, size_t size);
void dh_snapshot_restore(void);
/* In a child process: everything is writable, and nothing is copied any more. */
void dh_snapshot_abandon(void);

/* ---- mappings of the snapshot that the program changes (system/memory.c) ---- */

struct dh_snapshot_part {
    uintptr_t low, high;
    bool is_known; /* it was mapped at the snapshot, */
    bool is_blank; /* but only reserved; */
    bool shared;   /* of a file */
};
/* The range in pieces; false: `each` said so. */
bool dh_snapshot_each_part(uintptr_t low, uintptr_t high, bool (*each)(const struct dh_snapshot_part *, void *),
                           void *argument);
/* A part that is known has this protection until the schedule ends. */
void dh_snapshot_alter(uintptr_t low, uintptr_t high, int protection);
/* Its content is kept, so that it can be replaced. */
bool dh_snapshot_save(uintptr_t low, uintptr_t high);

#endif
