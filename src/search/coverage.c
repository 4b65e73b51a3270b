#include "search/coverage.h"

#include "base/hash.h"
#include "search/step.h"

enum { FIRST_ROOM = 1024, BOTH = 3 };

/* The last step at an object that changed something, and the last one since that did not. */
enum { CHANGE, READ, LASTS };
struct last {
    uint64_t key;
    uint32_t schedule;
    bool has[LASTS];
    uint32_t thread[LASTS];
    struct dh_step step[LASTS];
};

struct pair {
    uint64_t sites;
    uint8_t orders; /* 1: as in `sites`, 2: the other */
};

struct dh_coverage {
    struct dh_search *search;
    struct last *last;
    uint32_t last_room, lasts, schedule;
    struct pair *pair;
    uint32_t pair_room;
    uint64_t pairs, both;
};

static uint32_t hash(uint64_t key)
{
    return (uint32_t)(dh_hash_multiply(key) >> 32);
}

struct dh_coverage *dh_coverage_new(struct dh_search *search)
{
    struct dh_coverage *c = search->memory(search, sizeof *c);
    if (!c)
        return NULL;
    c->search = search;
    c->schedule = 1;
    c->last_room = c->pair_room = FIRST_ROOM;
    c->last = search->memory(search, c->last_room * sizeof *c->last);
    c->pair = search->memory(search, c->pair_room * sizeof *c->pair);
    return c->last && c->pair ? c : NULL;
}

void dh_coverage_begin(struct dh_coverage *c)
{
    c->lasts = 0;
    if (++c->schedule)
        return;
    for (uint32_t i = 0; i < c->last_room; i++)
        c->last[i].schedule = 0;
    c->schedule = 1;
}

static struct pair *pair_at(struct pair *table, uint32_t room, uint64_t sites)
{
    uint32_t i = hash(sites) & (room - 1);
    while (table[i].orders && table[i].sites != sites)
        i = (i + 1) & (room - 1);
    return &table[i];
}

/* Without memory no more pairs are counted. */
static bool room_for_pair(struct dh_coverage *c)
{
    if (c->pairs * 2 < c->pair_room)
        return true;
    struct pair *more = c->search->memory(c->search, (size_t)c->pair_room * 2 * sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; i < c->pair_room; i++)
        if (c->pair[i].orders)
            *pair_at(more, c->pair_room * 2, c->pair[i].sites) = c->pair[i];
    c->pair = more;
    c->pair_room *= 2;
    return true;
}

static void count_pair(struct dh_coverage *c, uint32_t early, uint32_t late)
{
    uint64_t sites = early < late ? (uint64_t)early << 32 | late : (uint64_t)late << 32 | early;
    struct pair *p = pair_at(c->pair, c->pair_room, sites);
    uint8_t order = early == late ? BOTH : early < late ? 1 : 2;
    if (p->orders & order && (p->orders & order) == order)
        return;
    if (!p->orders) {
        if (!room_for_pair(c))
            return;
        p = pair_at(c->pair, c->pair_room, sites);
        p->sites = sites;
        c->pairs++;
    }
    p->orders |= order;
    c->both += p->orders == BOTH;
}

static struct last *last_at(struct dh_coverage *c, uint64_t key)
{
    uint32_t i = hash(key) & (c->last_room - 1);
    while (c->last[i].schedule == c->schedule && c->last[i].key != key)
        i = (i + 1) & (c->last_room - 1);
    return &c->last[i];
}

/* Of a long schedule with many objects the beginning is forgotten now and then. */
static struct last *room_for_last(struct dh_coverage *c, uint64_t key)
{
    struct last *l = last_at(c, key);
    if (l->schedule == c->schedule || ++c->lasts < c->last_room / 2)
        return l;
    struct last *more = c->search->memory(c->search, (size_t)c->last_room * 2 * sizeof *more);
    if (more) {
        c->last = more;
        c->last_room *= 2;
    } else {
        for (uint32_t i = 0; i < c->last_room; i++)
            c->last[i].schedule = 0;
    }
    c->lasts = 1;
    return last_at(c, key);
}

void dh_coverage_step(struct dh_coverage *c, uint32_t thread, const struct dh_step *step)
{
    uint64_t keys[DH_STEP_KEYS];
    unsigned n = dh_step_keys(step, keys);
    unsigned mine = dh_step_changes(step) ? CHANGE : READ;
    for (unsigned i = 0; n != DH_STEP_WIDE && i < n; i++) {
        struct last *l = room_for_last(c, keys[i]);
        if (l->schedule != c->schedule) {
            l->key = keys[i];
            l->schedule = c->schedule;
            l->has[CHANGE] = l->has[READ] = false;
        }
        for (unsigned k = 0; k < LASTS; k++)
            if (l->has[k] && l->thread[k] != thread && dh_steps_depend(&l->step[k], step))
                count_pair(c, l->step[k].site, step->site);
        l->has[READ] = false; /* a change ends it; a read replaces it */
        l->has[mine] = true;
        l->thread[mine] = thread;
        l->step[mine] = *step;
    }
}

void dh_coverage_count(const struct dh_coverage *c, uint64_t *pairs, uint64_t *both)
{
    *pairs = c->pairs;
    *both = c->both;
}
