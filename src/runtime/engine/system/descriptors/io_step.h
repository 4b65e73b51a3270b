/* Input and output as visible steps: what a call on a descriptor or a file touches, for the dependence relation of
 * search/step.c, and when a call that blocks can go on. Layer: runtime. Every such call is a step, in a search and in a
 * replay alike, so that both make the same decisions. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_IO_STEP_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_IO_STEP_H

#include "runtime/engine/engine.h"

struct dh_io {
    const void *object; /* that it works on: a description, an inode, a name space; any unique number but 0 */
    int fd;             /* descriptor that it names, or -1 */
    /* DH_STEP_READS: what others released by WRITES happened before; DH_STEP_SHARED: the object stays as it is. */
    uint16_t flags;
    uint8_t touch;                        /* enum dh_io_touch */
    dh_engine_alternatives *alternatives; /* NULL: it never blocks */
    int64_t timeout_ns;                   /* with alternatives: 0 or less: none */
    bool never_restarts;                  /* a handler ends it even with SA_RESTART */
    /* Virtual time at which what it waits for comes by itself; NULL: it does not. */
    uint64_t (*due)(const struct dh_task *t);
    bool (*outside)(const struct dh_task *t); /* somebody outside could end the wait; NULL: no */
    struct dh_description *on;                /* that it blocks at, io_args[0] being the number; NULL: several */
};

/* Waits until the strategy chooses the call; false: virtual time passed, to the timeout or to what is due before it.
 * Whatever was looked up before must be looked up again. */
bool dh_io_step(const struct dh_io *io);
/* For `alternatives`: those of a call which is ready, or not and may be interrupted, cancelled, or see time pass. */
uint32_t dh_io_alternatives(const struct dh_task *t, bool ready, uint64_t due);
/* After dh_io_step answered false: the call's own time is over. */
bool dh_io_timed_out(void);
/* What others did before they wrote there happened before what the caller does now. */
void dh_io_acquire(const void *object);
/* What the caller did so far happened before what others do after they acquire it. */
void dh_io_release(const void *object);
/* The number of what tasks block at is closed: who already was in the kernel goes on there, and nothing wakes it. */
void dh_io_hold(long fd, struct dh_description *d);
/* For `alternatives`: the number was closed, and the call was in the kernel already (1), or not (0). */
enum { DH_IO_CLOSED = 3 };
/* After dh_io_step: true if the number was closed; then `held` is what the call goes on at, or NULL. */
bool dh_io_was_closed(struct dh_description *d, struct dh_description **held);
/* It was woken without being ready: cancelled, which does not return, or interrupted by a signal. */
bool dh_io_was_interrupted(void);
/* The step opened, or closed, this number. */
void dh_io_executed_on(int fd);
/* The step changed nothing (EAGAIN, EBADF). */
void dh_io_failed(void);

/* A call that never blocks and changes the object, or only looks at it. */
static inline void dh_io_step_on(const void *object, int fd, bool changes)
{
    struct dh_io io = {.object = object,
                       .fd = fd,
                       .flags = changes ? DH_STEP_READS | DH_STEP_WRITES : DH_STEP_READS | DH_STEP_SHARED,
                       .touch = changes ? DH_IO_CHANGES : 0};
    dh_io_step(&io);
}
/* A call that opens, duplicates or closes a number; -1: the lowest free one. */
static inline void dh_io_step_numbers(const void *object, int fd)
{
    struct dh_io io = {
        .object = object, .fd = fd, .flags = DH_STEP_READS | DH_STEP_WRITES, .touch = DH_IO_NUMBERS | DH_IO_CHANGES};
    dh_io_step(&io);
}

#endif
