#include "runtime/engine/checks/spin_loops.h"

#include "runtime/core/thread_state.h"

enum { KNOWN = 4, TURNS = 2 };

static void forget(struct dh_task *t)
{
    t->may_spin = false;
    for (unsigned i = 0; i < KNOWN; i++)
        t->spin[i].place = UINT32_MAX;
}

static uint64_t value_at(const struct dh_step *s)
{
    uint64_t value = 0;
    const char *at = (const char *)(uintptr_t)s->object;
    for (unsigned i = 0; i < s->size && i < sizeof value; i++)
        value |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return value;
}

/* A failed compare-exchange wrote nothing; one that will succeed reads another value. An update that changes memory
 * reads another value the next time. */
bool dh_spin_loops_at_access(struct dh_task *t, const struct dh_step *s)
{
    if (s->kind == DH_STEP_WRITE || s->kind == DH_STEP_COPY) {
        forget(t);
        return false;
    }
    uint64_t value = value_at(s);
    for (unsigned i = 0; i < KNOWN; i++) {
        struct dh_spin_history *h = &t->spin[i];
        if (h->place != s->site || h->object != s->object)
            continue;
        bool same = h->value == value && h->path == t->path_hash;
        h->value = value;
        h->path = t->path_hash;
        h->same = same ? h->same + 1 : 0;
        return h->same >= TURNS;
    }
    t->may_spin = true;
    t->spin[t->spin_next++ % KNOWN] = (struct dh_spin_history){s->object, value, t->path_hash, s->site, 0};
    return false;
}

/* Its own stack may hold variables of the loop. */
void dh_spin_loops_wrote(struct dh_task *t, uintptr_t address)
{
    if (t->may_spin && (address < __dh_thread.stack_low || address >= __dh_thread.stack_high))
        forget(t);
}

bool dh_spin_loops_at_sync(struct dh_task *t, const struct dh_step *s)
{
    if (s->kind == DH_STEP_YIELD || s->kind == DH_STEP_SLEEP)
        return !s->second; /* it computes */
    if (!(s->flags & DH_STEP_TRY) && s->kind != DH_STEP_FENCE && s->kind != DH_STEP_UNLOCK)
        forget(t);
    return false;
}
