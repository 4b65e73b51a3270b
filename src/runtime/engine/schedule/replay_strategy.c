/* The strategy `replay`: the decisions of the prefix, then, if the job says so, to the end without preemption. A loose
 * replay leads threads to decisions that do not fit, or leaves those out. */
#include "runtime/engine/schedule/replay_strategy.h"

#include "runtime/engine/adversary/drains.h"
#include "runtime/engine/checks/hidden_accesses.h"
#include "runtime/engine/system/signals/signal.h"

static struct replay {
    const struct dh_engine_decision *decisions; /* without the undisturbed beginning */
    uint32_t n, next;                           /* decision */
    uint32_t led;                               /* steps by which its thread was led towards it */
    uint32_t in_row;                            /* steps of one thread after all decisions */
} *replay;

static void *start(struct dh_search *search)
{
    replay = dh_keep_alloc(sizeof *replay);
    if (!replay)
        return NULL;
    replay->n = search->prefix_length;
    replay->decisions = dh_engine_prefix(dh_engine->control) + (dh_engine->control->job.prefix_length - replay->n);
    return replay;
}

static bool begin_schedule(void *self)
{
    (void)self;
    replay->next = replay->led = replay->in_row = 0;
    return true;
}

static struct dh_choice choice_of(const struct dh_engine_decision *d, const struct dh_decision *m)
{
    if (d->kind == DH_STEP_DRAIN)
        return (struct dh_choice){dh_drains_actor(d, m), 0};
    return (struct dh_choice){d->thread, d->alternative};
}

static bool fits(const struct dh_engine_decision *d, const struct dh_decision *m)
{
    if (d->kind == DH_STEP_DRAIN)
        return dh_drains_actor(d, m) != UINT32_MAX;
    if (d->thread >= m->count)
        return false;
    const struct dh_actor *a = &m->actors[d->thread];
    bool by_number = d->alternative && !(d->alternative & DH_ENGINE_FUTURE);
    bool can = by_number ? d->alternative < a->alternatives : a->enabled;
    bool same =
        a->step.kind == d->kind || (d->kind == DH_STEP_DELIVER && dh_signals_is_taken_by(d->thread, d->alternative));
    return !a->ended && can && a->step.site == d->place && same && a->step.occurrence == d->occurrence;
}

static void diverged(const struct dh_engine_decision *d, const struct dh_decision *m)
{
    struct dh_engine_progress *p = &dh_engine->control->progress;
    p->diverged_at = dh_engine->depth;
    if (d->thread < m->count) {
        const struct dh_step *s = &m->actors[d->thread].step;
        p->diverged = (struct dh_engine_party){.thread = d->thread,
                                               .place = s->site,
                                               .occurrence = s->occurrence,
                                               .size = s->size,
                                               .object = s->object,
                                               .second = s->second,
                                               .kind = s->kind,
                                               .order = s->order,
                                               .flags = s->flags};
    }
    dh_engine_finish(DH_ENGINE_DIVERGED);
}

/* The thread that ran, else the first enabled one; yielding threads and timeouts last. */
static struct dh_choice choose_without_preemption(const struct dh_decision *m)
{
    struct dh_choice best = {DH_CHOOSE_CUT, 0};
    unsigned best_rank = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        const struct dh_actor *a = &m->actors[i];
        if (a->ended || !a->alternatives)
            continue;
        unsigned rank = !a->enabled ? 1 : a->yields ? 2 : i == m->last ? 4 : 3;
        if (rank > best_rank) {
            best_rank = rank;
            best = (struct dh_choice){i, a->enabled ? 0 : 1};
        }
    }
    return best;
}

/* ---- loose replay ---- */

enum { LED_MOST = 256, IN_ROW_MOST = 500 };

static bool is_enabled(const struct dh_decision *m, uint32_t thread)
{
    return thread < m->count && !m->actors[thread].ended && m->actors[thread].enabled;
}

static bool waits_for_buffer(const struct dh_decision *m, uint32_t thread)
{
    return thread < m->count && !m->actors[thread].ended && m->actors[thread].step.kind == DH_STEP_FLUSH &&
           dh_drains_any_of(thread) != UINT32_MAX;
}

/* When a load got another value than in the original schedule, later decisions may not fit. A thread that has not yet
 * come to the place of its decision is led there; a load with fewer candidates gets the newest value; a decision that
 * still does not fit is left out. */
static bool follow_loosely(const struct dh_decision *m, struct dh_choice *c)
{
    for (; replay->next < replay->n; replay->next++, replay->led = 0) {
        struct dh_engine_decision d = replay->decisions[replay->next];
        if (d.alternative && d.kind != DH_STEP_DRAIN && !fits(&d, m) && is_enabled(m, d.thread))
            d.alternative = 0;
        *c = choice_of(&d, m);
        if (fits(&d, m)) {
            replay->next++;
            replay->led = 0;
            return true;
        }
        if (d.kind == DH_STEP_DRAIN || d.kind == DH_STEP_FLUSH)
            continue;
        if (waits_for_buffer(m, d.thread)) {
            *c = (struct dh_choice){dh_drains_any_of(d.thread), 0};
            return true;
        }
        const struct dh_step *s = d.thread < m->count ? &m->actors[d.thread].step : NULL;
        bool passed = s && s->site == d.place && s->kind == d.kind && s->occurrence > d.occurrence;
        if (passed || !is_enabled(m, d.thread) || replay->led++ >= LED_MOST)
            continue;
        c->alternative = 0;
        return true;
    }
    return false;
}

/* Fair: after IN_ROW_MOST steps of one thread the next one. */
static struct dh_choice choose_fairly(const struct dh_decision *m)
{
    struct dh_choice c = choose_without_preemption(m);
    replay->in_row = c.thread == m->last ? replay->in_row + 1 : 0;
    for (uint32_t i = 1; replay->in_row > IN_ROW_MOST && i < m->count; i++)
        if (is_enabled(m, (c.thread + i) % m->count)) {
            replay->in_row = 0;
            return (struct dh_choice){(c.thread + i) % m->count, 0};
        }
    return c;
}

static struct dh_choice go_on_fairly(const struct dh_decision *m)
{
    dh_hidden_accesses_end();
    return choose_fairly(m);
}

static struct dh_choice choose(void *self, const struct dh_decision *m)
{
    struct dh_choice c;
    (void)self;
    if (dh_engine->flags & DH_ENGINE_LOOSE)
        return follow_loosely(m, &c) ? c : go_on_fairly(m);
    if (m->depth < replay->n) {
        const struct dh_engine_decision *d = &replay->decisions[m->depth];
        if (!fits(d, m))
            diverged(d, m);
        return choice_of(d, m);
    }
    if (dh_engine->flags & DH_ENGINE_TRAP && m->depth == replay->n)
        __asm__ volatile("int3");
    dh_hidden_accesses_end();
    if (dh_engine->flags & DH_ENGINE_GO_ON)
        return choose_without_preemption(m);
    dh_engine_finish(DH_ENGINE_REPLAYED);
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    (void)self, (void)thread, (void)alternative, (void)step;
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *m)
{
    (void)self, (void)how, (void)m;
}

const struct dh_strategy dh_replay_strategy = {
    .name = "replay",
    .summary = "what was decided before",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
};
