/* A point in time at which a pass ends with what it has. Layer: analysis. One thread. */
#ifndef DH_ANALYSIS_TIME_LIMIT_H
#define DH_ANALYSIS_TIME_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct dh_time_limit {
    uint64_t at_ns; /* CLOCK_MONOTONIC; 0: never */
    uint32_t asked;
    bool was_over; /* since it was set */
};

static inline uint64_t dh_time_limit_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void dh_time_limit_set(struct dh_time_limit *l, uint64_t at_ns)
{
    *l = (struct dh_time_limit){.at_ns = at_ns};
}

/* `l` may be NULL. Looks at the clock every so often only: for inner loops. */
static inline bool dh_time_limit_over(struct dh_time_limit *l)
{
    enum { EVERY = 64 };
    if (!l || !l->at_ns || l->was_over)
        return l && l->was_over;
    if (l->asked++ % EVERY == 0)
        l->was_over = dh_time_limit_now() >= l->at_ns;
    return l->was_over;
}

#endif
