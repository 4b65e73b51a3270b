/* The second way to search, for programs that do what cannot be undone: each schedule in a fresh process, with serial
 * threads on the real kernel. Layer: runtime. The process that the tool starts forks before the program's own code runs
 * and only serves; each child runs one schedule to its end. The strategy's state is in KEEP memory, which they share.
 */
#ifndef DH_RUNTIME_ENGINE_PROCESSES_FRESH_PROCESSES_H
#define DH_RUNTIME_ENGINE_PROCESSES_FRESH_PROCESSES_H

#include "runtime/engine/engine.h"

/* Is what cannot be undone done for real? Also in replays. */
static inline bool dh_fresh_processes_on(void)
{
    return dh_engine->flags & DH_ENGINE_FRESH;
}

/* Is this process, or its parent, one that serves? */
static inline bool dh_fresh_processes_search(void)
{
    return dh_fresh_processes_on() && dh_engine->control->job.mode == DH_ENGINE_EXPLORE;
}

/* When the process that is explored begins, by itself or by a fork; returns in children only. */
void dh_fresh_processes_serve(void);

#endif
