/* Barriers: arrivals are counted in glibc's field. */
#include "runtime/engine/primitives/primitives.h"

struct barrier {
    unsigned in;
    unsigned round;
    unsigned count;
    int shared;
    unsigned out;
};

int dh_engine_pthread_barrier_wait(pthread_barrier_t *barrier)
{
    struct barrier *b = (struct barrier *)barrier;
    struct dh_step s = {.kind = DH_STEP_BARRIER,
                        .site = dh_engine_call_place(),
                        .object = (uint64_t)(uintptr_t)barrier,
                        .size = b->count};
    dh_engine_park(&s);
    if (++b->in >= b->count) {
        b->in = 0;
        dh_wait_queue_wake_all(barrier);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    dh_wait_queue_sleep(barrier, NULL, DH_STEP_SHARED);
    return 0;
}
