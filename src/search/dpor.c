/* Source-DPOR with sleep sets (Abdulla, Aronsson, Jonsson, Sagonas: Source Sets, JACM 2017): one schedule at least for
 * each happens-before class, few for most. What is ours: steps that wait (a lock, a semaphore, a join) race with what
 * they competed with, not with what let them go (trace.c looks through that); what threads would have done when a
 * schedule ended counts as if it came next; a step that ends the program depends on everything; a thread goes on in all
 * its alternatives before it is done with. Clocks and sets of the common beginning of schedules are kept.
 *
 * Shards: at the first few nodes with a choice everybody is tried who does not sleep, and which of the paths below the
 * last of them are ours is decided by their hash. What others try sleeps from then on as if we had tried it. */
#include "search/actors.h"
#include "search/fair.h"
#include "search/grow.h"
#include "search/strategies.h"
#include "search/trace.h"

/* The state before event `i` of the trace is node i. */
struct node {
    uint32_t sets;  /* where in `words` */
    uint32_t words; /* of each set */
    uint32_t thread, alternative, alternatives;
    uint32_t branches; /* of shards: how many nodes with a choice there were, this one included */
    bool branch;       /* this is one */
    uint64_t path;     /* what was chosen at those before */
};

enum set {
    SET_ALLOWED,   /* could be chosen */
    SET_BACKTRACK, /* must be, or was */
    SET_SLEEP,     /* need not be any more: what they can do is known from elsewhere */
    SETS
};

enum { PATHS_EACH = 2 }; /* at least two to the power of that for each shard, less one */

struct dpor {
    struct dh_search *search;
    struct dh_trace trace;
    struct node *node;
    uint32_t node_room, nodes;
    uint64_t *words;
    uint32_t words_room, words_used;
    uint32_t *first; /* by thread: time of its first event among those that do not need the racing one */
    uint32_t first_room;
    struct dh_fair fair;
    uint32_t at; /* steps of this schedule so far */
    bool begun, cut, broken;
    bool redundant;  /* all who could go on sleep */
    uint32_t levels; /* nodes with a choice that are for shards */
};

static void *start(struct dh_search *search)
{
    struct dpor *d = search->memory(search, sizeof *d);
    if (!d || !dh_trace_init(&d->trace, search))
        return NULL;
    d->search = search;
    for (uint32_t n = search->shards; n > 1; n = (n + 1) / 2)
        d->levels += d->levels ? 1 : PATHS_EACH;
    return d;
}

/* ---- sets ---- */

static uint64_t *set_of(const struct dpor *d, const struct node *n, enum set which)
{
    return d->words + n->sets + which * n->words;
}

static bool has(const struct dpor *d, const struct node *n, enum set which, uint32_t thread)
{
    return thread / 64 < n->words && set_of(d, n, which)[thread / 64] >> thread % 64 & 1;
}

static void add(struct dpor *d, const struct node *n, enum set which, uint32_t thread)
{
    set_of(d, n, which)[thread / 64] |= (uint64_t)1 << thread % 64;
}

static bool is_covered(const struct dpor *d, const struct node *n, uint32_t thread)
{
    return has(d, n, SET_BACKTRACK, thread) || has(d, n, SET_SLEEP, thread);
}

/* ---- races ---- */

/* Somebody who can begin what the racing thread could do before event `index`: of what its step needs, and does not
 * need that event, the first in its thread, with nothing of what comes before it needed. (The paper takes all that does
 * not need the event. But where the program may end early, schedules without the rest are schedules of their own.) */
struct initial {
    uint32_t thread;
    bool covered;
};

static void clear_first(struct dpor *d)
{
    for (uint32_t i = 0; i < d->trace.threads; i++)
        d->first[i] = 0;
}

static bool needs_any(const struct dpor *d, const uint32_t *clock, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (d->first[i] && clock[i] >= d->first[i])
            return true;
    return false;
}

