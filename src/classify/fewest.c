#include "classify/fewest.h"

#include "prove/ending.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

/* Attempts are processes: of many reads parts are left out first, of few each is tried alone, from the last on. */
enum { MANY = 8, SINGLES = 24, ATTEMPTS = 90 };
#define REPLAY_NS 20000000000ull
#define ATTEMPT_NS 1500000000ull

struct search {
    struct dh_subject *s;
    struct dh_schedule as;
    uint16_t kind;
    struct dh_engine_decision *now; /* the best so far, as it was executed */
    uint32_t n;
    DH_VEC(uint32_t) stale; /* its stale reads: numbers of decisions */
    unsigned attempts;
    uint64_t until_ns;
    bool failed;
    struct dh_err *err;
};

bool dh_is_stale_decision(const struct dh_engine_decision *d, const uint8_t *marks)
{
    return d->alternative && (d->kind == DH_STEP_READ || d->kind == DH_STEP_COPY || d->kind == DH_STEP_RMW) &&
           marks[d->place] & DH_ENGINE_STALE;
}

static void take(struct search *m, const struct dh_engine_decision *d, uint32_t n)
{
    struct dh_engine_decision *copy = malloc((n + 1) * sizeof *copy);
    if (!copy)
        abort();
    memcpy(copy, d, n * sizeof *copy);
    free(m->now);
    m->now = copy;
    m->n = n;
    m->stale.n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (dh_is_stale_decision(&copy[i], m->as.adversary.marks))
            dh_vec_push(&m->stale, i);
}

/* ---- attempts ---- */

/* Who waits in vain does so whether or not a signal was lost. */
static bool is_like(uint16_t a, uint16_t b)
{
    const uint32_t stuck = 1u << DH_ENGINE_DEADLOCK | 1u << DH_ENGINE_LOST_WAKE;
    return a == b || (stuck >> a & 1 && stuck >> b & 1);
}

static const struct dh_engine_found *end_of_kind(const struct dh_replayed *how, uint16_t kind)
{
    for (size_t i = 0; i < how->ends.n; i++)
        if (is_like(how->ends.at[i]->kind, kind))
            return how->ends.at[i];
    return NULL;
}

static uint32_t count_stale(const struct search *m, const struct dh_engine_found *end)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < end->n_decisions; i++)
        n += dh_is_stale_decision(&end->decisions[i], m->as.adversary.marks);
    return n;
}

static bool may_try(struct search *m)
{
    return !m->failed && m->attempts < ATTEMPTS && dh_now_ns() < m->until_ns;
}

/* Runs the first `n` decisions with only those of its stale reads that `keep` says; whatever it then comes to is the
 * new best if it fails in the same way and is no longer. */
static bool attempt(struct search *m, const bool *keep, uint32_t n)
{
    struct dh_engine_decision *d = malloc((n + 1) * sizeof *d);
    struct dh_schedule s = m->as;
    struct dh_replayed how;
    if (!d)
        abort();
    memcpy(d, m->now, n * sizeof *d);
    for (size_t i = 0; i < m->stale.n && m->stale.at[i] < n; i++)
        if (!keep[i])
            d[m->stale.at[i]].alternative = 0;
    s.decisions = d;
    s.n = n;
    m->attempts++;
    m->failed = !dh_replay(&m->s->start, &s, DH_REPLAY_LOOSE | DH_REPLAY_GO_ON, ATTEMPT_NS, &how, m->err);
    const struct dh_engine_found *end = m->failed ? NULL : end_of_kind(&how, m->kind);
    uint32_t stale = end ? count_stale(m, end) : 0;
    bool better = end && (stale < m->stale.n || (stale == m->stale.n && end->n_decisions <= m->n));
    if (better)
        take(m, end->decisions, end->n_decisions);
    dh_replayed_release(&how);
    free(d);
    return better;
}

static bool try_without_any(struct search *m)
{
    bool *keep = calloc(m->stale.n + 1, sizeof *keep);
    if (!keep)
        abort();
    bool ok = m->stale.n && may_try(m) && attempt(m, keep, m->n);
    free(keep);
    return ok;
}

