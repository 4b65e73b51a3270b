/* Active testing (Sen, PLDI 2008, RaceFuzzer; delays that become rare as in TSVD, Li et al., SOSP 2019): a thread that
 * comes to an access which may race is postponed there, while the others go on until one of them comes to a conflicting
 * access, or nobody else can. Plain accesses are steps only where a race is looked for, so that every pair of them is
 * looked for at once, many in one schedule: for programs of which a schedule takes long. Random: which executions of a
 * site pass before a thread is postponed there. Sites where it is always in vain are left alone more and more. */
#include "search/actors.h"
#include "search/grow.h"
#include "search/strategies.h"

enum {
    SITES = 1 << 12,   /* of the table; others are never postponed at */
    SWITCH_ONE_IN = 8, /* else the thread that goes on does so */
    TIMEOUT_ONE_IN = 16,
    VAIN_FREE = 6, /* so often in vain a site is as good as a new one */
    VAIN_MOST = 96,
    STEPS_MOST = 4096, /* of others, while a thread is postponed */
    IN_SCHEDULE = 8,   /* times that a site is postponed at in one schedule */
    NOBODY = UINT32_MAX,
};

/* An access of the program. */
struct site {
    uint32_t number;   /* plus 1; 0: free */
    uint32_t most;     /* executions in one schedule */
    uint32_t vain;     /* how often nobody came; halved when somebody does */
    uint32_t schedule; /* that the following belong to */
    uint32_t times, next, postponed;
};

struct thread {
    struct site *at; /* where it is postponed, or NULL */
    uint32_t since;  /* which decision */
};

struct active {
    struct dh_search *search;
    struct dh_rng rng;
    struct thread *thread;
    uint32_t thread_room, threads;
    uint32_t schedule, last;
    uint32_t n_sites;
    struct site sites[SITES];
};

static void *start(struct dh_search *search)
{
    struct active *a = search->memory(search, sizeof *a);
    if (!a)
        return NULL;
    a->search = search;
    a->rng.state = search->seed;
    return a;
}

static bool begin_schedule(void *self)
{
    struct active *a = self;
    a->schedule++;
    a->last = NOBODY;
    for (uint32_t i = 0; i < a->threads; i++)
        a->thread[i].at = NULL;
    return !a->search->statistics.no_memory;
}

/* ---- sites ---- */

/* NULL: there is no room. */
static struct site *site_at(struct active *a, uint32_t number)
{
    uint32_t i = (uint32_t)((number + 1) * 0x9e3779b97f4a7c15u >> 52);
    while (a->sites[i].number && a->sites[i].number != number + 1)
        i = (i + 1) % SITES;
    if (a->sites[i].number)
        return &a->sites[i];
    if (a->n_sites >= SITES / 2)
        return NULL;
    a->n_sites++;
    a->sites[i].number = number + 1;
    return &a->sites[i];
}

/* How many executions pass before the next: often none, else any number of those there are. */
static uint32_t draw_next(struct active *a, const struct site *s)
{
    return dh_rng_below(&a->rng, 2) ? 0 : dh_rng_below(&a->rng, s->most + 1);
}

static void enter_schedule(struct active *a, struct site *s)
{
    if (s->schedule == a->schedule)
        return;
    s->schedule = a->schedule;
    s->times = s->postponed = 0;
    s->next = draw_next(a, s);
}

static bool is_worth_it(struct active *a, const struct site *s)
{
    return s->vain <= VAIN_FREE || !dh_rng_below(&a->rng, s->vain - VAIN_FREE + 1);
}

static bool may_race(const struct dh_step *s)
{
    return s->kind >= DH_STEP_READ && s->kind <= DH_STEP_COPY && !(s->flags & DH_STEP_ATOMIC);
}

/* Does the thread wait at this execution of the access? */
static bool wants_to_postpone(struct active *a, struct site *s)
{
    enter_schedule(a, s);
    if (++s->times > s->most)
        s->most = s->times;
    if (s->times <= s->next || s->postponed >= IN_SCHEDULE)
        return false;
    s->next = s->times + draw_next(a, s);
    if (!is_worth_it(a, s))
        return false;
    s->postponed++;
    return true;
}

/* ---- threads ---- */

static bool know_threads(struct active *a, uint32_t n)
{
    if (n <= a->threads)
        return true;
    if (!DH_SEARCH_GROW(a->search, a, thread, a->threads, n))
        return false;
    for (; a->threads < n; a->threads++)
        a->thread[a->threads].at = NULL;
    return true;
}

static void release(struct active *a, uint32_t thread, bool in_vain)
{
    struct site *s = a->thread[thread].at;
    a->thread[thread].at = NULL;
    if (!s)
        return;
    if (in_vain && s->vain < VAIN_MOST)
        s->vain++;
    else if (!in_vain)
        s->vain /= 2;
}