static void consider(const struct dpor *d, const struct node *n, uint32_t thread, struct initial *found)
{
    if (is_covered(d, n, thread))
        found->covered = true;
    else if (has(d, n, SET_ALLOWED, thread))
        found->thread = thread;
}

/* `end`: events before it; then the step of `thread`, whose clock is trace.after. */
static struct initial find_initial(struct dpor *d, uint32_t index, uint32_t end, uint32_t thread)
{
    const struct dh_trace *t = &d->trace;
    const struct node *n = &d->node[index];
    struct initial found = {.thread = UINT32_MAX};
    clear_first(d);
    for (uint32_t i = index + 1; i < end && !found.covered; i++) {
        const struct dh_trace_event *e = &t->event[i];
        if (dh_trace_before(t, &t->event[index], e) || d->first[e->thread] || t->after[e->thread] < e->time)
            continue;
        if (!needs_any(d, t->clocks + e->clock, e->width))
            consider(d, n, e->thread, &found);
        d->first[e->thread] = e->time;
    }
    if (!found.covered && !d->first[thread] && !needs_any(d, t->after, t->threads))
        consider(d, n, thread, &found);
    return found;
}

static bool nothing_left(const struct dpor *d, const struct node *n)
{
    for (uint32_t i = 0; i < n->words; i++)
        if (set_of(d, n, SET_ALLOWED)[i] & ~(set_of(d, n, SET_BACKTRACK)[i] | set_of(d, n, SET_SLEEP)[i]))
            return false;
    return true;
}

/* The races the trace has just found, of the step of `thread` that comes after the first `end` events. */
static void reverse_races(struct dpor *d, uint32_t end, uint32_t thread)
{
    if (!DH_SEARCH_GROW(d->search, d, first, 0, d->trace.threads))
        return;
    for (uint32_t i = 0; i < d->trace.races; i++) {
        uint32_t index = d->trace.race[i];
        const struct node *n = &d->node[index];
        if (nothing_left(d, n))
            continue;
        struct initial found = find_initial(d, index, end, thread);
        if (!found.covered && found.thread != UINT32_MAX)
            add(d, n, SET_BACKTRACK, found.thread);
    }
}

/* ---- shards ---- */

static uint64_t path_with(uint64_t path, uint32_t thread)
{
    path = (path ^ (thread + 1)) * 0x9e3779b97f4a7c15u;
    return path ^ path >> 29;
}

static void set_branch(struct dpor *d, struct node *n)
{
    const struct node *parent = d->nodes > 1 ? n - 1 : NULL;
    n->branches = parent ? parent->branches : 0;
    n->path = parent ? parent->branch ? path_with(parent->path, parent->thread) : parent->path : 0;
    if (n->branches >= d->levels)
        return;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->words; i++)
        for (uint64_t left = set_of(d, n, SET_ALLOWED)[i] & ~set_of(d, n, SET_SLEEP)[i]; left; left &= left - 1)
            count++;
    if (count < 2)
        return;
    n->branch = true;
    n->branches++;
    for (uint32_t i = 0; i < n->words; i++)
        set_of(d, n, SET_BACKTRACK)[i] |= set_of(d, n, SET_ALLOWED)[i] & ~set_of(d, n, SET_SLEEP)[i];
}

static bool is_ours(const struct dpor *d, const struct node *n, uint32_t thread)
{
    if (!n->branch || n->branches < d->levels)
        return true;
    return path_with(n->path, thread) % d->search->shards == d->search->shard;
}

/* ---- schedules ---- */

static bool take_next(struct dpor *d, struct node *n)
{
    for (uint32_t i = 0; i < n->words; i++)
        for (uint64_t left; (left = set_of(d, n, SET_BACKTRACK)[i] & ~set_of(d, n, SET_SLEEP)[i]);) {
            n->thread = i * 64 + (uint32_t)__builtin_ctzll(left);
            n->alternative = UINT32_MAX; /* which ones there are is seen when we come there */
            if (is_ours(d, n, n->thread))
                return true;
            add(d, n, SET_SLEEP, n->thread);
        }
    return false;
}

