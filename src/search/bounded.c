/* Every schedule with no preemption, then with at most one, two ... (Musuvathi, Qadeer, PLDI 2007): most bugs need few.
 * A preemption switches away from a thread that is enabled and did not yield. Depth first, time-outs last: who tries
 * again after each would never let the others begin. Schedules of smaller bounds are repeated. */
#include "search/actors.h"
#include "search/fair.h"
#include "search/grow.h"
#include "search/strategies.h"

struct node {
    uint32_t left; /* where in `words`: threads not tried yet, then those of them that can only time out */
    uint32_t words;
    uint32_t thread, alternative, alternatives;
    uint32_t last;        /* thread of the step before, if switching away from it is a preemption; else UINT32_MAX */
    uint32_t preemptions; /* before this */
};

struct bounded {
    struct dh_search *search;
    struct node *node;
    uint32_t node_room, nodes;
    uint64_t *words;
    uint32_t words_room, words_used;
    struct dh_fair fair;
    uint32_t at, bound;
    bool begun, limited, cut;
};

static void *start(struct dh_search *search)
{
    struct bounded *b = search->memory(search, sizeof *b);
    if (b)
        b->search = search;
    return b;
}

static uint32_t cost(const struct node *n, uint32_t thread)
{
    return n->preemptions + (n->last != UINT32_MAX && n->last != thread);
}

static bool has_bit(const uint64_t *words, uint32_t i)
{
    return words[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *words, uint32_t i)
{
    words[i / 64] |= (uint64_t)1 << i % 64;
}

/* The first thread of a node that is left, UINT32_MAX if none is; that of the step before comes first. */
static uint32_t first_left(const struct bounded *b, const struct node *n)
{
    const uint64_t *left = b->words + n->left, *late = left + n->words;
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < n->words * 64; i++) {
        uint32_t thread = n->last == UINT32_MAX ? i : (n->last + i) % (n->words * 64);
        if (!has_bit(left, thread))
            continue;
        if (!has_bit(late, thread))
            return thread;
        found = found == UINT32_MAX ? thread : found;
    }
    return found;
}

/* The next thread at a node that the bound allows. */
static bool take_next(struct bounded *b, struct node *n)
{
    uint32_t thread = first_left(b, n);
    if (thread == UINT32_MAX)
        return false;
    if (cost(n, thread) > b->bound) {
        b->limited = true;
        return false; /* others cost as much */
    }
    b->words[n->left + thread / 64] &= ~((uint64_t)1 << thread % 64);
    n->thread = thread;
    n->alternative = UINT32_MAX;
    return true;
}

static bool advance(struct bounded *b)
{
    while (b->nodes) {
        struct node *n = &b->node[b->nodes - 1];
        if (++n->alternative < n->alternatives || take_next(b, n))
            return true;
        b->words_used = n->left;
        b->nodes--;
    }
    return false;
}

static bool begin_schedule(void *self)
{
    struct bounded *b = self;
    b->at = 0;
    b->cut = false;
    dh_fair_begin(&b->fair);
    if (b->search->statistics.no_memory)
        return false;
    if (!b->begun || advance(b)) {
        b->begun = true;
        return true;
    }
    if (!b->limited)
        return false;
    if (b->bound >= b->search->preemptions_max) {
        b->search->statistics.bounded++;
        return false;
    }
    b->limited = false;
    b->bound++;
    return true;
}

static void note_threads(struct bounded *b, struct node *n, const struct dh_decision *now)
{
    uint64_t *left = b->words + n->left, *late = left + n->words;
    for (uint32_t i = 0; i < 2 * n->words; i++)
        left[i] = 0;
    for (uint32_t i = 0; i < now->count; i++) {
        enum dh_rank rank = dh_actor_rank(&now->actors[i]);
        if (rank == DH_RANK_BLOCKED)
            continue;
        if (dh_fair_is_blocked(&b->fair, now, i)) {
            b->search->statistics.unfair++;
            continue;
        }
        set_bit(left, i);
        if (rank == DH_RANK_TIMEOUT)
            set_bit(late, i);
    }
    if (now->last < now->count && dh_actor_rank(&now->actors[now->last]) == DH_RANK_READY && has_bit(left, now->last))
        n->last = now->last;
}

static bool new_node(struct bounded *b, const struct dh_decision *now)
{
    uint32_t words = (now->count + 63) / 64;
    if (!DH_SEARCH_GROW(b->search, b, node, b->nodes, b->nodes + 1) ||
        !DH_SEARCH_GROW(b->search, b, words, b->words_used, b->words_used + 2 * words))
        return false;
    struct node *n = &b->node[b->nodes++];
    const struct node *parent = b->nodes > 1 ? n - 1 : NULL;
    *n = (struct node){.left = b->words_used, .words = words, .last = UINT32_MAX};
    n->preemptions = parent ? cost(parent, parent->thread) : 0;
    b->words_used += 2 * words;
    note_threads(b, n, now);
    return take_next(b, n);
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct bounded *b = self;
    if (b->cut || !dh_fair_observe(&b->fair, b->search, now))
        return dh_choose_cut();
    if (b->at == b->nodes) {
        bool deep = b->at >= b->search->depth_max;
        b->search->statistics.bounded += deep;
        if (deep || !new_node(b, now)) {
            b->cut = true;
            return dh_choose_cut();
        }
    }
    struct node *n = &b->node[b->at];
    if (n->thread >= now->count || dh_actor_rank(&now->actors[n->thread]) == DH_RANK_BLOCKED) {
        b->search->statistics.diverged++;
        b->cut = true;
        return dh_choose_cut();
    }
    if (n->alternative == UINT32_MAX) {
        n->alternative = dh_actor_first(&now->actors[n->thread]);
        n->alternatives = dh_actor_end(&now->actors[n->thread]);
    }
    return (struct dh_choice){n->thread, n->alternative};
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct bounded *b = self;
    (void)thread, (void)alternative, (void)step;
    b->at++;
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    (void)self, (void)how, (void)now;
}

const struct dh_strategy dh_strategy_bounded = {
    .name = "bounded",
    .summary = "all schedules with few preemptions, then with more",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
    .is_systematic = true,
};
