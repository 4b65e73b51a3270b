#include "runtime/engine/checks/livelock.h"

#include "base/hash.h"
#include "runtime/core/thread_state.h"

enum { STACK_MOST = 1 << 18 };

/* Registers at the latest entry; tasks run one at a time. */
struct entry {
    uint64_t kept[6]; /* callee-saved registers */
    uintptr_t sp;     /* 0: used already */
};

extern uint8_t dh_livelock_watches;
extern struct entry dh_livelock_entry;
__attribute__((visibility("hidden"))) uint8_t dh_livelock_watches;
__attribute__((visibility("hidden"))) struct entry dh_livelock_entry;

void dh_livelock_watch(struct dh_engine *e)
{
    for (uint32_t i = 0; i < e->n_tasks; i++)
        e->tasks[i].livelock = (struct dh_livelock_state){0};
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

static uint64_t state_hash(const struct entry *entry, uint32_t place)
{
    uintptr_t high = __dh_thread.stack_high, here = (uintptr_t)__builtin_frame_address(0);
    if (entry->sp <= here || entry->sp >= high || entry->sp & 7 || high - entry->sp > STACK_MOST)
        return 0;
    uint64_t hash = dh_hash_fold(1, place);
    for (unsigned i = 0; i < sizeof entry->kept / sizeof *entry->kept; i++)
        hash = dh_hash_fold(hash, entry->kept[i]);
    for (const volatile uint64_t *at = (const uint64_t *)entry->sp; (uintptr_t)(at + 1) <= high; at++)
        hash = dh_hash_fold(hash, *at);
    return hash ? hash : 1;
}

/* Brent's cycle detection: marks at growing distances find a cycle of any length after any prefix. */
void dh_livelock_check_task(struct dh_task *t)
{
    struct dh_livelock_state *r = &t->livelock;
    uint64_t state = state_hash(&dh_livelock_entry, dh_task_step(t)->site);
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
        if (!e->actors[i].ended && e->actors[i].enabled && !e->tasks[i].livelock.recurs)
            return false;
    return true;
}
