/* AtomRace (001) in the checked program: its interface for the rest of the runtime. Layer: runtime. Any thread, signal
 * handlers, after fork. Cheap and without effect while neither AtomRace nor noise is on. */
#ifndef DH_RUNTIME_ATOMRACE_ATOMRACE_H
#define DH_RUNTIME_ATOMRACE_ATOMRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dh_atom_sync { DH_ATOM_SYNC_ACQUIRE, DH_ATOM_SYNC_RELEASE, DH_ATOM_SYNC_OTHER };

extern bool dh_atom_enabled; /* AtomRace or noise is on */

void dh_atom_thread_ends(void);
/* At the end of the process, if asked for: prints the counters. */
/* The source declares races there benign. */
void dh_atom_add_benign(uintptr_t addr, size_t size);
/* Accesses of the calling thread are ignored; nests. */
void dh_atom_ignore(int by);

/* A signal handler begins in the calling thread. */
void dh_atom_interrupted(void);

/* The calling thread synchronises. Only while dh_atom_enabled. */
void dh_atom_synchronised(enum dh_atom_sync how);

#endif
