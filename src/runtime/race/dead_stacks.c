/* Use after the end of a thread: its stack and thread-local variables are marked as freed memory when it ends, only
 * where they were accessed, so that ending a thread stays cheap. A thread that gets the stack again clears the marks.
 */
#include "runtime/race/internal.h"

#include "runtime/core/threads.h"
#include "runtime/race/shadow.h"
#include "runtime/race/thread_slots.h"
#include "runtime/report/report.h"
#include "runtime/sync/sync.h"

#include <dlfcn.h>

enum { STEP = 2048, MOST = 64 << 10, EMPTY_STEPS = 2 };

/* True: something in the range had been accessed. */
static bool mark_accessed(uintptr_t from, uintptr_t to, uint32_t number)
{
    uint32_t epoch = dh_epoch_with(dh_epoch(DH_SLOT_FREED, number), DH_MASK_ALL);
    bool any = false;
    for (uintptr_t at = (from + 3) & ~(uintptr_t)3; at + 4 <= to; at += 4) {
        dh_cell *cell = dh_shadow_of(at), old = __atomic_load_n(cell, __ATOMIC_RELAXED);
        if (!old)
            continue;
        any = true;
        if (dh_cell_is_line(old))
            dh_race_forget(&dh_race_tables, cell, at);
        __atomic_store_n(cell, dh_cell_of(epoch, epoch), __ATOMIC_RELAXED);
    }
    return any;
}

static uint32_t add_freed(const struct dh_race_state *s, uintptr_t low, uintptr_t high, enum dh_region region)
{
    struct dh_freed_block f = {.block = {low, high - low, s->index, 0}, .thread = s->index, .dead = region};
    return dh_freed_block_add(&f);
}

/* From the top down, until EMPTY_STEPS were never accessed. */
static void mark_stack(const struct dh_race_state *s, uintptr_t low, uintptr_t high)
{
    low = high - low > MOST ? high - MOST : low;
    uint32_t number = add_freed(s, low, high, DH_REGION_STACK);
    int empty = 0;
    for (uintptr_t to = high; to > low && empty < EMPTY_STEPS;) {
        uintptr_t from = (to - 1) & ~(uintptr_t)(STEP - 1);
        from = from < low ? low : from;
        empty = mark_accessed(from, to, number) ? 0 : empty + 1;
        to = from;
    }
}

/* A stack that the program allocated for a detached thread may be reused at any time: not marked. */
void dh_dead_stack_mark(struct dh_race_state *s)
{
    const struct dh_thread_state *tls = s->tls;
    struct dh_thread *t = tls->thread;
    unsigned flags = t ? atomic_load(&t->flags) : DH_THREAD_FOREIGN;
    if (!s->index || flags & DH_THREAD_FOREIGN || (flags & DH_THREAD_OWN_STACK && flags & DH_THREAD_DETACHED) ||
        tls != &__dh_thread || !dh_race_enter(s))
        return;
    size_t n_tls = dh_slot_tls_size();
    if (tls->stack_high > tls->stack_low)
        mark_stack(s, tls->stack_low, tls->stack_high);
    mark_accessed(s->thread_pointer - n_tls, s->thread_pointer,
                  add_freed(s, s->thread_pointer - n_tls, s->thread_pointer, DH_REGION_TLS));
    if (flags & DH_THREAD_OWN_STACK) {
        t->marked_high = s->thread_pointer > tls->stack_high ? s->thread_pointer : tls->stack_high;
        t->marked_low = tls->stack_high - tls->stack_low > MOST ? tls->stack_high - MOST : tls->stack_low;
    }
    dh_race_leave(s);
}

void dh_dead_stack_unmark(const struct dh_thread *t)
{
    struct dh_race_state *s = __dh_thread.race;
    if (t->marked_high <= t->marked_low || !dh_race_enter(s))
        return;
    dh_race_forget_range(s, t->marked_low, t->marked_high - t->marked_low);
    dh_race_leave(s);
}

/* libc unmaps stacks without calling interposed functions, and what is mapped there next may not be seen either. */
bool dh_dead_stack_is_reused(uintptr_t addr)
{
    struct dl_find_object module;
    struct dh_heap_block block;
    uint32_t thread;
    return dh_region_of(addr, &thread) != DH_REGION_OTHER || dh_heap_block_around(addr, &block) ||
           _dl_find_object((void *)addr, &module) == 0;
}
