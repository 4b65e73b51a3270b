/* Towards two accesses at once (Shacham, Sagiv, Schuster, §3.2): a thread that is about to do a1 is held there, the
 * rest goes on without it, preferably those who come to a2; threads that a2 does not depend on stay where they are. An
 * a1 under a lock that guards every a2 seen is let go at once. By chance with restarts: which of the two sites is a1,
 * how many times it is passed before the hold, and who goes on. */
#include "search/actors.h"
#include "search/grow.h"
#include "search/strategies.h"

enum {
    LOCKS = 16,    /* of a thread, or that guard; more are not known */
    HINT_OF = 4,   /* all but one in so many go towards a2 */
    SKIPS = 8,     /* a1's passed at most, until more were seen to be there */
    GIVE_UP = 256, /* schedules without any hold that was not rejected */
    LATE_ONE_IN = 16,
};

struct locks {
    uint32_t n;
    uint64_t at[LOCKS];
};

struct thread {
    struct locks held;
    bool reaches[2]; /* was seen at the site, in any schedule */
};

struct directed {
    struct dh_search *search;
    struct dh_rng chance;
    struct thread *thread;
    uint32_t thread_room, threads;
    struct locks guard[2]; /* that were held at each access of the site */
    bool seen[2];
    uint32_t most[2]; /* times a site was come to in one schedule */
    /* this schedule */
    unsigned first; /* which site is a1 */
    uint32_t skip, times[2];
    uint32_t held;
    bool was_held;
    uint32_t in_vain; /* schedules without a hold */
    uint64_t rejected;
};

static void *start(struct dh_search *search)
{
    struct directed *d = search->memory(search, sizeof *d);
    if (!d || !search->target.set)
        return NULL;
    d->search = search;
    d->chance.state = search->seed;
    return d;
}

