#include "classify/minimise.h"

#include "base/alloc.h"
#include "prove/minimise.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

/* Attempts are processes: of many stale reads parts are removed first, of few each is tried alone, from the last. */
enum { MANY = 8, SINGLES = 24, ATTEMPTS = 90, MERGES = 40 };
#define REPLAY_NS 20000000000ull
#define ATTEMPT_NS 1500000000ull
#define MERGE_NS 500000000ull

struct minimisation {
    struct dh_subject *s;
    struct dh_schedule as;
    uint16_t kind;
    struct dh_engine_decision *now; /* the best so far, as it was executed */
    uint32_t n;
    struct dh_engine_foreseen foreseen[DH_ENGINE_FORESEEN]; /* of it */
    DH_VEC(uint32_t) stale; /* its stale reads, and stores that waited: numbers of decisions */
    unsigned attempts;
    uint64_t until_ns;
    bool failed;
    struct dh_err *err;
};

/* A schedule to be tried. */
struct plan {
    struct dh_engine_decision *at;
    uint32_t n;
};

bool dh_decision_is_stale(const struct dh_engine_decision *d, const uint8_t *marks)
{
    return d->alternative && (d->kind == DH_STEP_READ || d->kind == DH_STEP_COPY || d->kind == DH_STEP_RMW) &&
           marks[d->place] & DH_ENGINE_STALE;
}

static bool is_store_of(const struct dh_engine_decision *store, const struct dh_engine_decision *drain)
{
    return store->thread == drain->thread && store->place == drain->place && store->occurrence == drain->occurrence;
}

/* Pieces of one store leave one after the other. */
static bool has_waited(const struct dh_engine_decision *d, uint32_t i)
{
    return d[i].kind == DH_STEP_DRAIN && i &&
           !((d[i - 1].kind == DH_STEP_WRITE || d[i - 1].kind == DH_STEP_DRAIN) && is_store_of(&d[i - 1], &d[i]));
}

static bool is_stale(const struct minimisation *m, const struct dh_engine_decision *d, uint32_t i)
{
    return dh_decision_is_stale(&d[i], m->as.adversary.marks) || has_waited(d, i);
}

static void set_best(struct minimisation *m, const struct dh_engine_found *f)
{
    uint32_t n = f->n_decisions;
    struct dh_engine_decision *copy = dh_xmalloc((n + 1) * sizeof *copy);
    memcpy(copy, f->decisions, n * sizeof *copy);
    memcpy(m->foreseen, f->foreseen, sizeof m->foreseen);
    m->as.adversary.foreseen = m->foreseen;
    m->as.adversary.n_foreseen = f->n_foreseen < DH_ENGINE_FORESEEN ? f->n_foreseen : DH_ENGINE_FORESEEN;
    free(m->now);
    m->now = copy;
    m->n = n;
    m->stale.n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_stale(m, copy, i))
            dh_vec_push(&m->stale, i);
}

/* ---- attempts ---- */

/* Blocked for ever, with or without a lost signal. */
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

static uint32_t count_stale(const struct minimisation *m, const struct dh_engine_found *end)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < end->n_decisions; i++)
        n += is_stale(m, end->decisions, i);
    return n;
}

static bool can_try(struct minimisation *m)
{
    return !m->failed && m->attempts < ATTEMPTS && dh_now_ns() < m->until_ns;
}

/* Fewer stale reads; or as many, and fewer switches, or no more of them and no more steps. */
static bool is_better(const struct minimisation *m, const struct dh_engine_found *end)
{
    uint32_t stale = count_stale(m, end), switches = dh_schedule_switches(end->decisions, end->n_decisions),
             before = dh_schedule_switches(m->now, m->n);
    if (stale != m->stale.n)
        return stale < m->stale.n;
    return switches != before ? switches < before : end->n_decisions <= m->n;
}

/* Replays the plan loosely; the executed schedule becomes the best one if it fails in the same way and is better. Frees
 * the plan. */
static bool attempt(struct minimisation *m, struct plan p)
{
    struct dh_schedule s = m->as;
    struct dh_replayed how;
    s.decisions = p.at;
    s.n = p.n;
    m->attempts++;
    m->failed = !dh_replay(&m->s->start, &s, DH_REPLAY_LOOSE | DH_REPLAY_GO_ON, ATTEMPT_NS, &how, m->err);
    const struct dh_engine_found *end = m->failed ? NULL : end_of_kind(&how, m->kind);
    bool better = end && is_better(m, end);
    if (better)
        set_best(m, end);
    dh_replayed_release(&how);
    free(p.at);
    return better;
}