/* A postponed thread whose access races with that of `thread`, which has come to it just now. */
static uint32_t met_by(const struct active *a, const struct dh_decision *now, uint32_t thread)
{
    const struct dh_step *s = &now->actors[thread].step;
    for (uint32_t i = 0; i < now->count; i++)
        if (i != thread && !now->actors[i].ended && a->thread[i].at && dh_steps_race(s, &now->actors[i].step))
            return i;
    return NOBODY;
}

/* Both are pending, which the driver has recorded: they go on, one of them at once. */
static uint32_t choose_first(struct active *a, uint32_t came, uint32_t postponed)
{
    release(a, postponed, false);
    release(a, came, false);
    return dh_rng_below(&a->rng, 2) ? came : postponed;
}

/* What the thread of the last step comes to now: the thread to go on with, or NOBODY. */
static uint32_t observe(struct active *a, const struct dh_decision *now)
{
    uint32_t thread = now->last;
    if (thread >= now->count || now->actors[thread].ended || !may_race(&now->actors[thread].step))
        return NOBODY;
    uint32_t other = met_by(a, now, thread);
    if (other != NOBODY)
        return choose_first(a, thread, other);
    struct site *s = site_at(a, now->actors[thread].step.site);
    if (s && wants_to_postpone(a, s))
        a->thread[thread] = (struct thread){s, now->depth};
    return NOBODY;
}

static void release_late(struct active *a, const struct dh_decision *now)
{
    for (uint32_t i = 0; i < now->count; i++)
        if (a->thread[i].at && now->depth - a->thread[i].since > STEPS_MOST)
            release(a, i, true);
}

/* ---- choosing ---- */

static enum dh_rank rank_of(const struct active *a, const struct dh_decision *now, uint32_t thread)
{
    return a->thread[thread].at ? DH_RANK_BLOCKED : dh_actor_rank(&now->actors[thread]);
}

static uint32_t draw_of_rank(struct active *a, const struct dh_decision *now, enum dh_rank rank, uint32_t n)
{
    uint32_t left = dh_rng_below(&a->rng, n);
    for (uint32_t i = 0;; i++)
        if (rank_of(a, now, i) == rank && !left--)
            return i;
}

/* Nobody else can go on. */
static uint32_t release_one(struct active *a, const struct dh_decision *now)
{
    uint32_t n = 0, chosen = NOBODY;
    for (uint32_t i = 0; i < now->count; i++)
        if (a->thread[i].at && !dh_rng_below(&a->rng, ++n))
            chosen = i;
    if (chosen != NOBODY)
        release(a, chosen, true);
    return chosen;
}

/* Those that only yield may wait for a postponed one: they go on with it by turns. */
static uint32_t next_thread(struct active *a, const struct dh_decision *now)
{
    uint32_t n[DH_RANK_READY + 1] = {0};
    for (uint32_t i = 0; i < now->count; i++)
        n[rank_of(a, now, i)]++;
    if (n[DH_RANK_TIMEOUT] && !dh_rng_below(&a->rng, TIMEOUT_ONE_IN))
        return draw_of_rank(a, now, DH_RANK_TIMEOUT, n[DH_RANK_TIMEOUT]);
    if (n[DH_RANK_READY]) {
        bool stays = a->last < now->count && rank_of(a, now, a->last) == DH_RANK_READY;
        if (stays && dh_rng_below(&a->rng, SWITCH_ONE_IN))
            return a->last;
        return draw_of_rank(a, now, DH_RANK_READY, n[DH_RANK_READY]);
    }
    uint32_t released = n[DH_RANK_YIELDS] && dh_rng_below(&a->rng, 2) ? NOBODY : release_one(a, now);
    if (released != NOBODY)
        return released;
    enum dh_rank rank = n[DH_RANK_YIELDS] ? DH_RANK_YIELDS : DH_RANK_TIMEOUT;
    return n[rank] ? draw_of_rank(a, now, rank, n[rank]) : NOBODY;
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct active *a = self;
    if (now->depth >= a->search->depth_max || !know_threads(a, now->count))
        return dh_choose_cut();
    uint32_t thread = observe(a, now);
    if (thread != NOBODY && dh_actor_rank(&now->actors[thread]) == DH_RANK_BLOCKED)
        thread = NOBODY;
    release_late(a, now);
    if (thread == NOBODY)
        thread = next_thread(a, now);
    a->last = thread;
    return thread == NOBODY ? dh_choose_cut() : dh_choose_alternative(&a->rng, now, thread);
}

static void done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    (void)self, (void)thread, (void)alternative, (void)step;
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    (void)self, (void)how, (void)now;
}

const struct dh_strategy dh_strategy_active = {
    .name = "active",
    .summary = "postpones threads at accesses that may race until another comes",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = done,
    .end = end_schedule,
};
