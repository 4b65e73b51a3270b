/* How a function stands before libc's. Layer: runtime. Weak, so that a program's own function of that name comes
 * first; and under the name that a sanitizer linked beside us leaves open for it, should its own weak one win. */
#ifndef DH_RUNTIME_INTERPOSE_INTERPOSE_H
#define DH_RUNTIME_INTERPOSE_INTERPOSE_H

#include "runtime/core/start.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/interpose/real.h"
#include "runtime/sync/sync.h"

/* `dh_interposed_NAME`, defined before, is what programs and libraries reach as NAME. */
#define DH_INTERPOSE(name)                                                                                             \
    extern __typeof__(dh_interposed_##name) __interceptor_##name                                                       \
        __attribute__((alias("dh_interposed_" #name), visibility("default")));                                         \
    extern __typeof__(name) name __attribute__((weak, alias("dh_interposed_" #name), visibility("default")))

/* First in every interposed function: from then on the real ones are known. The process need not have started: before
 * that nothing is observed, and a sanitizer beside us may be in the middle of its own beginning. */
static inline void dh_interpose_ready(void)
{
    if (__builtin_expect(!dh_real_known, 0))
        dh_real_init();
}

/* ---- calls that may wait ---- */

/* Around a call in which the thread may be blocked, cancelled, or leave by longjmp out of a signal handler: whichever
 * way it goes, `undo` runs when the call does not return. Not for calls that run code of the program's. */
struct dh_wait {
    struct _pthread_cleanup_buffer cleanup;
    void (*undo)(void *);
    void *argument;
};

void dh_wait_begin(struct dh_wait *w, void (*undo)(void *), void *argument);
void dh_wait_end(struct dh_wait *w);
/* For a signal handler that comes while the thread waits: it is awake while the handler runs. */
bool dh_wait_interrupted(void);
void dh_wait_resumed(bool interrupted);

#define DH_WAIT(call)                                                                                                  \
    ({                                                                                                                 \
        struct dh_wait wait_;                                                                                          \
        dh_wait_begin(&wait_, NULL, NULL);                                                                             \
        __auto_type answer_ = call;                                                                                    \
        dh_wait_end(&wait_);                                                                                           \
        answer_;                                                                                                       \
    })

/* The same for a wait for a semaphore, barrier or thread, which is reported; parameters as of dh_sync_block. */
#define DH_WAIT_FOR(object, class, flags, watched, call_slot, call)                                                    \
    ({                                                                                                                 \
        dh_sync_block(object, class, flags, watched, call_slot);                                                       \
        __auto_type waited_ = DH_WAIT(call);                                                                           \
        dh_sync_unblock(object, class, call_slot);                                                                     \
        waited_;                                                                                                       \
    })

#endif
