/* Timers: libc's own. Under the engine one with a function is created by it, since libc would make threads past it;
 * and before the first thread none is so short that whether it expired by then differs from run to run. */
#include "runtime/interpose/interpose.h"

#include <sys/time.h>

static bool is_before_threads(void)
{
    return dh_engine && !dh_engine_on;
}

static int dh_interposed_timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict out)
{
    dh_interpose_ready();
    if (__builtin_expect(dh_engine != NULL, 0) && event && event->sigev_notify == SIGEV_THREAD)
        return dh_engine_timer_create_thread(clock, event, out);
    return dh_real.timer_create(clock, event, out);
}
DH_INTERPOSE(timer_create);

static int dh_interposed_timer_settime(timer_t timer, int flags, const struct itimerspec *restrict value,
                                       struct itimerspec *restrict old)
{
    dh_interpose_ready();
    struct itimerspec longer;
    if (__builtin_expect(is_before_threads(), 0) && value && !(flags & TIMER_ABSTIME) && !value->it_value.tv_sec &&
        value->it_value.tv_nsec) {
        longer = *value;
        longer.it_value = (struct timespec){1, 0};
        value = &longer;
    }
    return dh_real.timer_settime(timer, flags, value, old);
}
DH_INTERPOSE(timer_settime);

static int dh_interposed_setitimer(__itimer_which_t which, const struct itimerval *restrict value,
                                   struct itimerval *restrict old)
{
    dh_interpose_ready();
    struct itimerval longer;
    if (__builtin_expect(is_before_threads(), 0) && value && !value->it_value.tv_sec && value->it_value.tv_usec) {
        longer = *value;
        longer.it_value = (struct timeval){1, 0};
        value = &longer;
    }
    return dh_real.setitimer(which, value, old);
}
DH_INTERPOSE(setitimer);
