/* Open file descriptions that are modelled in memory: pipes, sockets, eventfds, timers, epoll sets. Layer: runtime.
 * ROLLBACK state, in one region that is mapped before the snapshot, so that restoring memory restores them. Each number
 * that refers to one is held in the kernel by a placeholder: which number is free, and what is closed on exec, is the
 * kernel's. Files and folders are none: dh_description_of answers NULL, and the file layer serves them. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_DESCRIPTION_H
#define DH_RUNTIME_ENGINE_SYSTEM_DESCRIPTORS_DESCRIPTION_H

#include "runtime/engine/engine.h"

#include <sys/socket.h>
#include <sys/uio.h>

/* What a call wants to move, and where. */
struct dh_transfer {
    const struct iovec *pieces;
    size_t n;               /* of them */
    size_t size, done;      /* bytes of all, and how many were moved before */
    int flags;              /* MSG_* */
    struct msghdr *message; /* of calls on sockets: names, and what comes beside the bytes; or NULL */
};

#define DH_NEVER UINT64_MAX

struct dh_description;
struct dh_description_ops {
    const char *name; /* that refusals say */
    /* As the kernel: bytes moved, or negative errno; -EAGAIN: would block. NULL: refused. */
    long (*read)(struct dh_description *d, const struct dh_transfer *t);
    long (*write)(struct dh_description *d, const struct dh_transfer *t);
    /* Events as poll has them, POLLOUT if `size` bytes could be written. Asked at every decision: no system calls. */
    uint32_t (*poll)(const struct dh_description *d, size_t size);
    /* Virtual time at which it becomes readable by itself; DH_NEVER: it does not. May be NULL. */
    uint64_t (*due)(const struct dh_description *d);
    /* Could somebody outside the process make it ready? May be NULL: nobody could. */
    bool (*waits_for_outside)(const struct dh_description *d);
    /* The last number was closed. */
    void (*release)(struct dh_description *d);
    /* ioctl. NULL: -ENOTTY. */
    long (*control)(struct dh_description *d, unsigned long request, long argument);
    bool outside; /* its other end is not in this process */
};

struct dh_description {
    const struct dh_description_ops *ops;
    uint32_t references;
    uint32_t flags;           /* as F_GETFL */
    const void *object;       /* for io_step.h: what its calls work on; ends of one channel have the same */
    void *state;              /* of the model */
    uint32_t inputs, outputs; /* times that it became readable or writable anew, for edge-triggered sets */
    uint64_t receive_timeout_ns, send_timeout_ns;
};

bool dh_descriptions_init(void);
/* At the snapshot: what is open is taken over. */
void dh_descriptions_begin(void);

/* NULL: the number is closed, or refers to no model. */
struct dh_description *dh_description_of(long fd);
/* A new number for a new description, `object` being its own address; negative errno. */
long dh_description_open(const struct dh_description_ops *ops, void *state, unsigned flags, bool close_on_exec,
                         struct dh_description **out);
/* Another number, or `at` if that is not negative, which is closed before. */
long dh_description_duplicate(long fd, long at, long least, bool close_on_exec);
/* The number is closed; false: it was none of a model. The kernel's part is the caller's. */
bool dh_description_forget(long fd);
/* The number is closed, the kernel's, too. */
long dh_description_close(long fd);
/* The number refers to this one: at the snapshot. */
struct dh_description *dh_description_take_over(long fd, const struct dh_description_ops *ops, void *state,
                                                unsigned flags);
void dh_description_refer(long fd, struct dh_description *d);
void dh_description_keep(struct dh_description *d);
void dh_description_drop(struct dh_description *d);

/* ROLLBACK memory of models, zeroed, of at most DH_MODEL_BLOCK bytes; ends the search when there is no more. */
enum { DH_MODEL_BLOCK = 4096 };
void *dh_model_alloc(size_t size);
void dh_model_free(void *at, size_t size);

static inline bool dh_description_waits_for_outside(const struct dh_description *d)
{
    return d && d->ops->waits_for_outside && d->ops->waits_for_outside(d);
}
/* When it becomes readable by itself. */
static inline uint64_t dh_description_due(const struct dh_description *d)
{
    return d && d->ops->due ? d->ops->due(d) : DH_NEVER;
}
/* Something may be read, or written, that could not be before. */
static inline void dh_description_input(struct dh_description *d)
{
    d->inputs++;
}
static inline void dh_description_output(struct dh_description *d)
{
    d->outputs++;
}

#endif
