/* Every schedule begins with a given prefix; another strategy chooses the rest and sees a program that starts there. */
#include "search/actors.h"
#include "search/strategies.h"

struct follow {
    struct dh_search *search;
    const struct dh_strategy *then;
    void *self;
    uint32_t at;
    bool lost; /* the program does not follow the prefix */
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

static bool begin_schedule(void *self)
{
    struct follow *f = self;
    f->at = 0;
    f->lost = false;
    return f->then->begin(f->self);
}

static bool is_possible(const struct dh_decision *now, struct dh_choice c)
{
    if (c.thread >= now->count || now->actors[c.thread].ended)
        return false;
    const struct dh_actor *a = &now->actors[c.thread];
    return c.alternative ? c.alternative < a->alternatives : a->enabled;
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct follow *f = self;
    if (f->at >= f->search->prefix_length) {
        struct dh_decision later = *now;
        later.depth = now->depth - f->search->prefix_length;
        return f->then->choose(f->self, &later);
    }
    struct dh_choice c = f->search->prefix[f->at];
    if (!f->lost && is_possible(now, c))
        return c;
    f->lost = true;
    f->search->statistics.diverged++;
    return dh_choose_cut();
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct follow *f = self;
    if (f->at++ >= f->search->prefix_length)
        f->then->done(f->self, thread, alternative, step);
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    struct follow *f = self;
    f->then->end(f->self, how, now);
}

const struct dh_strategy dh_strategy_follow = {
    .name = "follow",
    .summary = "a given beginning, then another strategy",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
};
