#include "runtime/engine/ends/outcome.h"

#include "event/output_digest.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/interpose/real.h"

static struct outcome {
    struct dh_output_digest streams[2];
} *outcome;

static bool is_wanted(void)
{
    return dh_engine->flags & (DH_ENGINE_COLLECT | DH_ENGINE_JUDGE);
}

bool dh_outcome_init(void)
{
    outcome = dh_keep_alloc(sizeof *outcome);
    return outcome;
}

void dh_outcome_begin(void)
{
    *outcome = (struct outcome){0};
}

static void add_output(unsigned stream, const void *at, size_t n)
{
    dh_output_digest_add(&outcome->streams[stream], at, n, stream == 1);
}

void dh_outcome_call(long number, const long a[6])
{
    if ((a[0] != 1 && a[0] != 2) || !is_wanted())
        return;
    unsigned s = (unsigned)a[0] - 1;
    if (number == SYS_write)
        add_output(s, (const void *)a[1], (size_t)a[2]);
    else if (number == SYS_writev)
        for (long i = 0; i < a[2]; i++)
            add_output(s, ((void *const *)a[1])[2 * i], ((const size_t *)a[1])[2 * i + 1]);
}

void dh_outcome_flush(void)
{
    if (is_wanted() && dh_engine->running)
        dh_real.fflush(NULL);
}

struct dh_engine_outcome dh_outcome_now(void)
{
    return (struct dh_engine_outcome){.status = dh_engine->status,
                                      .output = dh_output_digest_sum(outcome->streams[0]),
                                      .errors = dh_output_digest_sum(outcome->streams[1])};
}

static struct dh_engine_outcome *find_outcome(const struct dh_engine_outcome *o)
{
    struct dh_engine_control *c = dh_engine->control;
    for (uint32_t i = 0; i < c->n_outcomes && i < DH_ENGINE_OUTCOMES; i++)
        if (c->outcomes[i].status == o->status && c->outcomes[i].output == o->output &&
            c->outcomes[i].errors == o->errors)
            return &c->outcomes[i];
    return NULL;
}

static void collect(const struct dh_engine_outcome *o)
{
    struct dh_engine_control *c = dh_engine->control;
    struct dh_engine_outcome *known = find_outcome(o);
    if (!known) {
        if (c->n_outcomes == DH_ENGINE_OUTCOMES)
            return;
        known = &c->outcomes[c->n_outcomes];
        *known = *o;
        c->n_outcomes++;
    }
    known->times++;
}

/* A stream that differs in every run does not count: then all outcomes have UINT64_MAX. */
static void ignore_varying(struct dh_engine_outcome *o)
{
    const struct dh_engine_outcome *first = &dh_engine->control->outcomes[0];
    if (!dh_engine->control->n_outcomes)
        return;
    if (first->output == UINT64_MAX)
        o->output = UINT64_MAX;
    if (first->errors == UINT64_MAX)
        o->errors = UINT64_MAX;
}

void dh_outcome_end(void)
{
    struct dh_engine *e = dh_engine;
    struct dh_engine_outcome o = dh_outcome_now();
    if (e->end != DH_ENGINE_DONE)
        return;
    if (e->flags & DH_ENGINE_COLLECT)
        collect(&o);
    ignore_varying(&o);
    if (e->flags & DH_ENGINE_JUDGE && !find_outcome(&o))
        e->end = DH_ENGINE_WRONG;
}