/* ---- fewer stale reads ---- */

static struct plan empty_plan(uint32_t room)
{
    struct plan p = {dh_xmalloc((room + 1) * sizeof *p.at), 0};
    return p;
}

/* The first `n` decisions with only those of its stale reads that `keep` says, and with stores that do not wait but for
 * those. */
static struct plan plan_with(const struct minimisation *m, const bool *keep, uint32_t n)
{
    struct plan p = empty_plan(n + (uint32_t)m->stale.n);
    size_t next = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct dh_engine_decision d = m->now[i];
        bool drop = next < m->stale.n && m->stale.at[next] == i && !keep[next++];
        if (drop && d.kind == DH_STEP_DRAIN)
            continue;
        d.alternative = drop ? 0 : d.alternative;
        p.at[p.n++] = d;
        for (size_t k = 0; k < m->stale.n && d.kind == DH_STEP_WRITE; k++) {
            const struct dh_engine_decision *drain = &m->now[m->stale.at[k]];
            if (!keep[k] && drain->kind == DH_STEP_DRAIN && is_store_of(&d, drain))
                p.at[p.n++] = *drain;
        }
    }
    return p;
}

static bool try_without_stale_reads(struct minimisation *m)
{
    bool *keep = dh_xcalloc(m->stale.n + 1, sizeof *keep);
    bool ok = m->stale.n && can_try(m) && attempt(m, plan_with(m, keep, m->n));
    free(keep);
    return ok && !m->stale.n;
}

/* Is one enough? From the last, since the earlier ones did no harm for long. */
static bool try_single_stale_reads(struct minimisation *m)
{
    size_t n = m->stale.n;
    bool done = n < 2;
    for (size_t k = 0; k < n && k < SINGLES && !done && can_try(m); k++) {
        size_t i = n <= SINGLES ? n - 1 - k : k < SINGLES / 2 ? n - 1 - k : (SINGLES - 1 - k) * (n / SINGLES);
        bool *keep = dh_xcalloc(n, sizeof *keep);
        keep[i] = true;
        done = attempt(m, plan_with(m, keep, m->n));
        free(keep);
    }
    return done;
}

/* Removes parts, half of them first, while the run still fails. */
static void remove_parts(struct minimisation *m)
{
    for (size_t part = (m->stale.n + 1) / 2; part && m->stale.n > 1 && can_try(m);) {
        bool helped = false;
        for (size_t from = 0; from < m->stale.n && can_try(m) && !helped; from += part) {
            size_t n = m->stale.n;
            bool *keep = dh_xmalloc(n * sizeof *keep);
            for (size_t i = 0; i < n; i++)
                keep[i] = i < from || i >= from + part;
            helped = attempt(m, plan_with(m, keep, m->n)) && m->stale.n < n;
            free(keep);
        }
        if (!helped)
            part /= 2;
        else if (part > m->stale.n)
            part = m->stale.n;
    }
}

/* After the last stale read it may fail without preemption. */
static void try_without_rest(struct minimisation *m)
{
    uint32_t last = m->stale.n ? m->stale.at[m->stale.n - 1] + 1 : 0;
    bool *keep = dh_xmalloc((m->stale.n + 1) * sizeof *keep);
    for (size_t i = 0; i < m->stale.n; i++)
        keep[i] = true;
    if (m->stale.n && last < m->n && can_try(m))
        attempt(m, plan_with(m, keep, last));
    free(keep);
}

/* ---- fewer switches ---- */

/* The same order of all that depends on each other, each thread for as long as that allows. */
static void regroup(struct minimisation *m)
{
    struct plan p = empty_plan(m->n);
    const struct dh_engine_found all = {.kind = m->kind}; /* no parties: all decisions are kept */
    p.n = dh_schedule_minimise(m->now, m->n, &all, dh_subject_access_size, m->s, p.at);
    if (dh_schedule_switches(p.at, p.n) < dh_schedule_switches(m->now, m->n) && can_try(m))
        attempt(m, p);
    else
        free(p.at);
}

/* Where the thread before `at` goes on; n: it does not. */
static uint32_t next_turn_of(const struct minimisation *m, uint32_t at)
{
    uint32_t i = at;
    while (i < m->n && m->now[i].thread != m->now[at - 1].thread)
        i++;
    return i;
}

