/* Which process of a run is explored: the first one, or a child that the job names. Layer: runtime. Every process
 * enters itself in the control region; its identity is the same in every run: of a forked one whose child it is and
 * which of its children, of one that executed a program which program with which words, and for the how manieth time.
 */
#ifndef DH_RUNTIME_ENGINE_PROCESSES_RELATIVES_H
#define DH_RUNTIME_ENGINE_PROCESSES_RELATIVES_H

#include <stdbool.h>

/* The process starts to execute a program. */
void dh_relatives_start(void);
/* In a forked child. */
void dh_relatives_forked(void);
/* Before its first thread. */
void dh_relatives_make_threads(void);
/* This process is the one. */
bool dh_relatives_is_followed(void);
/* The search begins: processes that wait for this one stop, so that none ends it because it takes long. */
void dh_relatives_begin(void);

#endif
