/* The exact hooks, around every access of instrumented code: visible ones park, the others are only checked. */
#include "runtime/core/public_hooks.h"

#include "base/hash.h"
#include "event/site.h"
#include "runtime/core/thread_state.h"
#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/checks/atomic_sections.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/checks/hidden_accesses.h"
#include "runtime/engine/checks/livelock.h"
#include "runtime/engine/checks/quarantine.h"
#include "runtime/engine/checks/spin_loops.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/hook_removal.h"
#include "runtime/engine/primitives/primitives.h"

enum {
    WHAT_OP = 0xFF,
    WHAT_ORDER_SHIFT = 8,
    WHAT_ORDER = 0xF,
    WHAT_SIZE_SHIFT = 16,
    INVISIBLE_MOST = 20000, /* accesses, */
    SAMPLED = 1024,         /* of which the last are looked at: */
    COMPUTES_LEAST = 32,    /* of 64 bits by address, those of a task that computes, */
    COMPUTED_MOST = 1024,   /* at most so many times in a row */
};

static const struct {
    uint8_t kind;
    uint8_t flags;
} of_op[] = {
    [DH_OP_READ] = {DH_STEP_READ, DH_STEP_READS},
    [DH_OP_WRITE] = {DH_STEP_WRITE, DH_STEP_WRITES},
    [DH_OP_ATOMIC_LOAD] = {DH_STEP_READ, DH_STEP_READS | DH_STEP_ATOMIC},
    [DH_OP_ATOMIC_STORE] = {DH_STEP_WRITE, DH_STEP_WRITES | DH_STEP_ATOMIC},
    [DH_OP_ATOMIC_RMW] = {DH_STEP_RMW, DH_STEP_READS | DH_STEP_WRITES | DH_STEP_ATOMIC},
    [DH_OP_ATOMIC_CAS] = {DH_STEP_RMW, DH_STEP_READS | DH_STEP_WRITES | DH_STEP_ATOMIC},
    [DH_OP_COPY] = {DH_STEP_COPY, DH_STEP_WRITES | DH_STEP_RANGE},
    [DH_OP_MOVE] = {DH_STEP_COPY, DH_STEP_WRITES | DH_STEP_RANGE},
    [DH_OP_SET] = {DH_STEP_WRITE, DH_STEP_WRITES},
};

static inline bool is_visible(const struct dh_engine *e, unsigned op, uint32_t place)
{
    return (op >= DH_OP_ATOMIC_LOAD && op <= DH_OP_ATOMIC_CAS) || (place < e->n_visible && e->visible[place]) ||
           e->flags & DH_ENGINE_ALL_VISIBLE;
}

/* A task with no visible operation for long may wait for another one in a loop, or compute: then it need not give way.
 * Who computes accesses more than a loop that waits. */
static void yield_at(struct dh_task *t, uint32_t place)
{
    unsigned touched = 0;
    for (uint64_t bits = t->touched; bits; bits &= bits - 1)
        touched++;
    t->computed = touched >= COMPUTES_LEAST ? t->computed + 1 : 0;
    bool computes = t->computed && t->computed <= COMPUTED_MOST;
    struct dh_step s = {.kind = DH_STEP_YIELD, .site = place, .object = 1, .second = computes};
    t->touched = 0;
    dh_engine_park(&s);
}

static __attribute__((noinline)) void pass_long(struct dh_task *t, const void *addr, uint32_t place)
{
    t->touched |= 1ull << (dh_hash_multiply((uint64_t)(uintptr_t)addr >> 3) >> 58);
    if (t->invisible_accesses > INVISIBLE_MOST)
        yield_at(t, place);
}

static uint64_t value_at(const void *addr, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = (value << 8 | value >> 56) ^ ((const unsigned char *)addr)[i];
    return value;
}

static struct dh_step step_of(const void *addr, const void *src, size_t size, uint32_t what, uint32_t place)
{
    unsigned op = what & WHAT_OP;
    return (struct dh_step){
        .kind = of_op[op].kind,
        .order = (uint8_t)(what >> WHAT_ORDER_SHIFT & WHAT_ORDER),
        .flags = op == DH_OP_ATOMIC_CAS ? of_op[op].flags | DH_STEP_COMPARES
                 : src                  ? of_op[op].flags
                                        : of_op[op].flags & (uint16_t)~DH_STEP_RANGE,
        .site = place,
        .object = (uint64_t)(uintptr_t)addr,
        .second = op == DH_OP_ATOMIC_CAS ? what >> DH_WHAT_FAILURE_SHIFT & WHAT_ORDER : (uint64_t)(uintptr_t)src,
        .size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
    };
}

