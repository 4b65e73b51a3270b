/* The models of descriptors, one a file, and what taking over open ones needs of them. Layer: runtime. Functions with
 * the arguments of a system call are rows of syscalls.def. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_MODELS_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_MODELS_H

#include "runtime/engine/system/descriptors/description.h"

/* ---- pipe.c ---- */
long dh_pipe_make(long number, const long a[6]);
struct dh_pipe *dh_pipe_new(size_t capacity);
/* The end `fd` of it, at the snapshot. */
void dh_pipe_take_over(struct dh_pipe *p, long fd, bool writes, unsigned flags);
void dh_pipe_fill(struct dh_pipe *p, const void *from, size_t n);
/* NULL: it is no pipe. */
struct dh_pipe *dh_pipe_of(const struct dh_description *d, bool *writes);
/* Ends that child processes have (children.h); ours are the others. */
void dh_pipe_share(struct dh_pipe *p, int readers, int writers);
bool dh_pipe_own_readers(const struct dh_pipe *p);
bool dh_pipe_own_writers(const struct dh_pipe *p);
/* The first bytes, which stay until they are dropped; answers how many. */
size_t dh_pipe_peek(const struct dh_pipe *p, void *to, size_t n);
void dh_pipe_drop(struct dh_pipe *p, size_t n);

/* ---- eventfd.c ---- */
long dh_eventfd_make(long number, const long a[6]);
void dh_eventfd_take_over(long fd, uint64_t count, bool semaphore, unsigned flags);

/* ---- timerfd.c ---- */
long dh_timerfd_make(long number, const long a[6]);
long dh_timerfd_set(long number, const long a[6]);
long dh_timerfd_get(long number, const long a[6]);
void dh_timerfd_take_over(long fd, int clock, uint64_t left_ns, uint64_t interval_ns, unsigned flags);

/* ---- epoll.c ---- */
long dh_epoll_make(long number, const long a[6]);
long dh_epoll_control(long number, const long a[6]);
long dh_epoll_await(long number, const long a[6]);
struct dh_description *dh_epoll_take_over(long fd, unsigned flags);
void dh_epoll_add(struct dh_description *set, long fd, uint32_t events, uint64_t data);
/* The last number of the description was closed: no set watches it any more. */
void dh_epoll_forget(const struct dh_description *d);

/* ---- outside.c: descriptors whose other end is not in this process ---- */
/* What is read is there at the snapshot, or never. */
void dh_outside_take_over(long fd, const char *name, unsigned flags);
/* Before a call that reads or writes there: in a fresh process it is made for real. Else input is refused. */
void dh_outside_before_input(struct dh_description *d);
void dh_outside_before_output(struct dh_description *d);
/* In a fresh process: something that can be read came from outside. */
bool dh_outside_await(uint64_t limit_ns);

#endif
