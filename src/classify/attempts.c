/* Trials of a column, judged by the baseline and then by the oracle. */
#include "base/alloc.h"
#include "classify/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

enum { DIRECTED = 5, ROUNDS = 3 };
#define REPLAY_NS 10000000000ull

uint64_t dh_time_left(const struct campaign *c)
{
    uint64_t now = dh_now_ns();
    return c->until_ns > now ? c->until_ns - now : 0;
}

/* ---- adversarial places ---- */

struct adversarial_places dh_adversarial_places(const struct campaign *c, const struct dh_classified *of, bool tears)
{
    const struct dh_racy_variable *v = of->variable;
    uint32_t places = c->s->start.places;
    struct adversarial_places d = {dh_xcalloc(places + 1, 1), dh_xcalloc(places + 1, sizeof *d.visible)};
    uint8_t kept = of->rate && of->by_element ? 0xff : DH_ENGINE_STALE;
    for (uint32_t i = 0; i < places; i++)
        if (v->marks[i]) {
            d.marks[i] =
                (uint8_t)((v->marks[i] & kept) | (tears ? DH_ENGINE_TEARS : 0) | of->rate << DH_ENGINE_RATE_SHIFT);
            d.visible[i] = DH_ENGINE_VISIBLE;
        }
    return d;
}

void dh_adversarial_places_release(struct adversarial_places *d)
{
    free(d->marks);
    free(d->visible);
    *d = (struct adversarial_places){0};
}

/* ---- the oracle ---- */

/* Output of the run, by a replay. */
static bool output_of(struct campaign *c, const struct attempt *a, const struct dh_engine_found *f, struct dh_str *out)
{
    struct dh_replayed how;
    struct dh_schedule s = {.decisions = f->decisions,
                            .n = f->n_decisions,
                            .visible = a->places.visible,
                            .adversary = dh_baseline_adversary(&c->b, a->column->model, a->places.marks)};
    s.adversary.foreseen = f->foreseen;
    s.adversary.n_foreseen = f->n_foreseen < DH_ENGINE_FORESEEN ? f->n_foreseen : DH_ENGINE_FORESEEN;
    if (!dh_replay(&c->s->start, &s, DH_REPLAY_NO_RACES | DH_REPLAY_CAPTURE, REPLAY_NS, &how, c->err)) {
        c->failed = true;
        return false;
    }
    bool ok = how.state == DH_ENGINE_REPLAYED && how.ends.n;
    dh_str_add_n(out, how.output.at ? how.output.at : "", how.output.n);
    dh_replayed_release(&how);
    return ok;
}

static void accept(struct campaign *c, const struct dh_engine_found *f)
{
    struct dh_baseline *b = &c->b;
    struct dh_engine_outcome o = f->outcome;
    if (b->output_varies)
        o.output = UINT64_MAX;
    if (b->errors_vary)
        o.errors = UINT64_MAX;
    if (b->n_outcomes < DH_ENGINE_OUTCOMES)
        b->outcomes[b->n_outcomes++] = o;
}

static bool is_accepted(struct campaign *c, const struct attempt *a, const struct dh_engine_found *f)
{
    struct dh_str output = {0};
    bool accepts = false;
    if (f->kind != DH_ENGINE_WRONG || f->outcome.status != c->b.status)
        return false;
    if (output_of(c, a, f, &output) && !dh_oracle_ask(c->o->oracle, output.at, output.n, &accepts, c->err))
        c->failed = true;
    dh_str_release(&output);
    return accepts;
}

/* Removes ends that the oracle accepts, and those that there was no time to judge. */
static unsigned remove_accepted(struct campaign *c, const struct attempt *a, uint64_t until_ns,
                                struct dh_trial_result *r)
{
    unsigned accepted = 0, kept = 0;
    for (size_t i = 0; i < r->found.n; i++) {
        struct dh_engine_found *f = r->found.at[i];
        bool late = f->kind == DH_ENGINE_WRONG && kept && dh_now_ns() > until_ns;
        bool good = !late && !c->failed && is_accepted(c, a, f);
        if (good)
            accept(c, f);
        accepted += good;
        if (good || late)
            free(f);
        else
            r->found.at[kept++] = f;
    }
    r->found.n = kept;
    return accepted;
}

/* Directed schedules hold a thread back for which others may spin: such a hang is no failure. */
static void remove_hangs(struct dh_trial_result *r)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->found.n; i++)
        if (r->found.at[i]->kind == DH_ENGINE_HANG)
            free(r->found.at[i]);
        else
            r->found.at[kept++] = r->found.at[i];
    r->found.n = kept;
    r->failed -= r->ends[DH_ENGINE_HANG] < r->failed ? r->ends[DH_ENGINE_HANG] : r->failed;
}

bool dh_attempt_run(struct campaign *c, const struct attempt *a, struct dh_trial_result *out)
{
    struct dh_trial t = {.model = a->column->model,
                         .heuristic = a->column->heuristic,
                         .strategy = a->systematic ? NULL
                                     : a->pair     ? "directed"
                                                   : "random",
                         .systematic = a->systematic,
                         .marks = a->places.marks,
                         .visible = a->in_line ? NULL : a->places.visible,
                         .in_line = a->in_line,
                         .seed = c->o->seed,
                         .schedules = a->systematic ? c->o->runs_most
                                      : a->pair     ? DIRECTED * a->runs
                                                    : a->runs};
    uint64_t until_ns = dh_now_ns() + a->time_ns;
    if (a->pair)
        memcpy(t.target, a->pair->place, sizeof t.target);
    for (unsigned round = 0;; round++) {
        uint64_t now = dh_now_ns();
        t.time_ns = !round ? a->time_ns : until_ns - now;
        if (!dh_trial_run(&t, c->s, &c->b, out, c->err)) {
            c->failed = true;
            return false;
        }
        if (a->pair)
            remove_hangs(out);
        unsigned accepted = c->o->oracle ? remove_accepted(c, a, until_ns, out) : 0;
        out->failed -= accepted < out->failed ? accepted : out->failed;
        if (!accepted || round + 1 == ROUNDS || dh_now_ns() >= until_ns || c->failed)
            return true;
        dh_trial_release(out); /* again, with the accepted outcomes */
    }
}
