/* Channels that a child process shares with us: a real pipe or socket pair stands for each in the child, and bytes are
 * carried between it and the model. Layer: runtime. A child has what it inherited until it ends, or until the real one
 * says otherwise. */
#ifndef DH_RUNTIME_ENGINE_PROCESSES_CHILD_BRIDGES_H
#define DH_RUNTIME_ENGINE_PROCESSES_CHILD_BRIDGES_H

#include "runtime/engine/engine.h"

struct dh_pipe;
struct dh_socket;

enum { DH_BRIDGES = 32 };

/* Zero-initialise. In KEEP memory. */
struct dh_child_bridges {
    int executes[2]; /* a pipe whose writing end the child has until it executes a program; -1: closed */
    unsigned n;
    struct dh_bridge {
        struct dh_pipe *pipe;         /* NULL: a pair of sockets, */
        struct dh_socket *sockets[2]; /* that are each other's peers */
        int ends[2];                  /* the real ones: of a pipe those to read and to write; -1: closed */
        bool has[2];                  /* the child does, */
        bool until_exec[2];           /* unless it executes a program */
    } at[DH_BRIDGES];
};

/* Before the fork: for every channel that is open. */
void dh_bridges_make(struct dh_child_bridges *b);
/* Afterwards, in the parent: which of the real ends it keeps. */
void dh_bridges_keep_own(struct dh_child_bridges *b);
/* In the child, which may share this memory with us: the real ones take the numbers of the models. */
void dh_bridges_use(const struct dh_child_bridges *b);
/* There, too: its copies of the real ends are closed, but for `executes` if they are its own. */
void dh_bridges_close_in_child(const struct dh_child_bridges *b, bool own);
/* The real ends are closed, and nothing else is done. */
void dh_bridges_close(struct dh_child_bridges *b);
/* Carries what can be carried; true: something was. */
bool dh_bridges_move(struct dh_child_bridges *b);
/* We could still send something to the child. */
bool dh_bridges_lead_to_child(const struct dh_child_bridges *b);
/* The child has ended. */
void dh_bridges_end(struct dh_child_bridges *b);
/* Does one of them concern it: a pipe or a socket? */
bool dh_bridges_concern(const struct dh_child_bridges *b, const void *channel);

#endif
