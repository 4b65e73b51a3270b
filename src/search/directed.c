/* Search directed at a pair of accesses (002, Shacham, Sagiv, Schuster, §3.2): a thread is held before access a1 while
 * the others run on, preferably those that reach a2; threads that a2 does not depend on stay where they are. A thread
 * is not held at an a1 under a lock that was held at every a2 seen. Random with restarts: which of the two sites is a1,
 * how many executions of a1 pass before the hold, and which thread goes on. */
#include "search/actors.h"
#include "search/grow.h"
#include "search/strategies.h"

enum {
    LOCKS = 16,    /* of a set; more are not kept */
    HINT_OF = 4,   /* one choice in so many ignores what leads to a2 */
    SKIPS = 8,     /* executions of a1 that pass at most, until it is known how many there are */
    GIVE_UP = 256, /* schedules in a row that held no thread */
    TIMEOUT_ONE_IN = 16,
};

struct locks {
    uint32_t n;
    uint64_t at[LOCKS];
};

struct thread {
    struct locks held;
    bool reaches[2]; /* came to the site in some schedule */
};

struct directed {
    struct dh_search *search;
    struct dh_rng rng;
    struct thread *thread;
    uint32_t thread_room, threads;
    struct locks guard[2]; /* lock set of each site: held at every access */
    bool seen[2];
    uint32_t most[2]; /* accesses of a site in one schedule */
    /* this schedule */
    unsigned first; /* which site is a1 */
    uint32_t skip, times[2];
    uint32_t held;
    bool was_held;
    uint32_t in_vain; /* schedules in a row without a hold */
};

static void *start(struct dh_search *search)
{
    struct directed *d = search->memory(search, sizeof *d);
    if (!d || !search->target.set)
        return NULL;
    d->search = search;
    d->rng.state = search->seed;
    return d;
}

static bool begin_schedule(void *self)
{
    struct directed *d = self;
    d->first = dh_rng_below(&d->rng, 2);
    d->held = d->search->target.held;
    if (d->held != UINT32_MAX)
        d->first = 0;
    uint32_t most = d->most[d->first] ? d->most[d->first] : SKIPS;
    d->skip = dh_rng_below(&d->rng, 2) ? 0 : dh_rng_below(&d->rng, most);
    d->times[0] = d->times[1] = 0;
    d->was_held = d->held != UINT32_MAX;
    for (uint32_t i = 0; i < d->threads; i++)
        d->thread[i].held.n = 0;
    return d->in_vain < GIVE_UP && !d->search->statistics.no_memory;
}

/* ---- locks ---- */

static void add_lock(struct locks *l, uint64_t lock)
{
    if (l->n < LOCKS)
        l->at[l->n++] = lock;
}

static void remove_lock(struct locks *l, uint64_t lock)
{
    for (uint32_t i = l->n; i-- > 0;)
        if (l->at[i] == lock) {
            l->at[i] = l->at[--l->n];
            return;
        }
}

static bool has_lock(const struct locks *l, uint64_t lock)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->at[i] == lock)
            return true;
    return false;
}

static void copy_locks(struct locks *to, const struct locks *from)
{
    to->n = from->n;
    for (uint32_t i = 0; i < from->n; i++)
        to->at[i] = from->at[i];
}

static void keep_common(struct locks *l, const struct locks *with)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++)
        if (has_lock(with, l->at[i]))
            l->at[n++] = l->at[i];
    l->n = n;
}

static bool have_common(const struct locks *a, const struct locks *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (has_lock(b, a->at[i]))
            return true;
    return false;
}

/* ---- threads at the sites ---- */

static bool know_threads(struct directed *d, uint32_t n)
{
    if (n <= d->threads)
        return true;
    if (!DH_SEARCH_GROW(d->search, d, thread, d->threads, n))
        return false;
    d->threads = n;
    return true;
}

static bool is_access(const struct dh_step *s)
{
    return s->kind >= DH_STEP_READ && s->kind <= DH_STEP_COPY;
}

static void count_access(struct directed *d, unsigned site, uint32_t thread)
{
    struct thread *t = &d->thread[thread];
    t->reaches[site] = true;
    if (!d->seen[site])
        copy_locks(&d->guard[site], &t->held);
    else
        keep_common(&d->guard[site], &t->held);
    d->seen[site] = true;
    if (++d->times[site] > d->most[site])
        d->most[site] = d->times[site];
}

static void hold_thread(struct directed *d, uint32_t thread)
{
    if (d->held != UINT32_MAX)
        return;
    if (d->skip) {
        d->skip--;
        return;
    }
    if (d->seen[!d->first] && have_common(&d->thread[thread].held, &d->guard[!d->first]))
        return;
    d->held = thread;
    d->was_held = true;
}

/* The thread of the last step may have come to a site of the target; at the beginning, any thread may have. */
static void observe(struct directed *d, const struct dh_decision *now)
{
    uint32_t from = now->last < now->count ? now->last : 0, to = now->last < now->count ? from + 1 : now->count;
    for (uint32_t i = from; i < to; i++) {
        const struct dh_actor *a = &now->actors[i];
        if (a->ended || !is_access(&a->step))
            continue;
        for (unsigned site = 0; site < 2; site++)
            if (a->step.site == d->search->target.site[site]) {
                count_access(d, site, i);
                if (site == d->first)
                    hold_thread(d, i);
            }
    }
}

/* ---- choosing ---- */

static bool is_frozen(const struct directed *d, uint32_t thread)
{
    return thread < 64 && d->search->target.frozen >> thread & 1;
}

static bool holds_lock(const struct directed *d, uint32_t thread, uint64_t lock)
{
    return has_lock(&d->thread[thread].held, lock);
}

