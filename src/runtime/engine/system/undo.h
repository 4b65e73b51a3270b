/* What is done to the kernel's state in a schedule, so that it can be taken back. Layer: runtime. Last done, first
 * undone. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_UNDO_H
#define DH_RUNTIME_ENGINE_SYSTEM_UNDO_H

#include "runtime/engine/engine.h"

enum dh_undo_kind {
    DH_UNDO_CLOSE,   /* a: descriptor that was opened */
    DH_UNDO_REOPEN,  /* a: descriptor that was closed or replaced, b: what it was, kept elsewhere, c: its flags */
    DH_UNDO_OFFSET,  /* a: descriptor, b: where it stood */
    DH_UNDO_UNMAP,   /* a: address, b: size */
    DH_UNDO_PROTECT, /* a: address, b: size: may be written again */
    DH_UNDO_HANDLER, /* a: signal; its action is kept in the log */
    DH_UNDO_MASK,    /* of signals */
};

bool dh_undo_init(void);
/* Without room for it the search ends, with words. */
void dh_undo_log(enum dh_undo_kind kind, long a, long b, long c);
void dh_undo_log_handler(int signal, const void *action, size_t size);
void dh_undo_all(void);

#endif
