/* Source-DPOR with sleep sets (Abdulla, Aronsson, Jonsson, Sagonas: Source Sets, JACM 2017): one schedule at least for
 * each happens-before class, few for most. What is ours: steps that wait (a lock, a semaphore, a join) race with what
 * they competed with, not with what enabled them (trace.c finds it); steps pending at the end of a schedule count as if
 * they came next; a step that ends the program depends on everything; all alternatives of a thread are explored before
 * it sleeps. Clocks and sets of the common prefix of schedules are kept.
 *
 * Shards: at the first few nodes with a choice all threads that do not sleep are explored, and the hash of the path
 * decides which of the subtrees below the last of them are this shard's. Those of others sleep as if explored. */
#include "base/hash.h"
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
    uint32_t branches; /* of shards: nodes with a choice so far, this one included */
    bool branch;       /* this is one */
    uint64_t path;     /* hash of the choices at those before */
};

enum set {
    SET_ENABLED,
    SET_BACKTRACK, /* to be explored, or explored */
    SET_SLEEP,     /* explored from an earlier node, with nothing dependent since */
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
    bool redundant;  /* all enabled threads sleep */
    uint32_t levels; /* nodes with a choice that shards divide */
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

static void add_to_set(struct dpor *d, const struct node *n, enum set which, uint32_t thread)
{
    set_of(d, n, which)[thread / 64] |= (uint64_t)1 << thread % 64;
}

static bool is_covered(const struct dpor *d, const struct node *n, uint32_t thread)
{
    return has(d, n, SET_BACKTRACK, thread) || has(d, n, SET_SLEEP, thread);
}

/* ---- races ---- */

/* An initial of the reversed race at event `index` (the paper's I(notdep(e, E).p)): the first event of a thread among
 * those that the racing step depends on and that do not depend on the event, with nothing before it that it depends on.
 * (The paper takes all that does not depend on the event. But where the program may end early, schedules without the
 * rest are schedules of their own.) */
struct initial {
    uint32_t thread;
    bool covered;
};

static void clear_first(struct dpor *d)
{
    for (uint32_t i = 0; i < d->trace.threads; i++)
        d->first[i] = 0;
}

static bool depends_on_any(const struct dpor *d, const uint32_t *clock, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++)
        if (d->first[i] && clock[i] >= d->first[i])
            return true;
    return false;
}

static void try_initial(const struct dpor *d, const struct node *n, uint32_t thread, struct initial *found)
{
    if (is_covered(d, n, thread))
        found->covered = true;
    else if (has(d, n, SET_ENABLED, thread))
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
        if (!depends_on_any(d, t->clocks + e->clock, e->width))
            try_initial(d, n, e->thread, &found);
        d->first[e->thread] = e->time;
    }
    if (!found.covered && !d->first[thread] && !depends_on_any(d, t->after, t->threads))
        try_initial(d, n, thread, &found);
    return found;
}

static bool is_explored(const struct dpor *d, const struct node *n)
{
    for (uint32_t i = 0; i < n->words; i++)
        if (set_of(d, n, SET_ENABLED)[i] & ~(set_of(d, n, SET_BACKTRACK)[i] | set_of(d, n, SET_SLEEP)[i]))
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
        if (is_explored(d, n))
            continue;
        struct initial found = find_initial(d, index, end, thread);
        if (!found.covered && found.thread != UINT32_MAX)
            add_to_set(d, n, SET_BACKTRACK, found.thread);
    }
}

/* ---- shards ---- */

static uint64_t path_with(uint64_t path, uint32_t thread)
{
    return dh_hash_fold(path, thread + 1);
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
        for (uint64_t left = set_of(d, n, SET_ENABLED)[i] & ~set_of(d, n, SET_SLEEP)[i]; left; left &= left - 1)
            count++;
    if (count < 2)
        return;
    n->branch = true;
    n->branches++;
    for (uint32_t i = 0; i < n->words; i++)
        set_of(d, n, SET_BACKTRACK)[i] |= set_of(d, n, SET_ENABLED)[i] & ~set_of(d, n, SET_SLEEP)[i];
}