/* The turn that the thread before `at` has next comes at once, before those of others in between. */
static struct plan plan_merged(const struct minimisation *m, uint32_t at, uint32_t from)
{
    struct plan p = empty_plan(m->n);
    uint32_t to = from;
    while (to < m->n && m->now[to].thread == m->now[from].thread)
        to++;
    memcpy(p.at, m->now, at * sizeof *p.at);
    memcpy(p.at + at, m->now + from, (to - from) * sizeof *p.at);
    memcpy(p.at + at + (to - from), m->now + at, (from - at) * sizeof *p.at);
    memcpy(p.at + to, m->now + to, (m->n - to) * sizeof *p.at);
    p.n = m->n;
    return p;
}

/* Tries to remove each context switch, from the last. */
static void merge_turns(struct minimisation *m)
{
    unsigned most = m->attempts + MERGES;
    uint64_t until_ns = dh_now_ns() + MERGE_NS;
    for (uint32_t at = m->n; at-- > 1 && m->attempts < most && can_try(m) && dh_now_ns() < until_ns;) {
        if (at >= m->n || m->now[at].thread == m->now[at - 1].thread)
            continue;
        uint32_t from = next_turn_of(m, at);
        if (from < m->n)
            attempt(m, plan_merged(m, at, from));
    }
}

/* ---- with kernel threads, exactly ---- */

/* Output that did not count when the run was judged does not count now. */
static struct dh_engine_found *wanted_end(const struct dh_schedule *s, const struct dh_engine_found *end)
{
    struct dh_engine_found *wanted = dh_xmemdup(end, end->size);
    const struct dh_adversary_setup *a = &s->adversary;
    if (a->n_outcomes && a->outcomes[0].output == UINT64_MAX)
        wanted->outcome.output = UINT64_MAX;
    if (a->n_outcomes && a->outcomes[0].errors == UINT64_MAX)
        wanted->outcome.errors = UINT64_MAX;
    return wanted;
}

/* The same end, whatever lies in memory that nobody wrote? */
static bool holds(struct minimisation *m, const struct dh_schedule *s, const struct dh_engine_found *end)
{
    struct dh_subject_start start = m->s->start;
    struct dh_engine_found *wanted = wanted_end(s, end);
    bool same = true;
    for (start.perturbed = DH_REPLAYS_TO_CONFIRM; --start.perturbed && same;) {
        struct dh_replayed how;
        same = dh_replay(&start, s, DH_REPLAY_NO_RACES, REPLAY_NS, &how, m->err) && dh_replayed_find(&how, wanted);
        dh_replayed_release(&how);
    }
    free(wanted);
    return same;
}

static bool confirm(struct minimisation *m, struct dh_failing_run *out)
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
    dh_subject_add_libraries(m->s, how.libraries, how.n_libraries);
    end = end && holds(m, &s, end) ? end : NULL;
    if (end) {
        out->values = dh_replay_values(end, m->n);
        out->end = dh_xmemdup(end, end->size);
        dh_str_clear(&out->output);
        dh_str_add(&out->output, how.output.at ? how.output.at : "");
    }
    dh_replayed_release(&how);
    return end;
}

static void remove_stale_reads(struct minimisation *m)
{
    if (try_without_stale_reads(m))
        return;
    if (m->stale.n > MANY)
        remove_parts(m);
    if (!try_single_stale_reads(m))
        remove_parts(m);
    try_without_rest(m);
}

static void shrink(struct minimisation *m)
{
    remove_stale_reads(m);
    regroup(m);
    merge_turns(m);
}

bool dh_minimise_failure(struct dh_subject *s, const struct dh_engine_found *found, const struct dh_schedule *as,
                         uint64_t patience_ns, struct dh_failing_run *out, struct dh_err *err)
{
    struct minimisation m = {.s = s, .as = *as, .kind = found->kind, .until_ns = dh_now_ns() + patience_ns, .err = err};
    *out = (struct dh_failing_run){.stale_before = found->n_stale, .steps_before = found->n_decisions};
    set_best(&m, found);
    shrink(&m);
    bool ok = !m.failed && confirm(&m, out);
    if (!ok && !m.failed) {
        set_best(&m, found);
        ok = confirm(&m, out);
    }
    out->decisions = m.now;
    out->schedule = m.as;
    out->schedule.decisions = m.now;
    out->schedule.n = m.n;
    out->schedule.values = out->values;
    out->foreseen = dh_xmemdup(m.foreseen, sizeof m.foreseen);
    out->schedule.adversary.foreseen = out->foreseen;
    dh_vec_release(&m.stale);
    return ok;
}

void dh_failing_run_release(struct dh_failing_run *r)
{
    free(r->decisions);
    free(r->values);
    free(r->foreseen);
    free(r->end);
    dh_str_release(&r->output);
    *r = (struct dh_failing_run){0};
}
