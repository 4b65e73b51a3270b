#include "prove/blame.h"

#include "base/alloc.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

/* Counterfactual: the schedule again, with the section of the finding serialised. A loose replay leads threads to
 * decisions that do not fit or leaves them out, so the executed schedule counts. */

enum { ROUNDS = 6 }; /* violations that are serialised, one after the other */
#define ATTEMPT_NS 2000000000ull

/* ---- roles of accesses ---- */

enum role { FIRST = 1, BETWEEN = 2, SECOND = 4 };

/* By kind and number of accesses, as the detectors report them. */
static const struct {
    enum dh_finding_kind kind;
    size_t accesses;
    unsigned roles[4];
} role_table[] = {
    {DH_FINDING_VIEW, 4, {BETWEEN, FIRST | SECOND, BETWEEN, FIRST | SECOND}},
    {DH_FINDING_ATOMICITY, 4, {FIRST, BETWEEN, SECOND, BETWEEN}},
    {DH_FINDING_ATOMICITY, 3, {FIRST, BETWEEN, SECOND}},
    {DH_FINDING_ATOMICITY, 2, {FIRST | SECOND | BETWEEN, FIRST | SECOND | BETWEEN}},
};

static const unsigned *roles_by_kind(const struct dh_finding *f)
{
    for (size_t i = 0; i < sizeof role_table / sizeof *role_table; i++)
        if (role_table[i].kind == f->kind && role_table[i].accesses == f->accesses.n)
            return role_table[i].roles;
    return NULL;
}

/* Roles per place, owned by the caller; NULL: no section. */
static uint8_t *roles_of(const struct dh_blame *c, const struct dh_finding *f)
{
    const unsigned *by_access = roles_by_kind(f);
    uint32_t n = c->s->start.places, one;
    uint8_t *roles = by_access ? dh_xcalloc(n + 1, 1) : NULL, *marked = by_access ? dh_xmalloc(n + 1) : NULL;
    for (size_t i = 0; by_access && i < f->accesses.n; i++) {
        memset(marked, 0, n + 1);
        dh_place_names_mark(c->s->places, f->accesses.at[i].site, marked, &one);
        for (uint32_t k = 0; k < n; k++)
            roles[k] |= marked[k] ? by_access[i] : 0;
    }
    free(marked);
    return roles;
}

/* ---- violations ---- */

struct section {
    uint32_t from, to; /* decisions of one thread, with another thread's in between */
};

static unsigned role_of(const struct dh_blame *c, const uint8_t *roles, uint32_t i)
{
    uint32_t place = c->now.at[i].place;
    return place < c->s->start.places ? roles[place] : 0;
}

static bool writes(const struct dh_blame *c, uint32_t i)
{
    return c->now.at[i].flags & DH_STEP_WRITES;
}

/* From this step to the next one of its thread with a role, if another thread comes between and one of them writes. Of
 * a single variable all access the same memory. */
static bool is_violated_at(const struct dh_blame *c, const uint8_t *roles, bool one_variable, struct section *p)
{
    const struct dh_engine_decision *a = &c->now.at[p->from];
    bool between = false;
    for (uint32_t k = p->from + 1; k < c->now.n; k++) {
        const struct dh_engine_decision *b = &c->now.at[k];
        unsigned role = role_of(c, roles, k);
        if (!role || (one_variable && a->object != b->object))
            continue;
        if (b->thread != a->thread)
            between |= role & BETWEEN && (writes(c, k) || writes(c, p->from));
        else if (role & (FIRST | SECOND)) {
            p->to = k;
            return between && role & SECOND;
        }
    }
    return false;
}

static bool find_violation(const struct dh_blame *c, const uint8_t *roles, bool one_variable, struct section *p)
{
    for (p->from = 0; p->from < c->now.n; p->from++)
        if (role_of(c, roles, p->from) & FIRST && is_violated_at(c, roles, one_variable, p))
            return true;
    return false;
}

/* ---- serialising ---- */

static int lock_depth_change(const struct dh_engine_decision *d)
{
    if (d->flags & DH_STEP_FAILED)
        return 0;
    return (d->kind == DH_STEP_LOCK || d->kind == DH_STEP_WAKE) -
           (d->kind == DH_STEP_UNLOCK || d->kind == DH_STEP_WAIT);
}

/* Widened to where the thread holds no lock, so that others are not blocked. */
static struct section widen_to_unlocked(const struct dh_blame *c, struct section p)
{
    uint32_t thread = c->now.at[p.from].thread, began = p.from, i;
    int held = 0;
    for (i = 0; i <= p.to || (held > 0 && i < c->now.n); i++) {
        const struct dh_engine_decision *d = &c->now.at[i];
        if (d->thread != thread)
            continue;
        if (held <= 0 && i <= p.from)
            began = i;
        held += lock_depth_change(d);
        p.to = i > p.to ? i : p.to;
    }
    p.from = began;
    return p;
}

struct plan {
    struct dh_engine_decision *decisions; /* owned */
    uint32_t n, exact;                    /* so many must be executed as planned */
};

static void add_decisions(struct plan *out, const struct dh_blame *c, struct section p, bool own)
{
    for (uint32_t i = p.from; i <= p.to; i++)
        if ((c->now.at[i].thread == c->now.at[p.from].thread) == own)
            out->decisions[out->n++] = c->now.at[i];
}