/* With an adversary, only a sample of the accesses at busy places are steps. */
static __attribute__((noinline)) bool is_sampled(const void *addr, const void *src, size_t size, uint32_t what,
                                                 uint32_t place)
{
    struct dh_step s = step_of(addr, src, size, what, place);
    return dh_adversary_samples(&s);
}

static void adversary_before(const struct dh_step *s, uint32_t alternative)
{
    dh_adversary_before(s, alternative);
    dh_engine->wants_after |= dh_adversary_bounds->access_pending;
}

/* `around`: __dh_after follows. */
static __attribute__((noinline)) void visible_access(struct dh_task *t, const void *addr, const void *src, size_t size,
                                                     uint32_t what, uint32_t place, bool around)
{
    struct dh_engine *e = dh_engine;
    struct dh_step s = step_of(addr, src, size, what, place);
    bool adversary = around && dh_adversary_is_on();
    if (adversary)
        dh_adversary_prepare(&s);
    if (adversary && dh_adversary_serves(&s))
        e->alternatives[t->index] = e->heuristic_picks ? NULL : dh_adversary_alternatives;
    uint32_t alternative = dh_engine_park(&s);
    e->wants_after = e->values || (what & WHAT_OP) == DH_OP_ATOMIC_CAS;
    s.occurrence = dh_task_step(t)->occurrence;
    if (adversary)
        adversary_before(&s, alternative);
    if (e->values)
        dh_access_values_before(t, addr, size);
    if (place < e->n_visible && e->visible[place] & ~DH_ENGINE_VISIBLE)
        dh_atomic_sections_access(dh_task_step(t), e->visible[place]);
    if ((what & WHAT_OP) == DH_OP_ATOMIC_CAS)
        t->cas_before = value_at(addr, size);
}

static __attribute__((noinline)) void invisible_access(struct dh_task *t, const void *addr, const void *src,
                                                       size_t size, uint32_t what, uint32_t place, bool around)
{
    struct dh_step s = step_of(addr, src, size, what, place);
    if (dh_adversary_is_on())
        dh_adversary_flush(&s);
    dh_hb_check_access(&s);
    if (!around || !dh_adversary_is_on())
        return;
    bool serves = dh_adversary_serves(&s);
    if (!serves && !dh_adversary_is_near(&s))
        return;
    dh_hb_check_executed();
    s.occurrence = UINT32_MAX;
    adversary_before(&s, serves && dh_engine->flags & DH_ENGINE_INLINE ? dh_adversary_pick(t->index, &s) : 0);
    dh_adversary_access_unscheduled();
}

/* The thread made the same access in this epoch, or a stronger one, and no other thread came in between. Accesses of
 * signal handlers are noted one by one. */
static inline bool is_known(const struct dh_engine *e, const struct dh_task *t, const void *addr, size_t size,
                            unsigned op)
{
    return e->known && op <= DH_OP_WRITE && !t->handlers &&
           dh_shadow_knows(e->known, (uint64_t)(uintptr_t)addr, size, op == DH_OP_WRITE);
}

/* Plain accesses whose hooks have nothing to do. */
static inline bool is_hidden(const struct dh_engine *e, unsigned op, uint32_t place)
{
    return dh_hidden_accesses_at(e, place) && !(op >= DH_OP_ATOMIC_LOAD && op <= DH_OP_ATOMIC_CAS);
}

static inline void look_at_hidden(const struct dh_engine *e, const void *addr, size_t size, unsigned op, uint32_t place)
{
    if (e->samples_hidden)
        dh_hidden_accesses_sample(addr, size, of_op[op].flags & DH_STEP_WRITES, place);
}

/* The hot path: most accesses are invisible. */
static inline void before(const void *addr, const void *src, size_t size, uint32_t what, uint32_t place, bool around)
{
    struct dh_engine *e = dh_engine;
    struct dh_task *t = e->current;
    unsigned op = what & WHAT_OP;
    if (!t)
        return;
    if (is_hidden(e, op, place)) {
        t->last_place = place;
        look_at_hidden(e, addr, size, op, place);
        return;
    }
    if (is_visible(e, op, place) && (!around || !dh_adversary_is_on() || is_sampled(addr, src, size, what, place))) {
        visible_access(t, addr, src, size, what, place, around);
    } else {
        t->last_place = place;
        e->operations++;
        if (e->hides && place < e->n_visible)
            look_at_hidden(e, addr, size, op, place);
        else if (++t->invisible_accesses > INVISIBLE_MOST - SAMPLED)
            pass_long(t, addr, place);
        dh_spin_loops_passed(t, (uintptr_t)addr, place, of_op[op].flags & DH_STEP_WRITES);
        if (e->sees_invisible && !is_known(e, t, addr, size, op))
            invisible_access(t, addr, src, size, what, place, around);
    }
    if (dh_quarantine_may_hold(e->freed, (uintptr_t)addr, size))
        dh_quarantine_check_access((uintptr_t)addr, size);
}

