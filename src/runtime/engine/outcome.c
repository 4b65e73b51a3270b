#include "runtime/engine/outcome.h"

#include "runtime/engine/raw.h"
#include "runtime/real.h"

/* The sum of what its lines come to; `line` is of the one that is not complete yet. */
struct stream {
    uint64_t sum, line;
    bool open;
};

static struct outcome {
    struct stream streams[2];
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

static uint64_t mix(uint64_t a)
{
    a = (a ^ a >> 30) * 0xbf58476d1ce4e5b9u;
    a = (a ^ a >> 27) * 0x94d049bb133111ebu;
    return a ^ a >> 31;
}

static void end_line(struct stream *s)
{
    s->sum += mix(s->line + 1);
    s->line = 0;
    s->open = false;
}

static void add(struct stream *s, const unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->open = true;
        if (at[i] == '\n')
            end_line(s);
        else
            s->line = (s->line ^ at[i]) * 0x100000001b3u + 0x9e3779b97f4a7c15u;
    }
}

void dh_outcome_call(long number, const long a[6])
{
    if ((a[0] != 1 && a[0] != 2) || !is_wanted())
        return;
    struct stream *s = &outcome->streams[a[0] - 1];
    if (number == SYS_write)
        add(s, (const unsigned char *)a[1], (size_t)a[2]);
    else if (number == SYS_writev)
        for (long i = 0; i < a[2]; i++)
            add(s, ((unsigned char *const *)a[1])[2 * i], ((const size_t *)a[1])[2 * i + 1]);
}

void dh_outcome_flush(void)
{
    if (is_wanted() && dh_engine->running)
        dh_real.fflush(NULL);
}

struct dh_engine_outcome dh_outcome_now(void)
{
    struct stream s[2] = {outcome->streams[0], outcome->streams[1]};
    for (unsigned i = 0; i < 2; i++)
        if (s[i].open)
            end_line(&s[i]);
    return (struct dh_engine_outcome){.status = dh_engine->status, .output = s[0].sum, .errors = s[1].sum};
}

static struct dh_engine_outcome *find(const struct dh_engine_outcome *o)
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
    struct dh_engine_outcome *known = find(o);
    if (!known) {
        c->progress.outcome_new_at = c->progress.schedules + 1;
        if (c->n_outcomes == DH_ENGINE_OUTCOMES)
            return;
        known = &c->outcomes[c->n_outcomes];
        *known = *o;
        c->n_outcomes++;
    }
    known->times++;
}

/* What a stream comes to does not count where the tool found it to be another in every run: then all have UINT64_MAX.
 */
static void leave_out(struct dh_engine_outcome *o)
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
    leave_out(&o);
    if (e->flags & DH_ENGINE_JUDGE && !find(&o))
        e->end = DH_ENGINE_WRONG;
}
