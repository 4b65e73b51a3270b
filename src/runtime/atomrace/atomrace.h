/* AtomRace in the checked program: what the rest of the runtime tells it. Layer: runtime. Any thread, signal handlers,
 * after fork. Cheap and without effect while neither AtomRace nor noise was asked for. */
#ifndef DH_RUNTIME_ATOMRACE_ATOMRACE_H
#define DH_RUNTIME_ATOMRACE_ATOMRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dh_passing { DH_PASS_LOCK, DH_PASS_UNLOCK, DH_PASS_OTHER };

extern bool dh_atom_listens; /* AtomRace or noise */

void dh_atom_thread_ends(void);
/* At the end of the process, if it is to say so: what was counted. */
void dh_atom_finish(void);
/* The source says that accesses there may race. */
void dh_atom_intended(uintptr_t addr, size_t size);
/* What the calling thread does is not looked at; nests. */
void dh_atom_ignore(int by);

/* A signal handler begins in the calling thread. */
void dh_atom_interrupted(void);

/* The calling thread synchronises. Only while dh_atom_listens. */
void dh_atom_passed(enum dh_passing how);

#endif
