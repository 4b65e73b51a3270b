#include "runtime/engine/checks/stall.h"

#include "runtime/engine/ends/schedule_ends.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/system/time/timers.h"

/* A program that idles for as long before it goes on would do so natively, too. */
#define IDLE_NS (120 * 1000000000ull)
enum { ROUNDS = 64, ROUNDS_OF_EACH = 8 };

/* Since a task last went on by itself. */
static struct {
    uint32_t from; /* decision */
    uint32_t rounds;
    uint64_t idle_ns;
} stall;

static void begin_at(uint32_t decision)
{
    stall.from = decision;
    stall.rounds = 0;
    stall.idle_ns = 0;
}

void dh_stall_begin(void)
{
    begin_at(0);
}

bool dh_stall_is_stuck(struct dh_engine *e, uint32_t task)
{
    const struct dh_task *t = &e->tasks[task];
    dh_engine_alternatives *alternatives = e->alternatives[task];
    e->asking = t;
    return !e->actors[task].ended && !t->is_daemon && alternatives && !dh_virtual_time_ends(dh_task_step(t)) &&
           !alternatives(t);
}

/* One that can go on may do what others wait for, however slow it is. */
static bool only_times_out(const struct dh_engine *e, uint32_t task)
{
    const struct dh_task *t = &e->tasks[task];
    return dh_virtual_time_is_awaited(e, task) && t->timed_out > stall.from && t->rounds >= ROUNDS_OF_EACH;
}

/* Every task is stuck or was woken by time alone, each again and again. What a timer does later is not known. */
static bool is_stalled(struct dh_engine *e)
{
    uint32_t stuck = 0;
    if (dh_timers_are_armed())
        return false;
    for (uint32_t i = 0; i < e->n_tasks; i++) {
        const struct dh_task *t = &e->tasks[i];
        if (e->actors[i].ended || t->is_daemon || dh_schedule_ends_is_helper(i))
            continue;
        bool is_stuck = dh_stall_is_stuck(e, i);
        if (dh_schedule_ends_waits_for_outside(i) || (!is_stuck && !only_times_out(e, i)))
            return false;
        stuck += is_stuck;
    }
    return stuck;
}

bool dh_stall_step(struct dh_engine *e, struct dh_choice c)
{
    if (c.thread >= e->n_tasks || e->tasks[c.thread].is_daemon)
        return false;
    struct dh_task *t = &e->tasks[c.thread];
    if (!dh_virtual_time_is_end(t, c.alternative)) {
        if (t->timed_out <= stall.from)
            begin_at(e->depth);
        return false;
    }
    uint64_t wakes = dh_virtual_time_wakes(t);
    t->rounds = t->timed_out > stall.from ? t->rounds + 1 : 1;
    t->timed_out = e->depth;
    stall.idle_ns += wakes > e->now_ns && wakes != UINT64_MAX ? wakes - e->now_ns : 0;
    return ++stall.rounds >= ROUNDS && stall.idle_ns >= IDLE_NS && is_stalled(e);
}