static bool is_in_shard(const struct dpor *d, const struct node *n, uint32_t thread)
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
            n->alternative = UINT32_MAX; /* which ones there are is known when the node is reached again */
            if (is_in_shard(d, n, n->thread))
                return true;
            add_to_set(d, n, SET_SLEEP, n->thread);
        }
    return false;
}

/* Backtracks to the last node with something to explore; false: there is none. */
static bool advance(struct dpor *d)
{
    while (d->nodes) {
        struct node *n = &d->node[d->nodes - 1];
        dh_trace_cut(&d->trace, d->nodes - 1);
        if (++n->alternative < n->alternatives)
            return true;
        add_to_set(d, n, SET_SLEEP, n->thread);
        if (take_next(d, n))
            return true;
        d->words_used = n->sets;
        d->nodes--;
    }
    return false;
}

static bool begin_schedule(void *self)
{
    struct dpor *d = self;
    bool more = !d->broken && (!d->begun || advance(d));
    d->begun = true;
    d->at = 0;
    d->cut = d->redundant = false;
    dh_fair_begin(&d->fair);
    return more;
}

/* A thread sleeps until a dependent step is executed. */
static bool still_sleeps(const struct dpor *d, const struct dh_decision *now, uint32_t thread)
{
    const struct node *parent = &d->node[d->at - 1];
    const struct dh_trace_event *e = &d->trace.event[d->at - 1];
    return has(d, parent, SET_SLEEP, thread) && thread != e->thread &&
           !dh_steps_depend(&e->step, &now->actors[thread].step);
}

static bool new_node(struct dpor *d, const struct dh_decision *now)
{
    uint32_t words = (now->count + 63) / 64;
    if (!DH_SEARCH_GROW(d->search, d, node, d->nodes, d->nodes + 1) ||
        !DH_SEARCH_GROW(d->search, d, words, d->words_used, d->words_used + SETS * words))
        return false;
    struct node *n = &d->node[d->nodes];
    *n = (struct node){.sets = d->words_used, .words = words, .thread = UINT32_MAX};
    d->words_used += SETS * words;
    for (uint32_t i = 0; i < SETS * words; i++)
        d->words[n->sets + i] = 0;
    for (uint32_t i = 0; i < now->count; i++) {
        if (now->actors[i].ended)
            continue;
        if (d->at && still_sleeps(d, now, i))
            add_to_set(d, n, SET_SLEEP, i);
        if (dh_actor_rank(&now->actors[i]) == DH_RANK_BLOCKED)
            continue;
        if (dh_fair_is_blocked(&d->fair, now, i))
            d->search->statistics.unfair++;
        else
            add_to_set(d, n, SET_ENABLED, i);
    }
    d->nodes++;
    set_branch(d, n);
    return true;
}