void dh_engine_library_access(const void *at, size_t size, bool writes)
{
    const struct dh_task *t = dh_engine->current;
    uint32_t place = __dh_thread.place;
    if (!size || !t || at == t->announced[0] || at == t->announced[1])
        return;
    if (dh_adversary_is_on())
        dh_adversary_before_library(at, size);
    before(at, NULL, size, writes ? DH_OP_WRITE : DH_OP_READ, place == DH_PLACE_NONE ? 0 : place, false);
    if (writes)
        dh_adversary_forget((uintptr_t)at, size);
}

void dh_engine_library_atomic(const volatile void *at, uint32_t what, uint32_t place)
{
    if (!dh_engine->current)
        return;
    if (dh_adversary_is_on())
        dh_adversary_before_library((const void *)at, what >> WHAT_SIZE_SHIFT);
    before((const void *)at, NULL, what >> WHAT_SIZE_SHIFT, what, place == DH_PLACE_NONE ? 0 : place, false);
}

void dh_engine_library_atomic_done(const volatile void *at, uint32_t what, bool wrote)
{
    const struct dh_task *t = dh_engine->current;
    if (!t)
        return;
    if (dh_engine->wants_after && dh_engine->values)
        dh_access_values_after(t, (const void *)at, what >> WHAT_SIZE_SHIFT);
    dh_engine->wants_after = false;
    if (!wrote)
        dh_engine->executed.flags &= (uint16_t)~DH_STEP_WRITES;
    else if (dh_adversary_is_on())
        dh_adversary_forget((uintptr_t)at, what >> WHAT_SIZE_SHIFT);
}

/* A fence is no step: it only orders. */
void dh_engine_fence(uint32_t order, uint32_t place)
{
    struct dh_step s = {.kind = DH_STEP_FENCE, .order = (uint8_t)order, .site = place};
    if (!dh_engine->current)
        return;
    if (dh_adversary_is_on())
        dh_adversary_flush(&s);
    dh_hb_check_fence(&s);
}

static inline void remove_if_hidden(uint32_t what, uint32_t place, const void *return_address)
{
    struct dh_engine *e = dh_engine;
    if (e->hides && !e->samples_hidden && is_hidden(e, what & WHAT_OP, place))
        dh_hook_removal_remove(return_address);
}

void dh_before(void *addr, uint32_t what, uint32_t place);
void dh_before(void *addr, uint32_t what, uint32_t place)
{
    if (!dh_engine_on)
        return;
    before(addr, NULL, what >> WHAT_SIZE_SHIFT, what, place, true);
    remove_if_hidden(what, place, __builtin_return_address(0));
}

DH_LIVELOCK_ENTRY("__dh_before", "", "dh_before");

void __dh_before_range(void *dst, const void *src, size_t size, uint32_t what, uint32_t place)
{
    if (!dh_engine_on || !size)
        return;
    before(dst, src, size, what, place, true);
    if (dh_engine->current) {
        dh_engine->current->announced[0] = dst;
        dh_engine->current->announced[1] = src;
    }
}

void __dh_after(void *addr, uint32_t what, uint32_t place)
{
    if (!dh_engine_on)
        return;
    remove_if_hidden(what, place, __builtin_return_address(0));
    if (!dh_engine->wants_after)
        return;
    dh_engine->wants_after = false;
    const struct dh_task *t = dh_engine->current;
    if (dh_engine->values && t)
        dh_access_values_after(t, addr, what >> WHAT_SIZE_SHIFT);
    /* A compare-exchange that changed nothing counts as failed. */
    if (t && (what & WHAT_OP) == DH_OP_ATOMIC_CAS && t->cas_before == value_at(addr, what >> WHAT_SIZE_SHIFT))
        dh_engine->executed.flags &= (uint16_t)~DH_STEP_WRITES;
    if (t)
        dh_adversary_after();
}

void __dh_after_range(void *dst, const void *src, size_t size, uint32_t what, uint32_t place)
{
    (void)dst, (void)src, (void)size, (void)what, (void)place;
    if (!dh_engine_on || !dh_engine->current)
        return;
    dh_engine->wants_after = false;
    dh_engine->current->announced[0] = dh_engine->current->announced[1] = NULL;
    dh_adversary_after();
}
