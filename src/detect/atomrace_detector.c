/* AtomRace on the event stream: collisions are seen when they happen and cannot be computed again, so they are recorded
 * and here validated. The two accesses must be of different threads and have common bytes, and one must write; anything
 * else in a trace is ignored. */
#include "base/alloc.h"
#include "base/vec.h"
#include "detect/detector.h"

#include <stdlib.h>

struct atomrace {
    struct dh_run_state *run;
    DH_VEC(struct dh_event) first; /* by thread: the access whose counterpart is to come; kind 0: none */
};

const struct dh_detector dh_detector_atomrace;

static uint64_t size_of(const struct dh_event *e)
{
    return e->arg & UINT32_MAX;
}

static uint32_t other_of(const struct dh_event *e)
{
    return (uint32_t)(e->arg >> 32);
}

static struct dh_event *first_of(struct atomrace *a, uint32_t thread)
{
    if (thread >= DH_RUN_THREADS_MAX)
        return NULL;
    while (a->first.n <= thread)
        dh_vec_push(&a->first, (struct dh_event){0});
    return &a->first.at[thread];
}

static bool overlap(const struct dh_event *a, const struct dh_event *b)
{
    return a->addr - b->addr < size_of(b) || b->addr - a->addr < size_of(a);
}

static struct dh_suspect suspect(const struct dh_event *e, uint32_t thread)
{
    return (struct dh_suspect){.op = e->flags & DH_EVENT_WROTE ? DH_OP_WRITE : DH_OP_READ,
                               .thread = thread,
                               .site = e->site,
                               .ctx = e->ctx,
                               .addr = e->addr,
                               .size = size_of(e)};
}

static void collided(struct atomrace *a, const struct dh_event *mine, const struct dh_event *other)
{
    uint32_t thread = other_of(other);
    if (thread == mine->thread || thread != other_of(mine) || !overlap(mine, other) ||
        !((mine->flags | other->flags) & DH_EVENT_WROTE))
        return;
    struct dh_suspect both[] = {suspect(mine, mine->thread), suspect(other, thread)};
    uint64_t from = mine->addr > other->addr ? mine->addr : other->addr;
    uint64_t mine_end = mine->addr + size_of(mine), other_end = other->addr + size_of(other);
    struct dh_suspicion s = {
        .kind = DH_FINDING_RACE,
        .level = DH_LEVEL_OBSERVED,
        .addr = from,
        .size = (mine_end < other_end ? mine_end : other_end) - from,
        .suspects = both,
        .n_suspects = 2,
        .text = "both threads were between the events before and after these accesses at the same time"};
    dh_run_report(a->run, &dh_detector_atomrace, &s);
}

static void *begin_detector(struct dh_run_state *w, const struct dh_detector_options *o, const char **why)
{
    (void)o, (void)why;
    struct atomrace *a = DH_NEW(struct atomrace);
    a->run = w;
    return a;
}

static void event(void *self, const struct dh_event *e)
{
    struct atomrace *a = self;
    struct dh_event *first = first_of(a, e->thread);
    if (!first)
        return;
    if (e->kind == DH_EVENT_COLLISION)
        *first = *e;
    else if (e->kind == DH_EVENT_COLLISION_WITH && first->kind) {
        collided(a, first, e);
        first->kind = 0;
    }
}

static void end_stream(void *self)
{
    (void)self;
}

static void release(void *self)
{
    struct atomrace *a = self;
    dh_vec_release(&a->first);
    free(a);
}

const struct dh_detector dh_detector_atomrace = {.name = "atomrace",
                                                 .summary = "accesses that really overlapped, as recorded",
                                                 .events = DH_EVENTS_COLLISION,
                                                 .begin = begin_detector,
                                                 .event = event,
                                                 .end = end_stream,
                                                 .release = release};
