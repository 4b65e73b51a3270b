#include "launch/witness_run.h"

#include "launch/open_subject.h"

#include <stdlib.h>
#include <string.h>

bool dh_witness_run_read(struct dh_witness_run *r, const char *path, bool *ours, struct dh_err *err)
{
    bool strange;
    r->has_witness = dh_witness_read(&r->witness, path, ours, &strange, err);
    err->is_usage = !r->has_witness && !strange;
    return r->has_witness;
}

/* The child process that the witness is about. */
static bool follow(struct dh_witness_run *r, struct dh_err *err)
{
    const struct dh_witness *w = &r->witness;
    struct dh_child_process c = {.identity = w->follow, .program = w->child, .command = w->child};
    if (!w->follow)
        return true;
    strncpy(c.build, w->builds.n ? w->builds.at[0].id : "", sizeof c.build - 1);
    return dh_follow_child(&r->subject, &c, err);
}

bool dh_witness_run_open(struct dh_witness_run *r, char *program, const char *plan, bool healed, struct dh_err *err)
{
    const char *input = r->witness.input[0] ? r->witness.input : NULL;
    r->is_healed = healed;
    dh_vec_push(&r->argv, program ? program : r->witness.program);
    for (size_t i = 0; i < r->witness.arguments.n; i++)
        dh_vec_push(&r->argv, r->witness.arguments.at[i]);
    dh_vec_push(&r->argv, NULL);
    for (size_t i = 0; i < r->witness.environment.n; i++)
        dh_vec_push(&r->environment, r->witness.environment.at[i]);
    dh_vec_push(&r->environment, NULL);
    r->has_subject = dh_open_subject(plan, "replay", r->argv.at, input, &r->subject, err);
    if (!r->has_subject)
        return false;
    r->subject.start.environment = r->environment.at;
    if (!follow(r, err))
        return false;
    if (dh_subject_resolve_witness(&r->subject, &r->witness, &r->plot, err))
        return true;
    err->is_usage = true;
    return false;
}

/* ---- running ---- */

/* The witness does not have addresses of objects; the run that it leads has. */
static bool is_same(const struct dh_engine_party *a, const struct dh_engine_party *b)
{
    return a->thread == b->thread && a->place == b->place && a->kind == b->kind;
}

static void learn(struct dh_witness_run *r, const struct dh_engine_found *end)
{
    for (uint32_t i = 0; i < end->n_decisions && i < r->plot.decisions.n; i++)
        r->plot.decisions.at[i].object = end->decisions[i].object;
    free(r->plot.values);
    r->plot.values = dh_replay_values(end, (uint32_t)r->plot.decisions.n);
    for (uint32_t i = 0; i < r->plot.end->n_parties; i++)
        for (uint32_t k = 0; k < end->n_parties && k < DH_ENGINE_PARTIES; k++)
            if (is_same(&r->plot.end->parties[i], &end->parties[k]))
                r->plot.end->parties[i] = end->parties[k];
}

/* A wrong end that has no finding of its own is a failure by its exit status. */
static bool is_failure(const struct dh_engine_found *end)
{
    return end->kind == DH_ENGINE_ASSERTION || end->kind == DH_ENGINE_CRASH || end->kind == DH_ENGINE_FREED ||
           (end->kind == DH_ENGINE_WRONG && end->outcome.status != 0);
}

/* Under a policy, a failing run that fails at another place is no better. */
static bool fails_elsewhere(const struct dh_witness_run *r, const struct dh_replayed *how)
{
    bool fails = false;
    for (size_t i = 0; i < how->ends.n; i++)
        fails |= is_failure(how->ends.at[i]);
    return fails && r->is_healed && is_failure(r->plot.end);
}

/* Steps that a policy adds are not in the witness: the others are taken in their order as far as possible. Races on the
 * way to the end of a stale witness would take the room that its end needs. */
static unsigned flags_of(const struct dh_witness_run *r)
{
    enum dh_engine_end end = r->plot.end->kind;
    bool no_races = end != DH_ENGINE_RACE && (r->plot.model[0] || end == DH_ENGINE_WRONG);
    return (r->is_healed ? DH_REPLAY_LOOSE : 0) | (no_races ? DH_REPLAY_NO_RACES : 0) |
           (r->for_real ? DH_REPLAY_FOR_REAL : 0);
}

bool dh_witness_run_once(struct dh_witness_run *r, bool *same, struct dh_str *why, struct dh_err *err)
{
    struct dh_schedule s = dh_resolved_witness_schedule(&r->plot);
    struct dh_replayed how;
    if (!dh_replay(&r->subject.start, &s, flags_of(r), DH_REPLAY_PATIENCE_NS, &how, err))
        return false;
    const struct dh_engine_found *end = dh_replayed_find(&how, r->plot.end);
    dh_subject_add_libraries(&r->subject, how.progress);
    *same = end || fails_elsewhere(r, &how);
    if (end)
        learn(r, end);
    else
        dh_replayed_explain(why, &how);
    dh_replayed_release(&how);
    return true;
}

void dh_witness_run_release(struct dh_witness_run *r)
{
    dh_resolved_witness_release(&r->plot);
    if (r->has_subject)
        dh_subject_release(&r->subject);
    if (r->has_witness)
        dh_witness_release(&r->witness);
    dh_vec_release(&r->argv);
    dh_vec_release(&r->environment);
    *r = (struct dh_witness_run){0};
}
