/* The undo log: changes of kernel state in a schedule, undone in reverse order after it. Layer: runtime. In KEEP
 * memory. */
#ifndef DH_RUNTIME_ENGINE_RESTORE_UNDO_H
#define DH_RUNTIME_ENGINE_RESTORE_UNDO_H

#include "runtime/engine/engine.h"

enum dh_undo_kind {
    DH_UNDO_CLOSE,   /* a: descriptor that was opened */
    DH_UNDO_REOPEN,  /* a: descriptor that was closed or replaced, b: its duplicate, c: its flags */
    DH_UNDO_UNMAP,   /* a: address, b: size */
    DH_UNDO_BLANK,   /* a: address, b: size, to be reserved only */
    DH_UNDO_REPLACE, /* a: address, b: size, to be memory whose content is restored */
    DH_UNDO_CONTENT, /* a: slot of file_content.h */
    DH_UNDO_SHARED,  /* a: address, b: size of shared memory, c: its content */
};

bool dh_undo_init(void);
/* With coroutines only: others end with their process. A full log ends the search. */
void dh_undo_log(enum dh_undo_kind kind, long a, long b, long c);
void dh_undo_all(void);
/* What was done so far stays: schedules begin here. */
void dh_undo_begin(void);

#endif
