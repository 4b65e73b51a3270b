/* Processes that tasks fork: each runs for real, in a copy of the process as it is then, until it ends or waits for
 * something of ours; channels that it shares with us are bridged to real ones (child_bridges.h). Layer: runtime. Which
 * of the children that have ended a wait gets is the step's alternative. Their ids are virtual: the same in every run.
 */
#ifndef DH_RUNTIME_ENGINE_PROCESSES_CHILDREN_H
#define DH_RUNTIME_ENGINE_PROCESSES_CHILDREN_H

#include "runtime/engine/engine.h"
#include "runtime/engine/processes/child_bridges.h"

#include <signal.h>

enum { DH_CHILDREN = 64 };

struct dh_forked_table {
    struct dh_forked {
        long pid, id;
        int status;
        bool ended, reaped;
        bool is_reported;      /* SIGCHLD was sent for it, */
        bool is_known;         /* and taken: who asks finds that it ended */
        bool waits_for_signal; /* it sleeps until it gets one */
        uint8_t misses;        /* times that who asked found it running although it has ended */
        struct dh_child_bridges bridges;
    } at[DH_CHILDREN];
    unsigned n;
};

bool dh_children_init(void);
/* Of this schedule. */
struct dh_forked_table *dh_forked_table(void);
/* By its virtual id; NULL: there is none, or it was waited for. */
struct dh_forked *dh_forked_find(long id);
/* fork, vfork, clone and clone3 of a process: answers in both. In the child, `stack` gets the stack it goes on with, or
 * 0: the same. Threads are refused. */
long dh_children_fork(long number, const long a[6], long *stack);
/* kill: false: not for a child of ours. */
bool dh_children_kill(long pid, long signal, long *result);
/* We wrote to the pipe or socket, or closed an end: children that have it go on. */
void dh_children_channel_changed(const void *channel);
/* At the end of a call: SIGCHLD for those that ended. A step. */
void dh_children_report(void);
/* What SIGCHLD and waitid say of it. */
siginfo_t dh_children_end_of(const struct dh_forked *c);
/* Somebody took SIGCHLD. */
void dh_children_signal_taken(void);
/* At the end of a schedule: none is left. */
void dh_children_end(void);
/* At the beginning of one in a fresh process: those of another were not ours. */
void dh_children_forget(void);

/* ---- child_waits.c ---- */

/* wait4 and waitid: false: not for a child of ours. */
bool dh_children_wait(long number, const long a[6], long *result);
long dh_pidfd_open(long number, const long a[6]);
long dh_pidfd_send_signal(long number, const long a[6]);

#endif
