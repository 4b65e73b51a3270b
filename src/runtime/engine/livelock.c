#include "runtime/engine/livelock.h"

#include "runtime/core/thread_state.h"

enum { STACK_MOST = 1 << 18 };

/* Of the last entry; tasks run one at a time. */
struct entry {
    uint64_t kept[6]; /* registers that calls keep */
    uintptr_t sp;     /* 0: taken */
};

extern uint8_t dh_livelock_watches;
extern struct entry dh_livelock_entry;
__attribute__((visibility("hidden"))) uint8_t dh_livelock_watches;
__attribute__((visibility("hidden"))) struct entry dh_livelock_entry;

void dh_livelock_watch(struct dh_engine *e)
{
    for (uint32_t i = 0; i < e->n_tasks; i++)
        e->tasks[i].recurrence = (struct dh_livelock_state){0};
    dh_livelock_entry.sp = 0;
    dh_livelock_watches = 1;
}

void dh_livelock_stop(void)
{
    dh_livelock_watches = 0;
}

bool dh_livelock_is_watching(void)
{
    return dh_livelock_watches;
}

static uint64_t add(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* 0: not known. */
static uint64_t state_now(const struct entry *entry, uint32_t place)
{
    uintptr_t high = __dh_thread.stack_high, here = (uintptr_t)__builtin_frame_address(0);
    if (entry->sp <= here || entry->sp >= high || entry->sp & 7 || high - entry->sp > STACK_MOST)
        return 0;
    uint64_t hash = add(1, place);
    for (unsigned i = 0; i < sizeof entry->kept / sizeof *entry->kept; i++)
        hash = add(hash, entry->kept[i]);
    for (const volatile uint64_t *at = (const uint64_t *)entry->sp; (uintptr_t)(at + 1) <= high; at++)
        hash = add(hash, *at);
    return hash ? hash : 1;
}

/* With marks further and further apart (Brent's way), whatever comes before the circle, and however long that is. */
void dh_livelock_check_task(struct dh_task *t)
{
    struct dh_livelock_state *r = &t->recurrence;
    uint64_t state = state_now(&dh_livelock_entry, dh_task_step(t)->site);
    dh_livelock_entry.sp = 0;
    if (!state || r->recurs)
        return;
    r->recurs = state == r->mark;
    if (r->steps++ >= r->until) {
        r->mark = state;
        r->until = 2 * r->steps;
    }
}

bool dh_livelock_of_all(const struct dh_engine *e)
{
    for (uint32_t i = 0; i < e->n_tasks; i++)
        if (!e->actors[i].ended && e->actors[i].enabled && !e->tasks[i].recurrence.recurs)
            return false;
    return true;
}