/* What comes first is executed as before; what comes second may differ. */
static struct plan serialised(const struct dh_blame *c, struct section p, bool own_first)
{
    struct plan out = {dh_xmalloc((c->now.n + 1) * sizeof *out.decisions), p.from, 0};
    memcpy(out.decisions, c->now.at, c->now.n * sizeof *out.decisions);
    add_decisions(&out, c, p, own_first);
    out.exact = out.n;
    add_decisions(&out, c, p, !own_first);
    out.n = (uint32_t)c->now.n;
    return out;
}

static bool is_as_planned(const struct plan *p, const struct dh_engine_found *end)
{
    for (uint32_t i = 0; i < p->exact; i++) {
        const struct dh_engine_decision *a = &p->decisions[i], *b = &end->decisions[i];
        if (i >= end->n_decisions || a->thread != b->thread || a->place != b->place || a->occurrence != b->occurrence)
            return false;
    }
    return true;
}

enum answer { UNKNOWN, RIGHT, WRONG };

static void set_schedule(struct dh_blame *c, const struct dh_engine_decision *d, size_t n)
{
    c->now.n = 0;
    for (size_t i = 0; i < n; i++)
        dh_vec_push(&c->now, d[i]);
}

/* Replays the plan loosely; the executed schedule replaces the present one. */
static enum answer replay_plan(struct dh_blame *c, const struct plan *plan)
{
    /* No run has this outcome, so every end is recorded. */
    static const struct dh_engine_outcome none = {.status = INT32_MIN, .output = UINT64_MAX, .errors = UINT64_MAX};
    struct dh_schedule s = c->as;
    struct dh_replayed how;
    struct dh_err ignored = {0};
    enum answer answer = UNKNOWN;
    s.decisions = plan->decisions;
    s.n = plan->n;
    s.adversary.outcomes = &none;
    s.adversary.n_outcomes = 1;
    s.adversary.judges = true;
    if (dh_now_ns() < c->until_ns &&
        dh_replay(&c->s->start, &s, DH_REPLAY_LOOSE | DH_REPLAY_GO_ON, ATTEMPT_NS, &how, &ignored)) {
        const struct dh_engine_found *end = how.ends.n ? how.ends.at[how.ends.n - 1] : NULL;
        if (end && is_as_planned(plan, end)) {
            set_schedule(c, end->decisions, end->n_decisions);
            answer = end->kind == DH_ENGINE_WRONG && end->outcome.status == c->right ? RIGHT : WRONG;
        }
        dh_replayed_release(&how);
    }
    dh_err_release(&ignored);
    return answer;
}

/* Until the section is not violated any more. */
static enum answer serialise(struct dh_blame *c, const uint8_t *roles, bool one_variable, bool own_first)
{
    enum answer answer = UNKNOWN;
    struct section p;
    for (unsigned round = 0; find_violation(c, roles, one_variable, &p); round++) {
        struct plan plan = serialised(c, widen_to_unlocked(c, p), own_first);
        answer = round < ROUNDS ? replay_plan(c, &plan) : UNKNOWN;
        free(plan.decisions);
        if (answer == UNKNOWN)
            break;
    }
    return answer;
}

/* ---- stale values ---- */

static bool is_stale(const struct dh_blame *c, const uint8_t *roles, uint32_t i)
{
    const struct dh_engine_decision *d = &c->now.at[i];
    return d->alternative && role_of(c, roles, i) & (FIRST | SECOND) && c->as.adversary.marks[d->place];
}

/* The same schedule with the newest values in the section. */
static enum answer with_newest(struct dh_blame *c, const uint8_t *roles)
{
    struct plan plan = serialised(c, (struct section){0, 0}, true);
    bool any = false;
    plan.exact = 0;
    for (uint32_t i = 0; i < c->now.n && c->as.adversary.marks; i++)
        if (is_stale(c, roles, i)) {
            plan.decisions[i].alternative = 0;
            any = true;
        }
    enum answer answer = any ? replay_plan(c, &plan) : UNKNOWN;
    free(plan.decisions);
    return answer;
}

bool dh_blame_finding(struct dh_blame *c, const struct dh_finding *f)
{
    bool one_variable = strchr(f->variable, ',') == NULL, any = false;
    uint8_t *roles = roles_of(c, f);
    struct section p;
    struct dh_blame before = {0};
    set_schedule(&before, c->now.at, c->now.n);
    enum answer answer = roles ? with_newest(c, roles) : WRONG;
    any = answer == RIGHT;
    if (answer == RIGHT)
        set_schedule(c, before.now.at, before.now.n);
    if (answer != UNKNOWN || !find_violation(c, roles, one_variable, &p)) {
        dh_blame_release(&before);
        free(roles);
        return any;
    }
    for (unsigned own_first = 0; own_first < 2 && answer != WRONG; own_first++) {
        answer = serialise(c, roles, one_variable, own_first);
        any |= answer == RIGHT;
        if (answer != WRONG)
            set_schedule(c, before.now.at, before.now.n);
    }
    dh_blame_release(&before);
    free(roles);
    return any && answer != WRONG;
}

void dh_blame_init(struct dh_blame *c, struct dh_subject *s, const struct dh_schedule *wrong, int right,
                   uint64_t until_ns)
{
    *c = (struct dh_blame){.s = s, .as = *wrong, .right = right, .until_ns = until_ns};
    set_schedule(c, wrong->decisions, wrong->n);
}

void dh_blame_release(struct dh_blame *c)
{
    dh_vec_release(&c->now);
}