/* The next thing to try at the last node where there is any; false: nowhere. */
static bool advance(struct dpor *d)
{
    while (d->nodes) {
        struct node *n = &d->node[d->nodes - 1];
        dh_trace_cut(&d->trace, d->nodes - 1);
        if (++n->alternative < n->alternatives)
            return true;
        add(d, n, SET_SLEEP, n->thread);
        if (take_next(d, n))
            return true;
        d->words_used = n->sets;
        d->nodes--;
    }
    return false;
}

static bool begin(void *self)
{
    struct dpor *d = self;
    bool more = !d->broken && (!d->begun || advance(d));
    d->begun = true;
    d->at = 0;
    d->cut = d->redundant = false;
    dh_fair_begin(&d->fair);
    return more;
}

/* Threads that sleep do so until something happens that matters to them. */
static bool still_sleeps(const struct dpor *d, const struct dh_decision *m, uint32_t thread)
{
    const struct node *parent = &d->node[d->at - 1];
    const struct dh_trace_event *e = &d->trace.event[d->at - 1];
    return has(d, parent, SET_SLEEP, thread) && thread != e->thread &&
           !dh_steps_depend(&e->step, &m->actors[thread].step);
}

static bool new_node(struct dpor *d, const struct dh_decision *m)
{
    uint32_t words = (m->count + 63) / 64;
    if (!DH_SEARCH_GROW(d->search, d, node, d->nodes, d->nodes + 1) ||
        !DH_SEARCH_GROW(d->search, d, words, d->words_used, d->words_used + SETS * words))
        return false;
    struct node *n = &d->node[d->nodes];
    *n = (struct node){.sets = d->words_used, .words = words, .thread = UINT32_MAX};
    d->words_used += SETS * words;
    for (uint32_t i = 0; i < SETS * words; i++)
        d->words[n->sets + i] = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->actors[i].ended)
            continue;
        if (d->at && still_sleeps(d, m, i))
            add(d, n, SET_SLEEP, i);
        if (dh_actor_rank(&m->actors[i]) == DH_RANK_BLOCKED)
            continue;
        if (dh_fair_is_blocked(&d->fair, m, i))
            d->search->statistics.unfair++;
        else
            add(d, n, SET_ALLOWED, i);
    }
    d->nodes++;
    set_branch(d, n);
    return true;
}

/* Whoever moved last, or the first one, but somebody who gives way only if there is nobody else. */
static uint32_t prefer(const struct dpor *d, const struct node *n, const struct dh_decision *m)
{
    uint32_t best = UINT32_MAX, rank = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (!has(d, n, SET_ALLOWED, i) || has(d, n, SET_SLEEP, i))
            continue;
        uint32_t r = 2 * dh_actor_rank(&m->actors[i]) + (i == m->last);
        if (r > rank) {
            rank = r;
            best = i;
        }
    }
    return best;
}

static void set_thread(struct node *n, const struct dh_actor *a, uint32_t thread)
{
    n->thread = thread;
    n->alternative = dh_actor_first(a);
    n->alternatives = dh_actor_end(a);
}

static struct dh_choice give_up(struct dpor *d, uint64_t *why)
{
    d->cut = true;
    ++*why;
    return dh_choose_cut();
}

static bool cannot(const struct dh_decision *m, const struct node *n)
{
    if (n->thread >= m->count || dh_actor_rank(&m->actors[n->thread]) == DH_RANK_BLOCKED)
        return true;
    const struct dh_actor *a = &m->actors[n->thread];
    return n->alternative ? n->alternative >= a->alternatives : !a->enabled;
}

