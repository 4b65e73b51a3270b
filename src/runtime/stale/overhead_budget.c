/* The overhead budget of serving stale values: a share of the thread's own time. */
#include "runtime/stale/shard.h"

enum {
    FREE_LOADS = 512,  /* loads at a place that each thread is served regardless of the budget */
    LONGEST = 1 << 16, /* loads skipped in a row, at most */
    SHARE = 32,        /* one cycle in so many may be spent here */
    SHARE_OF_ELEMENTS = 6,
    INTERRUPTED = 200000, /* cycles: an access that takes more was preempted */
    AWAY = 300000,        /* cycles between accesses that count as the thread's own, at most */
    AWAY_OF_ELEMENTS = 3000000
};
/* Initial budget in cycles. */
#define CREDIT ((int64_t)20000000)
#define CREDIT_OF_ELEMENTS ((int64_t)150000000)

static uint64_t cycles(void)
{
    return __builtin_ia32_rdtsc();
}

/* Every place has some free loads; further ones are charged to the time that the thread spent elsewhere. */
uint64_t dh_stale_budget_begin(struct dh_stale_thread *t, uint32_t what)
{
    uint64_t now = cycles(), share = what & DH_STALE_ELEMENT ? SHARE_OF_ELEMENTS : SHARE,
             away = what & DH_STALE_ELEMENT ? AWAY_OF_ELEMENTS : AWAY;
    int64_t most = what & DH_STALE_ELEMENT ? CREDIT_OF_ELEMENTS : CREDIT;
    if (!t->last)
        t->credit = most;
    else if (now > t->last) /* a thread that was away for long did not run */
        t->credit += (int64_t)((now - t->last < away ? now - t->last : away) / share);
    t->credit = t->credit < most ? t->credit : most;
    return now;
}

void dh_stale_budget_charge(struct dh_stale_thread *t, uint64_t began)
{
    t->last = cycles();
    uint64_t spent = t->last - began;
    t->credit -= (int64_t)(spent < INTERRUPTED ? spent : INTERRUPTED);
}

/* Chooses how many loads at the place are skipped now. */
void dh_stale_budget_skip_loads(struct dh_stale_thread *t, uint32_t place)
{
    struct dh_stale_site *at = &t->sites[place % DH_STALE_SITES];
    if (at->free_loads < FREE_LOADS || dh_stale_control->job.flags & DH_STALE_ALL) {
        at->free_loads += at->free_loads < FREE_LOADS;
        return;
    }
    if (t->credit < 0)
        at->length = at->length * 2 + 1 < LONGEST ? at->length * 2 + 1 : LONGEST;
    else
        at->length /= 2;
    __dh_thread.stale_skip[place % DH_STALE_SITES] = at->length + 1;
    dh_stale_count(&t->counts->passed, at->length);
}

/* Stores cannot be skipped. If they cost too much, fewer elements are sampled, in the end none. */
void dh_stale_budget_reduce(struct dh_stale_thread *t, uint32_t what)
{
    if (t->credit > -CREDIT / 8 || dh_stale_control->job.flags & DH_STALE_ALL)
        return;
    if (!(what & DH_STALE_ELEMENT)) {
        if (t->credit < -CREDIT)
            __atomic_store_n(&__dh_stale_over, 1, __ATOMIC_RELAXED);
        return;
    }
    t->credit = 0;
    dh_stale_sample_less();
}
