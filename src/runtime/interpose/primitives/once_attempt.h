/* One call of a routine that runs once, left by its end, an exception, pthread_exit or a cancellation. */
#ifndef DH_RUNTIME_INTERPOSE_PRIMITIVES_ONCE_ATTEMPT_H
#define DH_RUNTIME_INTERPOSE_PRIMITIVES_ONCE_ATTEMPT_H

#include <pthread.h>
#include <stdbool.h>

struct dh_once_attempt {
    const void *flag;
    void (*routine)(void);
    void (*end)(struct dh_once_attempt *a);
    __pthread_unwind_buf_t exit;
    bool awaits_exit, ended;
};

/* Calls the routine; `end` is called where pthread_exit or a cancellation leaves it. */
void dh_once_attempt(struct dh_once_attempt *a);

/* Where an exception leaves the routine, the thread's exit no longer comes by here. */
void dh_once_forget_exit(struct dh_once_attempt *a);

#endif
