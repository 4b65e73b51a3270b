/* The routine of pthread_once, left by pthread_exit or a cancellation: both unwind the stack up to what is registered
 * here. They do so in programs of C as well, which have no personality for it. Compiled without -fexceptions, with
 * which <pthread.h> offers another way. */
#include "runtime/interpose/primitives/once_attempt.h"

void dh_once_attempt(struct dh_once_attempt *a)
{
    if (__sigsetjmp_cancel(a->exit.__cancel_jmp_buf, 0)) {
        a->awaits_exit = false;
        a->end(a);
        __pthread_unwind_next(&a->exit);
    }
    __pthread_register_cancel(&a->exit);
    a->awaits_exit = true;
    a->routine();
    dh_once_forget_exit(a);
}

void dh_once_forget_exit(struct dh_once_attempt *a)
{
    if (a->awaits_exit)
        __pthread_unregister_cancel(&a->exit);
    a->awaits_exit = false;
}
