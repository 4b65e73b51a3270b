/* Slow-down (verdict qos): significantly more operations with stale values than with the newest. Stale values at all
 * places may hide it, since a thread that reads one place again under a lock learns the truth: so single places are
 * tried, too. A few runs of each find the worst place; more, with another seed, test it. */
#include "classify/campaign_internal.h"
#include "classify/rank_sum.h"

#include <stdlib.h>
#include <string.h>

#define MUCH_SLOWER 10.0
#define LOST_LEAST 1000.0 /* operations: fewer do not matter, */
#define LOST_SHARE 0.005  /* nor does a smaller share */
#define LEAST_NS 2000000000ull
enum {
    RUNS = 20,
    RUNS_FEW = 3,
    RUNS_ENOUGH = 10, /* for significance; on a busy machine beyond the budget, */
    SLOWER = 8,       /* each at most so many times as long as one of the baseline */
    SWITCHES = 500,
    RATE_MOST = 20,
    PLACES_MOST = 6,
    PATIENT = 64 /* equal stale reads in a row before the newest, at a single place: pruning by a bound reads it all the
                    time */
};
#define EVERYWHERE UINT32_MAX

struct work {
    double at[DH_ENGINE_WORKS], mean;
    bool endless; /* some were cut, since they did so much more */
    bool stale;
    unsigned n;
};

static struct work work_of(const struct dh_trial_result *r)
{
    struct work w = {.n = r->n_works, .endless = r->cut, .stale = r->stale_loads};
    for (unsigned i = 0; i < w.n; i++) {
        w.at[i] = (double)r->works[i];
        w.mean += w.at[i] / w.n;
    }
    return w;
}

/* All reads of the place are served, a sample of them are steps: such runs are counted, not replayed. The model sees
 * all writes. */
static struct adversarial_places places_of(struct campaign *c, struct dh_classified *out, uint32_t only)
{
    struct dh_classified whole = {.variable = out->variable};
    while (out->reads >> whole.rate > SWITCHES && whole.rate < RATE_MOST)
        whole.rate++;
    struct adversarial_places d = dh_adversarial_places(c, &whole, false);
    for (uint32_t i = 0; only != EVERYWHERE && i < c->s->start.places; i++)
        if (d.marks[i] && i != only && dh_racy_place_loads(c->s, i))
            d.marks[i] = DH_ENGINE_STALE | DH_ENGINE_RATE_NEWEST << DH_ENGINE_RATE_SHIFT;
    return d;
}

/* NULL heuristic: the newest values. */
static struct work work_with(struct campaign *c, struct dh_classified *out, const char *heuristic, uint32_t only,
                             unsigned runs, uint64_t time_ns)
{
    struct dh_trial_result r;
    struct adversarial_places d = places_of(c, out, only);
    struct dh_trial t = {.model = heuristic ? "hb" : "sc",
                         .heuristic = heuristic ? heuristic : "newest",
                         .strategy = "random",
                         .marks = d.marks,
                         .visible = d.visible,
                         .seed = c->o->seed + (runs == RUNS_FEW ? RUNS : 0),
                         .schedules = runs,
                         .time_ns = time_ns,
                         .fairness = only == EVERYWHERE ? 0 : PATIENT,
                         .in_line = true};
    struct work w = {0};
    if (dh_trial_run(&t, c->s, &c->b, &r, c->err)) {
        w = work_of(&r);
        dh_trial_release(&r);
    } else
        c->failed = true;
    dh_adversarial_places_release(&d);
    return w;
}

static bool is_slower(const struct work *newest, const struct work *oldest)
{
    double more = oldest->mean - newest->mean;
    return oldest->stale && newest->n && oldest->n && more >= LOST_LEAST && more >= LOST_SHARE * newest->mean &&
           dh_rank_sum_is_greater(oldest->at, oldest->n, newest->at, newest->n);
}

static uint32_t next_load(const struct campaign *c, const struct dh_racy_variable *v, uint32_t from)
{
    while (from < c->s->start.places && !(v->marks[from] && dh_racy_place_loads(c->s, from)))
        from++;
    return from;
}

/* The place at which stale values alone cost most; or EVERYWHERE. */
static uint32_t find_worst(struct campaign *c, struct dh_classified *out, uint64_t time_ns)
{
    uint32_t worst = EVERYWHERE, at = EVERYWHERE;
    double most = 0;
    for (unsigned i = 0; i <= PLACES_MOST && !c->failed; i++) {
        struct work w = work_with(c, out, "oldest", at, RUNS_FEW, time_ns / (PLACES_MOST + 1));
        if (w.n && w.mean > most) {
            most = w.mean;
            worst = at;
        }
        at = next_load(c, out->variable, i ? at + 1 : 0);
        if (at == c->s->start.places || out->variable->loads < 2)
            break;
    }
    return worst;
}

static uint64_t time_enough(const struct campaign *c, uint64_t part_ns)
{
    uint64_t enough = RUNS_ENOUGH * SLOWER * c->b.longest_ns, most = c->o->budget_ns / 2;
    enough = enough < most ? enough : most;
    return part_ns > enough ? part_ns : enough;
}

void dh_measure_slow_down(struct campaign *c, struct dh_classified *out)
{
    uint64_t time_ns = dh_time_left(c) > LEAST_NS ? dh_time_left(c) : LEAST_NS;
    c->host->progress(c->host->arg, out->variable->name, "how much more work it makes", time_ns);
    struct work newest = work_with(c, out, NULL, EVERYWHERE, RUNS, time_enough(c, time_ns / 3));
    uint32_t worst = newest.n && !c->failed ? find_worst(c, out, time_ns / 3) : EVERYWHERE;
    if (!newest.n || c->failed)
        return;
    struct work oldest = work_with(c, out, "oldest", worst, RUNS, time_enough(c, time_ns / 3));
    bool endless = oldest.endless && !newest.endless && oldest.stale && worst == EVERYWHERE;
    out->slower = endless ? MUCH_SLOWER : newest.mean > 0 ? oldest.mean / newest.mean : 0;
    out->is_slow = endless || is_slower(&newest, &oldest);
}