static bool begin(void *self)
{
    struct directed *d = self;
    d->first = dh_rng_below(&d->chance, 2);
    d->held = d->search->target.held;
    if (d->held != UINT32_MAX)
        d->first = 0;
    uint32_t most = d->most[d->first] ? d->most[d->first] : SKIPS;
    d->skip = dh_rng_below(&d->chance, 2) ? 0 : dh_rng_below(&d->chance, most);
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

/* ---- who is where ---- */

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

static void come_to(struct directed *d, unsigned site, uint32_t thread)
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

static void hold(struct directed *d, uint32_t thread)
{
    if (d->held != UINT32_MAX)
        return;
    if (d->skip) {
        d->skip--;
        return;
    }
    if (d->seen[!d->first] && have_common(&d->thread[thread].held, &d->guard[!d->first])) {
        d->rejected++;
        return;
    }
    d->held = thread;
    d->was_held = true;
}

/* Whoever has just come to a site of the target. At the beginning that may be anybody. */
static void look(struct directed *d, const struct dh_decision *m)
{
    uint32_t from = m->last < m->count ? m->last : 0, to = m->last < m->count ? from + 1 : m->count;
    for (uint32_t i = from; i < to; i++) {
        const struct dh_actor *a = &m->actors[i];
        if (a->ended || !is_access(&a->step))
            continue;
        for (unsigned site = 0; site < 2; site++)
            if (a->step.site == d->search->target.site[site]) {
                come_to(d, site, i);
                if (site == d->first)
                    hold(d, i);
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

/* Comes to a2 itself, or has what one that does waits for. */
static bool is_hinted(const struct directed *d, const struct dh_decision *m, uint32_t thread)
{
    unsigned second = !d->first;
    if (d->thread[thread].reaches[second])
        return true;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct dh_actor *a = &m->actors[i];
        if (i == thread || i == d->held || a->ended || a->enabled || !d->thread[i].reaches[second])
            continue;
        uint64_t lock = a->step.kind == DH_STEP_LOCK ? a->step.object : a->step.second;
        if (holds_lock(d, thread, lock))
            return true;
    }
    return false;
}

enum class { CLASS_NEVER, CLASS_HELD, CLASS_FROZEN, CLASS_LATE, CLASS_OTHER, CLASS_HINTED };

static enum class class_of(const struct directed *d, const struct dh_decision *m, uint32_t thread) {
    enum dh_rank rank = dh_actor_rank(&m->actors[thread]); if (rank == DH_RANK_BLOCKED) return CLASS_NEVER;
    if (thread == d->held) return CLASS_HELD;
    if (is_frozen(d, thread)) return CLASS_FROZEN;
    if (rank == DH_RANK_TIMEOUT) return CLASS_LATE;
    return rank == DH_RANK_READY && is_hinted(d, m, thread) ? CLASS_HINTED : CLASS_OTHER;
}

static enum class pick_class(struct directed *d, const uint32_t *n) {
    unsigned best = CLASS_HINTED; while (best && !n[best]) best--;
    if (n[CLASS_LATE] && best > CLASS_LATE && !dh_rng_below(&d->chance, LATE_ONE_IN)) return CLASS_LATE;
    if (best == CLASS_HINTED && n[CLASS_OTHER] && !dh_rng_below(&d->chance, HINT_OF)) return CLASS_OTHER;
    return best;
}

/* Who goes first when the held one and another are about to access the same bytes; UINT32_MAX: they are not. */
static uint32_t passing(struct directed *d, const struct dh_decision *m)
{
    if (!d->search->target.passes || d->held >= m->count)
        return UINT32_MAX;
    const struct dh_actor *held = &m->actors[d->held];
    for (uint32_t i = 0; i < m->count; i++) {
        const struct dh_actor *a = &m->actors[i];
        if (i == d->held || a->ended || !a->enabled || !is_access(&a->step) || !dh_steps_race(&a->step, &held->step))
            continue;
        uint32_t first = dh_rng_below(&d->chance, 2) ? i : d->held;
        d->held = UINT32_MAX;
        return first;
    }
    return UINT32_MAX;
}

/* Where meeting is not the end, nobody is kept from what all others wait for by spinning; one who spins, too, is not
 * let go on alone. */
static bool is_waited_for(struct directed *d, const struct dh_decision *m)
{
    if (!d->search->target.passes || d->held >= m->count || dh_actor_rank(&m->actors[d->held]) < DH_RANK_YIELDS)
        return false;
    for (uint32_t i = 0; i < m->count; i++)
        if (i != d->held && dh_actor_rank(&m->actors[i]) == DH_RANK_READY)
            return false;
    return dh_actor_rank(&m->actors[d->held]) == DH_RANK_READY || dh_rng_below(&d->chance, 2);
}

static struct dh_choice choose(void *self, const struct dh_decision *m)
{
    struct directed *d = self;
    uint32_t n[CLASS_HINTED + 1] = {0};
    if (m->depth >= d->search->depth_max || !know_threads(d, m->count))
        return dh_choose_cut();
    look(d, m);
    uint32_t first = passing(d, m);
    if (first != UINT32_MAX)
        return dh_choose_alternative(&d->chance, m, first);
    for (uint32_t i = 0; i < m->count; i++)
        n[class_of(d, m, i)]++;
    enum class which = pick_class(d, n);
    if (is_waited_for(d, m))
        which = CLASS_HELD;
    if (which == CLASS_NEVER)
        return dh_choose_cut();
    if (which == CLASS_HELD) { /* nobody else is left, or all wait for it */
        uint32_t thread = d->held;
        d->held = UINT32_MAX;
        return dh_choose_alternative(&d->chance, m, thread);
    }
    /* On towards a2 with the same thread, mostly. */
    if (m->last < m->count && class_of(d, m, m->last) == which && dh_rng_below(&d->chance, HINT_OF))
        return dh_choose_alternative(&d->chance, m, m->last);
    uint32_t left = dh_rng_below(&d->chance, n[which]);
    for (uint32_t i = 0;; i++)
        if (class_of(d, m, i) == which && !left--)
            return dh_choose_alternative(&d->chance, m, i);
}

static void done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct directed *d = self;
    (void)alternative;
    if (thread >= d->threads || step->flags & DH_STEP_FAILED)
        return;
    struct locks *held = &d->thread[thread].held;
    /* A lock for reading guards nothing for sure. */
    if (step->kind == DH_STEP_LOCK && !(step->flags & DH_STEP_SHARED))
        add_lock(held, step->object);
    else if (step->kind == DH_STEP_UNLOCK)
        remove_lock(held, step->object);
    else if (step->kind == DH_STEP_WAIT)
        remove_lock(held, step->second);
    else if (step->kind == DH_STEP_WAKE && step->second)
        add_lock(held, step->second);
}

static void end(void *self, enum dh_schedule_end how, const struct dh_decision *m)
{
    struct directed *d = self;
    (void)how, (void)m;
    d->in_vain = d->was_held ? 0 : d->in_vain + 1;
}

const struct dh_strategy dh_strategy_directed = {
    .name = "directed",
    .summary = "holds a thread at one access and leads others to the other",
    .start = start,
    .begin = begin,
    .choose = choose,
    .done = done,
    .end = end,
};
