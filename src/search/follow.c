/* The beginning of each schedule is given, the rest is another strategy's: it sees a program that starts after it. */
#include "search/actors.h"
#include "search/strategies.h"

struct follow {
    struct dh_search *search;
    const struct dh_strategy *then;
    void *self;
    uint32_t at;
    bool lost; /* the program did not go as it should */
};

static void *start(struct dh_search *search)
{
    struct follow *f = search->memory(search, sizeof *f);
    if (!f)
        return NULL;
    f->search = search;
    f->then = search->then && search->then != &dh_strategy_follow ? search->then : &dh_strategy_random;
    f->self = f->then->start(search);
    return f->self ? f : NULL;
}

static bool begin(void *self)
{
    struct follow *f = self;
    f->at = 0;
    f->lost = false;
    return f->then->begin(f->self);
}

static bool can(const struct dh_decision *m, struct dh_choice c)
{
    if (c.thread >= m->count || m->actors[c.thread].ended)
        return false;
    const struct dh_actor *a = &m->actors[c.thread];
    return c.alternative ? c.alternative < a->alternatives : a->enabled;
}

static struct dh_choice choose(void *self, const struct dh_decision *m)
{
    struct follow *f = self;
    if (f->at >= f->search->prefix_length) {
        struct dh_decision later = *m;
        later.depth = m->depth - f->search->prefix_length;
        return f->then->choose(f->self, &later);
    }
    struct dh_choice c = f->search->prefix[f->at];
    if (!f->lost && can(m, c))
        return c;
    f->lost = true;
    f->search->statistics.diverged++;
    return dh_choose_cut();
}

static void done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct follow *f = self;
    if (f->at++ >= f->search->prefix_length)
        f->then->done(f->self, thread, alternative, step);
}

static void end(void *self, enum dh_schedule_end how, const struct dh_decision *m)
{
    struct follow *f = self;
    f->then->end(f->self, how, m);
}

const struct dh_strategy dh_strategy_follow = {
    .name = "follow",
    .summary = "a given beginning, then another strategy",
    .start = start,
    .begin = begin,
    .choose = choose,
    .done = done,
    .end = end,
};