/* Is one of them enough? The last are tried first, since those before did no harm for long. */
static bool try_singles(struct search *m)
{
    size_t n = m->stale.n;
    bool done = n < 2;
    for (size_t k = 0; k < n && k < SINGLES && !done && may_try(m); k++) {
        size_t i = n <= SINGLES ? n - 1 - k : k < SINGLES / 2 ? n - 1 - k : (SINGLES - 1 - k) * (n / SINGLES);
        bool *keep = calloc(n, sizeof *keep);
        if (!keep)
            abort();
        keep[i] = true;
        done = attempt(m, keep, m->n);
        free(keep);
    }
    return done;
}

/* Leaves out parts of them, half of it first, for as long as that helps. */
static void leave_out_parts(struct search *m)
{
    for (size_t part = (m->stale.n + 1) / 2; part && m->stale.n > 1 && may_try(m);) {
        bool helped = false;
        for (size_t from = 0; from < m->stale.n && may_try(m) && !helped; from += part) {
            size_t n = m->stale.n;
            bool *keep = malloc(n * sizeof *keep);
            if (!keep)
                abort();
            for (size_t i = 0; i < n; i++)
                keep[i] = i < from || i >= from + part;
            helped = attempt(m, keep, m->n) && m->stale.n < n;
            free(keep);
        }
        if (!helped)
            part /= 2;
        else if (part > m->stale.n)
            part = m->stale.n;
    }
}

/* Behind its last stale read, and with nobody in the way, it fails by itself. */
static void cut_short(struct search *m)
{
    uint32_t last = m->stale.n ? m->stale.at[m->stale.n - 1] + 1 : 0;
    bool *keep = malloc((m->stale.n + 1) * sizeof *keep);
    if (!keep)
        abort();
    for (size_t i = 0; i < m->stale.n; i++)
        keep[i] = true;
    if (m->stale.n && last < m->n && may_try(m))
        attempt(m, keep, last);
    free(keep);
}

/* ---- with kernel threads, exactly ---- */

static bool confirm(struct search *m, struct dh_failing_run *out)
{
    struct dh_schedule s = m->as;
    struct dh_replayed how;
    s.decisions = m->now;
    s.n = m->n;
    if (!dh_replay(&m->s->start, &s, DH_REPLAY_NO_RACES | DH_REPLAY_CAPTURE, REPLAY_NS, &how, m->err)) {
        m->failed = true;
        return false;
    }
    const struct dh_engine_found *end = how.state == DH_ENGINE_REPLAYED ? end_of_kind(&how, m->kind) : NULL;
    dh_subject_learn(m->s, how.progress);
    if (end) {
        out->values = dh_values_of(end, m->n);
        out->end = malloc(end->size);
        if (!out->end)
            abort();
        memcpy(out->end, end, end->size);
        dh_str_clear(&out->output);
        dh_str_add(&out->output, how.output.at ? how.output.at : "");
    }
    dh_replayed_release(&how);
    return end;
}

static void shrink(struct search *m)
{
    if (try_without_any(m))
        return;
    if (m->stale.n > MANY)
        leave_out_parts(m);
    if (!try_singles(m))
        leave_out_parts(m);
    cut_short(m);
}

bool dh_fewest(struct dh_subject *s, const struct dh_engine_found *found, const struct dh_schedule *as,
               uint64_t patience_ns, struct dh_failing_run *out, struct dh_err *err)
{
    struct search m = {.s = s, .as = *as, .kind = found->kind, .until_ns = dh_now_ns() + patience_ns, .err = err};
    *out = (struct dh_failing_run){.stale_before = found->n_stale, .steps_before = found->n_decisions};
    take(&m, found->decisions, found->n_decisions);
    shrink(&m);
    bool ok = !m.failed && confirm(&m, out);
    if (!ok && !m.failed) {
        take(&m, found->decisions, found->n_decisions);
        ok = confirm(&m, out);
    }
    out->decisions = m.now;
    out->schedule = m.as;
    out->schedule.decisions = m.now;
    out->schedule.n = m.n;
    out->schedule.values = out->values;
    dh_vec_release(&m.stale);
    return ok;
}

void dh_failing_run_release(struct dh_failing_run *r)
{
    free(r->decisions);
    free(r->values);
    free(r->end);
    dh_str_release(&r->output);
    *r = (struct dh_failing_run){0};
}
