/* Object consistency on the event stream: reports the interleavings that the checks inside the program recorded
 * (consistency.h). They depend on timing that no trace has, so nothing is computed here. */
#include "detect/consistency.h"
#include "detect/detector.h"

#include <stdlib.h>

/* What a thread has recorded of an interleaving so far: the access, the other one, then its own earlier one. */
struct partial {
    struct dh_event here, other;
    bool has_here, has_other;
};

struct consistency {
    struct dh_run_state *run;
    DH_VEC(struct partial) threads;
};

const struct dh_detector dh_detector_consistency;

static void *begin_detector(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    (void)o;
    struct consistency *c = calloc(1, sizeof *c);
    if (!c)
        *why = "there is no memory";
    else
        c->run = w;
    return c;
}

static struct partial *partial_of(struct consistency *c, uint32_t thread)
{
    while (c->threads.n <= thread)
        dh_vec_push(&c->threads, (struct partial){0});
    return &c->threads.at[thread];
}

static bool writes(const struct dh_event *e)
{
    return !(e->flags & DH_EVENT_SHARED);
}

static struct dh_suspect suspect_of(const struct dh_event *e, uint32_t thread, const char *note)
{
    return (struct dh_suspect){.op = writes(e) ? DH_OP_WRITE : DH_OP_READ,
                               .thread = thread,
                               .site = e->site,
                               .addr = e->addr,
                               .size = e->arg & UINT32_MAX,
                               .note = note};
}

static void report(struct consistency *c, const struct partial *t, const struct dh_event *before)
{
    bool suspected = t->here.flags & DH_EVENT_TRY;
    struct dh_suspect all[] = {suspect_of(before, t->here.thread, "first in the function's call"),
                               suspect_of(&t->other, (uint32_t)(t->here.arg >> 32), NULL),
                               suspect_of(&t->here, t->here.thread, "in the same call")};
    struct dh_collision what = {.kind = DH_COLLISION_INTERLEAVED,
                                .before_writes = writes(before),
                                .other_writes = writes(&t->other),
                                .here_writes = writes(&t->here)};
    all[2].ctx = t->here.ctx;
    struct dh_suspicion s = {.kind = DH_FINDING_ATOMICITY,
                             .level = suspected ? DH_LEVEL_SUSPECTED : DH_LEVEL_OBSERVED,
                             .addr = t->here.addr,
                             .size = t->here.arg & UINT32_MAX,
                             .suspects = all,
                             .n_suspects = 3,
                             .text = suspected ? "another thread wrote it while one call of a function worked on it"
                                               : dh_collision_text(&what)};
    dh_run_report(c->run, &dh_detector_consistency, &s);
}

static void event(void *self, const struct dh_event *e)
{
    struct consistency *c = self;
    if (e->thread >= DH_RUN_THREADS_MAX)
        return;
    struct partial *t = partial_of(c, e->thread);
    if (e->kind == DH_EVENT_INTERLEAVED) {
        *t = (struct partial){.here = *e, .has_here = true};
    } else if (e->kind != DH_EVENT_INTERLEAVED_WITH) {
        return;
    } else if (!(e->flags & DH_EVENT_AGAIN)) {
        t->other = *e;
        t->has_other = t->has_here;
    } else {
        if (t->has_other)
            report(c, t, e);
        *t = (struct partial){0};
    }
}

static void end_stream(void *self)
{
    (void)self;
}

static void release(void *self)
{
    struct consistency *c = self;
    dh_vec_release(&c->threads);
    free(c);
}

const struct dh_detector dh_detector_consistency = {
    .name = "consistency",
    .summary = "functions of two threads that worked on one object at once, as the run saw it",
    .events = DH_EVENTS_COLLISION,
    .begin = begin_detector,
    .event = event,
    .end = end_stream,
    .release = release,
};
