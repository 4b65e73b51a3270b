/* Processes that tasks fork: each runs for real, in a copy of the process as it is then, until it ends or waits for
 * input of ours; pipes that it shares with us are bridged to real ones. Layer: runtime. Which of the children that have
 * ended a wait gets is the step's alternative. Their ids are virtual: the same in every run. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_CHILDREN_H
#define DH_RUNTIME_ENGINE_SYSTEM_CHILDREN_H

#include "runtime/engine/engine.h"

struct dh_pipe;

bool dh_children_init(void);
/* fork, vfork, clone and clone3 of a process: answers in both. In the child, `stack` gets the stack it goes on with, or
 * 0: the same. Threads are refused. */
long dh_children_fork(long number, const long a[6], long *stack);
/* wait4 and waitid: false: not for a child of ours. */
bool dh_children_wait(long number, const long a[6], long *result);
/* kill: false: not for a child of ours. */
bool dh_children_kill(long pid, long signal, long *result);
/* We wrote to the pipe, or closed an end: children that read from it go on. */
void dh_children_pipe_changed(struct dh_pipe *p);
/* At the end of a schedule: none is left. */
void dh_children_end(void);

#endif
