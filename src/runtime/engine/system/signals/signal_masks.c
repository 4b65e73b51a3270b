/* Waits for events with a signal mask of their own: ppoll, pselect, epoll_pwait. */
#include "runtime/engine/system/descriptors/event.h"
#include "runtime/engine/system/descriptors/for_real.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/signals/signal_calls.h"

typedef long perform(long number, const long a[6]);
struct call {
    perform *modelled, *real;
    long number;
    const long *a;
};

static long make(void *call)
{
    const struct call *c = call;
    return (dh_engine->flags & DH_ENGINE_FOR_REAL ? c->real : c->modelled)(c->number, c->a);
}

static long masked(long mask, struct call c)
{
    uint64_t set;
    if (mask)
        set = *(const uint64_t *)mask;
    return dh_signals_with_mask(mask ? &set : NULL, make, &c);
}

long dh_masked_poll(long number, const long a[6])
{
    return masked(a[3], (struct call){dh_event_poll, dh_for_real_poll, number, a});
}

/* The last argument points to a mask and its size. */
long dh_masked_select(long number, const long a[6])
{
    return masked(a[5] ? *(const long *)a[5] : 0, (struct call){dh_event_select, dh_for_real_select, number, a});
}

/* The kernel's own mask stays as it is. */
long dh_masked_epoll(long number, const long a[6])
{
    const long unmasked[6] = {a[0], a[1], a[2], a[3], 0, 0};
    return masked(a[4], (struct call){dh_epoll_await, dh_for_real_epoll, number, unmasked});
}