static struct dh_choice choose(void *self, const struct dh_decision *m)
{
    struct dpor *d = self;
    struct dh_search_statistics *s = &d->search->statistics;
    if (!dh_fair_observe(&d->fair, d->search, m))
        d->broken = d->cut = true;
    if (d->cut)
        return dh_choose_cut();
    if (d->at == d->nodes) {
        if (d->at >= d->search->depth_max) {
            s->bounded++;
            return dh_choose_cut();
        }
        if (!new_node(d, m)) {
            d->broken = d->cut = true;
            return dh_choose_cut();
        }
        struct node *n = &d->node[d->at];
        uint32_t thread = prefer(d, n, m);
        if (thread != UINT32_MAX && !is_ours(d, n, thread)) {
            add(d, n, SET_SLEEP, thread);
            thread = take_next(d, n) ? n->thread : UINT32_MAX;
        }
        if (thread == UINT32_MAX) {
            d->words_used = n->sets;
            d->nodes--;
            d->redundant = true;
            return give_up(d, &s->redundant);
        }
        set_thread(n, &m->actors[thread], thread);
        add(d, n, SET_BACKTRACK, thread);
    }
    struct node *n = &d->node[d->at];
    if (n->alternative == UINT32_MAX && n->thread < m->count)
        set_thread(n, &m->actors[n->thread], n->thread);
    if (cannot(m, n))
        return give_up(d, &s->diverged);
    return (struct dh_choice){n->thread, n->alternative};
}

static bool same(const struct dh_step *a, const struct dh_step *b)
{
    return a->kind == b->kind && a->flags == b->flags && a->site == b->site;
}

static void done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct dpor *d = self;
    uint32_t index = d->at++;
    if (d->cut)
        return;
    if (index < d->trace.n) {
        if (!same(&d->trace.event[index].step, step)) {
            d->cut = true;
            d->search->statistics.diverged++;
        }
        return;
    }
    if (!dh_trace_add(&d->trace, thread, alternative, step)) {
        d->broken = d->cut = true;
        return;
    }
    reverse_races(d, index, thread);
}

/* The last step ended the program: whatever others could have done instead must still be seen. That step sleeps then,
 * until somebody does what matters to it. */
static void go_on_without(struct dpor *d)
{
    const struct node *n = &d->node[d->trace.n - 1];
    for (uint32_t i = 0; i < n->words; i++) {
        uint64_t left = set_of(d, n, SET_ALLOWED)[i] & ~set_of(d, n, SET_SLEEP)[i];
        if (n->thread / 64 == i)
            left &= ~((uint64_t)1 << n->thread % 64);
        if (left & set_of(d, n, SET_BACKTRACK)[i])
            return;
        if (left) {
            add(d, n, SET_BACKTRACK, i * 64 + (uint32_t)__builtin_ctzll(left));
            return;
        }
    }
}

/* Did the program end while others were not done, and not by a step that says so? */
static bool ended_early(const struct dpor *d, enum dh_schedule_end how, const struct dh_decision *m)
{
    if (how != DH_END_DONE || !m || d->trace.event[d->trace.n - 1].step.kind == DH_STEP_EXIT)
        return how == DH_END_FAILED;
    for (uint32_t i = 0; i < m->count; i++)
        if (i != m->last && !m->actors[i].ended)
            return true;
    return false;
}

static void end(void *self, enum dh_schedule_end how, const struct dh_decision *m)
{
    struct dpor *d = self;
    if ((d->cut && !d->redundant) || !d->trace.n || d->at != d->trace.n)
        return;
    bool early = ended_early(d, how, m);
    if (early) {
        go_on_without(d);
        dh_trace_cut(&d->trace, d->trace.n - 1); /* nothing comes after it */
    }
    /* Also those who wait, while all others sleep, competed with somebody for what they wait for. */
    for (uint32_t i = 0; m && i < m->count; i++)
        if (!m->actors[i].ended && !(early && i == m->last) && !(d->redundant && dh_actor_rank(&m->actors[i])) &&
            dh_trace_races(&d->trace, i, &m->actors[i].step))
            reverse_races(d, d->trace.n, i);
}

const struct dh_strategy dh_strategy_dpor = {
    .name = "dpor",
    .summary = "every happens-before class once, by dynamic partial order reduction",
    .start = start,
    .begin = begin,
    .choose = choose,
    .done = done,
    .end = end,
    .is_systematic = true,
};
