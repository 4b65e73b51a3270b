/* Verdicts of pairs of places: runs in which all other reads get the newest value. */
#include "classify/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS_MOST = 16, RUNS = 100 };
#define PAIR_NS 500000000ull /* for one of them, at least */

struct sides {
    uint32_t at[2][DH_RACY_PLACES];
    unsigned n[2];
};

static struct sides sides_of(struct dh_subject *s, const struct dh_finding *f)
{
    struct sides p = {0};
    for (unsigned i = 0; i < 2; i++)
        p.n[i] = dh_racy_places_of_site(s, f->accesses.at[f->accesses.n > i ? i : 0].site, p.at[i]);
    return p;
}

static bool is_side(const struct sides *p, unsigned side, uint32_t place)
{
    for (unsigned i = 0; i < p->n[side]; i++)
        if (p->at[side][i] == place)
            return true;
    return false;
}

/* Is it a read at one of the two that got, or missed, a write at the other? */
static bool is_between(const struct sides *p, const struct dh_engine_stale_read *r)
{
    for (unsigned reads = 0; reads < 2; reads++)
        if (is_side(p, reads, r->place) && (is_side(p, !reads, r->got.place) || is_side(p, !reads, r->newest.place)))
            return true;
    return false;
}

static bool is_in_witness(const struct sides *p, const struct dh_engine_found *end)
{
    for (uint32_t i = 0; i < end->n_stale && i < DH_ENGINE_STALE_READS; i++)
        if (is_between(p, &end->stale[i]))
            return true;
    return false;
}

/* The model must see all writes; only reads at the two places may be stale. Without stale reads only these are visible.
 */
static struct adversarial_places places_of(const struct campaign *c, const struct dh_classified *of,
                                           const struct sides *p)
{
    struct adversarial_places d = dh_adversarial_places(c, of, of->failed->tears);
    bool stale = of->run.end->n_stale;
    for (uint32_t i = 0; i < c->s->start.places; i++)
        if (d.marks[i] && !is_side(p, 0, i) && !is_side(p, 1, i) && (!stale || dh_racy_place_loads(c->s, i))) {
            d.marks[i] = 0;
            d.visible[i] = 0;
        }
    return d;
}

/* Confirms without minimising. */
static bool confirms(struct campaign *c, const struct dh_classify_column *column, const struct adversarial_places *d,
                     const struct dh_trial_result *r)
{
    struct dh_schedule as = {.visible = d->visible, .adversary = dh_baseline_adversary(&c->b, column->model, d->marks)};
    struct dh_failing_run run;
    bool ok = r->found.n && dh_minimise_failure(c->s, r->found.at[0], &as, 0, &run, c->err);
    if (r->found.n)
        dh_failing_run_release(&run);
    return ok;
}

static void try_alone(struct campaign *c, const struct dh_classified *of, const struct sides *p,
                      struct dh_classified_pair *out)
{
    struct dh_classify_column column = *of->failed;
    struct attempt a = {.column = &column, .places = places_of(c, of, p), .runs = RUNS, .time_ns = PAIR_NS};
    struct dh_racy_pair meets = {{p->at[0][0], p->at[1][0]}};
    uint64_t runs = 0, failed = 0;
    bool done = false;
    for (unsigned i = 0; i < 2 && !done && !c->failed; i++) {
        struct dh_trial_result r;
        a.pair = i ? &meets : NULL;
        if (!dh_attempt_run(c, &a, &r))
            break;
        runs += r.schedules;
        failed += r.failed;
        done = r.failed && confirms(c, &column, &a.places, &r);
        dh_trial_release(&r);
    }
    dh_adversarial_places_release(&a.places);
    bool open = !done && (failed || !runs);
    out->verdict = done ? DH_VERDICT_DESTRUCTIVE : open ? of->verdict : DH_VERDICT_NO_FAILURE;
    out->why = done || failed
                   ? dh_format("%s%llu of %llu runs in which nothing else was in doubt failed",
                               open ? "as the variable: " : "", (unsigned long long)failed, (unsigned long long)runs)
               : open
                   ? dh_strdup("as the variable: no run came to its end in which nothing else was in doubt")
                   : dh_format("%llu runs in which nothing else was in doubt did not fail", (unsigned long long)runs);
}

static void try_free_runs(struct campaign *c, const struct dh_classified *of, const struct sides *p,
                          struct dh_classified_pair *out)
{
    uint32_t only[2 * DH_RACY_PLACES];
    unsigned n = 0;
    for (unsigned side = 0; side < 2; side++)
        for (unsigned i = 0; i < p->n[side]; i++)
            only[n++] = p->at[side][i];
    uint64_t runs, failed = dh_free_campaign_failing(c, of, only, n, PAIR_NS, &runs);
    out->verdict = failed ? DH_VERDICT_DESTRUCTIVE : DH_VERDICT_NO_FAILURE;
    out->why = failed ? dh_format("a run in which nothing else was stale failed, the first %llu times not",
                                  (unsigned long long)(runs - failed))
                      : dh_format("%llu runs in which nothing else was stale did not fail", (unsigned long long)runs);
}

static void judge_pair(struct campaign *c, struct dh_classified *of, struct dh_classified_pair *out)
{
    struct sides p = sides_of(c->s, out->finding);
    out->verdict = of->verdict;
    if (!of->failed || !p.n[0] || !p.n[1])
        out->why = dh_strdup("as the variable");
    else if (is_in_witness(&p, of->run.end))
        out->why = dh_strdup("the failing run has a stale read of these");
    else if (of->variable->findings.n == 1 && !of->run.end->n_stale)
        out->why = dh_strdup("the only two places of it that race");
    else if (of->pairs.n >= PAIRS_MOST || !dh_time_left(c))
        out->why = dh_strdup("as the variable: not tried alone");
    else if (of->is_free)
        try_free_runs(c, of, &p, out);
    else
        try_alone(c, of, &p, out);
}

void dh_judge_pairs(struct campaign *c, struct dh_classified *out)
{
    const struct dh_racy_variable *v = out->variable;
    for (size_t i = 0; i < v->findings.n && !c->failed; i++) {
        struct dh_classified_pair p = {.finding = v->findings.at[i]};
        if (!p.finding->accesses.n)
            continue;
        c->host->progress(c->host->arg, v->name, "pairs of places", dh_time_left(c));
        judge_pair(c, out, &p);
        dh_vec_push(&out->pairs, p);
    }
}