/* The thread of the last step, else the first one; one that yields only if there is no other. */
static uint32_t prefer(const struct dpor *d, const struct node *n, const struct dh_decision *now)
{
    uint32_t best = UINT32_MAX, rank = 0;
    for (uint32_t i = 0; i < now->count; i++) {
        if (!has(d, n, SET_ENABLED, i) || has(d, n, SET_SLEEP, i))
            continue;
        uint32_t r = 2 * dh_actor_rank(&now->actors[i]) + (i == now->last);
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

static bool is_impossible(const struct dh_decision *now, const struct node *n)
{
    if (n->thread >= now->count || dh_actor_rank(&now->actors[n->thread]) == DH_RANK_BLOCKED)
        return true;
    const struct dh_actor *a = &now->actors[n->thread];
    return n->alternative ? n->alternative >= a->alternatives : !a->enabled;
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct dpor *d = self;
    struct dh_search_statistics *s = &d->search->statistics;
    if (!dh_fair_observe(&d->fair, d->search, now))
        d->broken = d->cut = true;
    if (d->cut)
        return dh_choose_cut();
    if (d->at == d->nodes) {
        if (d->at >= d->search->depth_max) {
            s->bounded++;
            return dh_choose_cut();
        }
        if (!new_node(d, now)) {
            d->broken = d->cut = true;
            return dh_choose_cut();
        }
        struct node *n = &d->node[d->at];
        uint32_t thread = prefer(d, n, now);
        if (thread != UINT32_MAX && !is_in_shard(d, n, thread)) {
            add_to_set(d, n, SET_SLEEP, thread);
            thread = take_next(d, n) ? n->thread : UINT32_MAX;
        }
        if (thread == UINT32_MAX) {
            d->words_used = n->sets;
            d->nodes--;
            d->redundant = true;
            return give_up(d, &s->redundant);
        }
        set_thread(n, &now->actors[thread], thread);
        add_to_set(d, n, SET_BACKTRACK, thread);
    }
    struct node *n = &d->node[d->at];
    if (n->alternative == UINT32_MAX && n->thread < now->count)
        set_thread(n, &now->actors[n->thread], n->thread);
    if (is_impossible(now, n))
        return give_up(d, &s->diverged);
    return (struct dh_choice){n->thread, n->alternative};
}

static bool same_step(const struct dh_step *a, const struct dh_step *b)
{
    return a->kind == b->kind && a->flags == b->flags && a->site == b->site;
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct dpor *d = self;
    uint32_t index = d->at++;
    if (d->cut)
        return;
    if (index < d->trace.n) {
        if (!same_step(&d->trace.event[index].step, step)) {
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

/* The last step ended the program: what others could have done instead must still be explored. That step sleeps then,
 * until a dependent one is executed. */
static void explore_without(struct dpor *d)
{
    const struct node *n = &d->node[d->trace.n - 1];
    for (uint32_t i = 0; i < n->words; i++) {
        uint64_t left = set_of(d, n, SET_ENABLED)[i] & ~set_of(d, n, SET_SLEEP)[i];
        if (n->thread / 64 == i)
            left &= ~((uint64_t)1 << n->thread % 64);
        if (left & set_of(d, n, SET_BACKTRACK)[i])
            return;
        if (left) {
            add_to_set(d, n, SET_BACKTRACK, i * 64 + (uint32_t)__builtin_ctzll(left));
            return;
        }
    }
}

/* Did the program end while other threads had not, and not by DH_STEP_EXIT? */
static bool ended_early(const struct dpor *d, enum dh_schedule_end how, const struct dh_decision *now)
{
    if (how != DH_END_DONE || !now || d->trace.event[d->trace.n - 1].step.kind == DH_STEP_EXIT)
        return how == DH_END_FAILED;
    for (uint32_t i = 0; i < now->count; i++)
        if (i != now->last && !now->actors[i].ended)
            return true;
    return false;
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    struct dpor *d = self;
    if ((d->cut && !d->redundant) || !d->trace.n || d->at != d->trace.n)
        return;
    bool early = ended_early(d, how, now);
    if (early) {
        explore_without(d);
        dh_trace_cut(&d->trace, d->trace.n - 1); /* nothing comes after it */
    }
    /* Blocked threads raced for what they wait for, also when all others sleep. */
    for (uint32_t i = 0; now && i < now->count; i++)
        if (!now->actors[i].ended && !(early && i == now->last) && !(d->redundant && dh_actor_rank(&now->actors[i])) &&
            dh_trace_races(&d->trace, i, &now->actors[i].step))
            reverse_races(d, d->trace.n, i);
}

const struct dh_strategy dh_strategy_dpor = {
    .name = "dpor",
    .summary = "every happens-before class once, by dynamic partial order reduction",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
    .is_systematic = true,
};
