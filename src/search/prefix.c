/* The lock set before each step of a recorded run, and which accesses may race. */
#include "search/prefix_internal.h"

enum { SHARED_BIT = 1 }; /* locks are aligned */

/* Locks of a thread, while the run is read. More are dropped, which makes more candidates, not fewer. */
enum { LOCKS_MOST = 64 };
struct lock_set {
    uint32_t set, n; /* in `locks` */
};

/* A copy with one lock more or less; steps refer to the old one. */
static bool change_lock_set(struct dh_prefix *p, struct lock_set *l, uint64_t lock, bool add)
{
    uint32_t n = 0, from = l->set;
    bool removed = add;
    if (!DH_SEARCH_GROW(p->search, p, locks, p->locks_used, p->locks_used + l->n + 1))
        return false;
    uint64_t *to = p->locks + p->locks_used;
    for (uint32_t i = l->n; i-- > 0;) {
        uint64_t held = p->locks[from + i];
        if (!removed && (held & ~(uint64_t)SHARED_BIT) == lock)
            removed = true;
        else
            to[n++] = held;
    }
    if (add && n < LOCKS_MOST)
        to[n++] = lock;
    l->set = p->locks_used;
    l->n = n;
    p->locks_used += n;
    return true;
}

static bool apply_locks(struct dh_prefix *p, struct lock_set *l, const struct dh_step *s)
{
    if (s->flags & DH_STEP_FAILED)
        return true;
    switch (s->kind) {
    case DH_STEP_LOCK:
        return change_lock_set(p, l, s->object | (s->flags & DH_STEP_SHARED ? SHARED_BIT : 0), true);
    case DH_STEP_UNLOCK:
        return change_lock_set(p, l, s->object, false);
    case DH_STEP_WAIT:
        return !s->second || change_lock_set(p, l, s->second, false);
    case DH_STEP_WAKE:
        return !s->second || change_lock_set(p, l, s->second, true);
    default:
        return true;
    }
}

static bool read_locks(struct dh_prefix *p)
{
    struct lock_set *sets = p->search->memory(p->search, (p->run.threads + 1) * sizeof *sets);
    p->held = p->search->memory(p->search, (p->run.n + 1) * sizeof *p->held);
    if (!sets || !p->held)
        return false;
    for (uint32_t i = 0; i < p->run.n; i++) {
        const struct dh_recorded_step *r = &p->run.step[i];
        if (r->thread >= p->run.threads)
            return false;
        p->held[i] = (struct dh_prefix_held){sets[r->thread].set, sets[r->thread].n};
        if (!apply_locks(p, &sets[r->thread], &r->step))
            return false;
    }
    return true;
}

struct dh_prefix *dh_prefix_new(struct dh_search *search, const struct dh_recorded_run *run)
{
    struct dh_prefix *p = search->memory(search, sizeof *p);
    if (!p)
        return NULL;
    p->search = search;
    p->run = *run;
    return read_locks(p) ? p : NULL;
}

/* Shared holders of a lock do not exclude each other. */
static bool share_lock(const struct dh_prefix *p, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < p->held[a].n; i++)
        for (uint32_t j = 0; j < p->held[b].n; j++) {
            uint64_t one = p->locks[p->held[a].set + i], other = p->locks[p->held[b].set + j];
            if ((one ^ other) >> 1 == 0 && !(one & other & SHARED_BIT))
                return true;
        }
    return false;
}

static bool may_race(const struct dh_prefix *p, uint32_t a, uint32_t b)
{
    return p->run.step[a].thread != p->run.step[b].thread &&
           dh_steps_race(&p->run.step[a].step, &p->run.step[b].step) && !share_lock(p, a, b);
}

bool dh_prefix_find(const struct dh_prefix *p, uint32_t warned, uint32_t number, struct dh_prefix_pair *pair)
{
    for (uint32_t i = warned; i-- > 0;)
        if (may_race(p, i, warned) && !number--) {
            *pair = (struct dh_prefix_pair){i, warned};
            return true;
        }
    for (uint32_t i = warned + 1; i < p->run.n; i++)
        if (may_race(p, i, warned) && !number--) {
            *pair = (struct dh_prefix_pair){warned, i};
            return true;
        }
    return false;
}