/* A thread that reaches a2, or that holds a lock which one that reaches it waits for. */
static bool is_hinted(const struct directed *d, const struct dh_decision *now, uint32_t thread)
{
    unsigned second = !d->first;
    if (d->thread[thread].reaches[second])
        return true;
    for (uint32_t i = 0; i < now->count; i++) {
        const struct dh_actor *a = &now->actors[i];
        if (i == thread || i == d->held || a->ended || a->enabled || !d->thread[i].reaches[second])
            continue;
        uint64_t lock = a->step.kind == DH_STEP_LOCK ? a->step.object : a->step.second;
        if (holds_lock(d, thread, lock))
            return true;
    }
    return false;
}

enum preference { PREFER_NEVER, PREFER_HELD, PREFER_FROZEN, PREFER_TIMEOUT, PREFER_OTHER, PREFER_HINTED };

static enum preference preference_of(const struct directed *d, const struct dh_decision *now, uint32_t thread)
{
    enum dh_rank rank = dh_actor_rank(&now->actors[thread]);
    if (rank == DH_RANK_BLOCKED)
        return PREFER_NEVER;
    if (thread == d->held)
        return PREFER_HELD;
    if (is_frozen(d, thread))
        return PREFER_FROZEN;
    if (rank == DH_RANK_TIMEOUT)
        return PREFER_TIMEOUT;
    return rank == DH_RANK_READY && is_hinted(d, now, thread) ? PREFER_HINTED : PREFER_OTHER;
}

static enum preference draw_preference(struct directed *d, const uint32_t *n)
{
    unsigned best = PREFER_HINTED;
    while (best && !n[best])
        best--;
    if (n[PREFER_TIMEOUT] && best > PREFER_TIMEOUT && !dh_rng_below(&d->rng, TIMEOUT_ONE_IN))
        return PREFER_TIMEOUT;
    if (best == PREFER_HINTED && n[PREFER_OTHER] && !dh_rng_below(&d->rng, HINT_OF))
        return PREFER_OTHER;
    return best;
}

/* When the held thread's access races with a pending one: which of the two goes first. UINT32_MAX: there is none. */
static uint32_t choose_first(struct directed *d, const struct dh_decision *now)
{
    if (!d->search->target.passes || d->held >= now->count)
        return UINT32_MAX;
    const struct dh_actor *held = &now->actors[d->held];
    for (uint32_t i = 0; i < now->count; i++) {
        const struct dh_actor *a = &now->actors[i];
        if (i == d->held || a->ended || !a->enabled || !is_access(&a->step) || !dh_steps_race(&a->step, &held->step))
            continue;
        uint32_t first = dh_rng_below(&d->rng, 2) ? i : d->held;
        d->held = UINT32_MAX;
        return first;
    }
    return UINT32_MAX;
}

/* Where the search goes on after both are pending: the held thread is released when all others spin. If it spins, too,
 * only now and then. */
static bool is_waited_for(struct directed *d, const struct dh_decision *now)
{
    if (!d->search->target.passes || d->held >= now->count || dh_actor_rank(&now->actors[d->held]) < DH_RANK_YIELDS)
        return false;
    for (uint32_t i = 0; i < now->count; i++)
        if (i != d->held && dh_actor_rank(&now->actors[i]) == DH_RANK_READY)
            return false;
    return dh_actor_rank(&now->actors[d->held]) == DH_RANK_READY || dh_rng_below(&d->rng, 2);
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct directed *d = self;
    uint32_t n[PREFER_HINTED + 1] = {0};
    if (now->depth >= d->search->depth_max || !know_threads(d, now->count))
        return dh_choose_cut();
    observe(d, now);
    uint32_t first = choose_first(d, now);
    if (first != UINT32_MAX)
        return dh_choose_alternative(&d->rng, now, first);
    for (uint32_t i = 0; i < now->count; i++)
        n[preference_of(d, now, i)]++;
    enum preference which = draw_preference(d, n);
    if (is_waited_for(d, now))
        which = PREFER_HELD;
    if (which == PREFER_NEVER)
        return dh_choose_cut();
    if (which == PREFER_HELD) { /* no other thread is left, or all wait for it */
        uint32_t thread = d->held;
        d->held = UINT32_MAX;
        return dh_choose_alternative(&d->rng, now, thread);
    }
    /* On towards a2 with the same thread, mostly. */
    if (now->last < now->count && preference_of(d, now, now->last) == which && dh_rng_below(&d->rng, HINT_OF))
        return dh_choose_alternative(&d->rng, now, now->last);
    uint32_t left = dh_rng_below(&d->rng, n[which]);
    for (uint32_t i = 0;; i++)
        if (preference_of(d, now, i) == which && !left--)
            return dh_choose_alternative(&d->rng, now, i);
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct directed *d = self;
    (void)alternative;
    if (thread >= d->threads || step->flags & DH_STEP_FAILED)
        return;
    struct locks *held = &d->thread[thread].held;
    /* A shared lock does not exclude the other access. */
    if (step->kind == DH_STEP_LOCK && !(step->flags & DH_STEP_SHARED))
        add_lock(held, step->object);
    else if (step->kind == DH_STEP_UNLOCK)
        remove_lock(held, step->object);
    else if (step->kind == DH_STEP_WAIT)
        remove_lock(held, step->second);
    else if (step->kind == DH_STEP_WAKE && step->second)
        add_lock(held, step->second);
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    struct directed *d = self;
    (void)how, (void)now;
    d->in_vain = d->was_held ? 0 : d->in_vain + 1;
}

const struct dh_strategy dh_strategy_directed = {
    .name = "directed",
    .summary = "holds a thread at one access and leads others to the other",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
};
