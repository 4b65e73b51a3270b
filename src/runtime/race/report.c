/* From a hit of the detector to a report: who, where, with which stacks and locks, in which object. */
#include "runtime/race/internal.h"

#include "runtime/core/alloc.h"
#include "runtime/core/bytes.h"
#include "runtime/core/context.h"
#include "runtime/core/sync.h"
#include "runtime/core/threads.h"
#include "runtime/race/thread_slots.h"
#include "runtime/report/report.h"
#include "runtime/report/vector_state.h"

#define STRETCH_BITS 7 /* of memory in which one place is taken to have written everything, in bytes */

static void set_place(struct dh_report_access *a, uint32_t place)
{
    a->module = dh_module_of_place(&place);
    a->place = place == DH_PLACE_NONE ? UINT32_MAX : place;
}

static uint32_t size_told(const struct dh_block *block)
{
    return block->size > UINT32_MAX ? UINT32_MAX : (uint32_t)block->size;
}

static void describe_now(struct dh_race_state *s, const struct dh_race_hit *hit, struct dh_report_access *a)
{
    a->thread = s->index;
    a->flags = (hit->writes ? DH_ACCESS_WRITE : 0) | (hit->atomic ? DH_ACCESS_ATOMIC : 0) |
               (s->has_value ? DH_ACCESS_HAS_VALUE : 0) | (s->by_library ? DH_ACCESS_BY_LIBRARY : 0) |
               (s->frees ? DH_ACCESS_FREE : 0);
    a->context = s->report_context ? s->report_context : dh_race_context(s);
    a->addr = s->access_addr;
    a->size = s->frees ? size_told(s->frees) : s->access_size; /* the check may have looked at its beginning only */
    a->value = s->value;
    set_place(a, hit->place);
    for (uint32_t i = 0; i < s->n_held && i < DH_REPORT_LOCKS; i++)
        a->lock[a->n_locks++] = (struct dh_report_lock){s->held[i].lock, s->held[i].context, s->held[i].shared};
}

static void take_answer(struct dh_report_access *a, const struct dh_history_answer *found)
{
    a->context = found->context;
    a->addr = found->addr;
    a->size = found->size;
    if (found->place == DH_PLACE_NONE)
        a->flags |= DH_ACCESS_BY_LIBRARY;
    set_place(a, found->place);
    for (uint32_t i = 0; i < found->n_locks && i < DH_REPORT_LOCKS; i++)
        a->lock[a->n_locks++] = (struct dh_report_lock){found->lock[i].lock & ~(uintptr_t)1, found->lock[i].context,
                                                        found->lock[i].lock & 1};
}

/* A write is in both halves of a cell. When the line tells them apart again, bytes that were only written may stand
 * among those read: the write is in the line as well, and races with whatever that read would race with. */
static bool is_half_of_write(const struct dh_race_state *s, struct dh_history_query q)
{
    struct dh_history_answer unused;
    if (q.wrote || q.atomic)
        return false;
    q.wrote = true;
    return dh_history_find(&s->history, &q, &unused);
}

/* False: there was no such access. */
static bool describe_before(const struct dh_race_hit *hit, struct dh_report_access *a)
{
    bool real = true;
    struct dh_history_query q = {
        .time = hit->before, .addr = hit->addr, .wrote = hit->wrote, .atomic = hit->was_atomic};
    struct dh_history_answer found;
    struct dh_race_state *s = dh_slot_user_at(hit->before, &a->thread);
    a->flags = (hit->wrote ? DH_ACCESS_WRITE : 0) | (hit->was_atomic ? DH_ACCESS_ATOMIC : 0);
    a->addr = hit->addr;
    a->size = (uint32_t)__builtin_popcountll(hit->bytes);
    a->place = UINT32_MAX;
    if (s && dh_history_find(&s->history, &q, &found))
        take_answer(a, &found);
    else {
        a->flags |= DH_ACCESS_NO_STACK;
        real = !s || !is_half_of_write(s, q);
    }
    if (s)
        dh_race_state_release(s);
    return real;
}

/* ---- what is behind a wide epoch ---- */

unsigned dh_race_explain(uint32_t time, uintptr_t granule, bool writes, struct dh_line_access pairs[4])
{
    uint32_t thread;
    struct dh_race_state *s = dh_slot_user_at(time, &thread);
    unsigned n = s ? dh_history_last(&s->history, granule, writes, pairs) : 0;
    if (s)
        dh_race_state_release(s);
    return n;
}

/* There is no place at which the memory went: the thread ended. False: it has come again since. */
static bool describe_dead(struct dh_report *r, const struct dh_freed *freed)
{
    if (dh_dead_is_stale(r->addr))
        return false;
    r->kind = DH_REPORT_USE_AFTER_FREE;
    r->text = freed->dead == DH_REGION_STACK ? "the memory was the stack of a thread that has ended"
                                             : "the memory was thread-local storage of a thread that has ended";
    r->n_accesses = 1;
    r->dead = freed->dead;
    r->dead_thread = freed->thread;
    return true;
}

static bool describe_freed(struct dh_report *r, uint32_t number)
{
    struct dh_freed freed;
    struct dh_report_access *a = &r->access[1];
    bool known = dh_freed_get(number, &freed), given = known && freed.given_away;
    if (known && freed.dead)
        return describe_dead(r, &freed);
    r->kind = given ? DH_REPORT_ANNOTATION : DH_REPORT_USE_AFTER_FREE;
    r->text = given ? "the memory was given away (DEADHEAT_TRANSFER) and nobody has accepted it since" : NULL;
    a->flags = given ? DH_ACCESS_WRITE | DH_ACCESS_BY_LIBRARY : DH_ACCESS_WRITE | DH_ACCESS_FREE | DH_ACCESS_BY_LIBRARY;
    a->place = UINT32_MAX;
    if (!known) {
        a->flags |= DH_ACCESS_NO_STACK;
        return true;
    }
    a->thread = freed.thread;
    a->context = freed.context;
    a->addr = freed.block.at;
    a->size = size_told(&freed.block);
    if (given)
        return true;
    r->block = freed.block.at;
    r->n_block = freed.block.size;
    r->block_thread = freed.block.thread;
    r->block_context = freed.block.context;
    return true;
}

static void describe_object(struct dh_report *r, const struct dh_race_state *s)
{
    struct dh_block block;
    if (s->frees)
        block = *s->frees;
    else if (r->block || r->dead || !dh_block_around(r->addr, &block))
        return;
    r->block = block.at;
    r->n_block = block.size;
    r->block_thread = block.thread;
    r->block_context = block.context;
}

/* The program is about to access these bytes itself, so they can be read; freed ones may be gone. */
static void note_held(struct dh_report *r, const struct dh_race_state *s)
{
    if (r->kind == DH_REPORT_USE_AFTER_FREE || s->frees)
        return;
    uint32_t n = s->access_size < sizeof r->held ? s->access_size : sizeof r->held;
    dh_bytes_copy(r->held, s->n_waiting ? s->waiting_held : (const void *)s->access_addr, n);
    r->n_held = n;
}

/* More than there is room for are the same access against others' once more. */
static void let_wait(struct dh_race_state *s, const struct dh_race_hit *hit)
{
    uint32_t n = s->access_size < sizeof s->waiting_held ? s->access_size : sizeof s->waiting_held;
    if (!s->n_waiting && !s->frees)
        dh_bytes_copy(s->waiting_held, (const void *)s->access_addr, n);
    if (s->n_waiting < sizeof s->waiting / sizeof *s->waiting)
        s->waiting[s->n_waiting++] = *hit;
}

void dh_race_report_waiting(struct dh_race_state *s)
{
    for (unsigned i = 0; i < s->n_waiting; i++)
        dh_race_report_hit(&s->t, &s->waiting[i]);
    s->n_waiting = 0;
}

/* A race in a loop is the same one most of the time, and finding the other access out takes long. */
static bool is_worth_a_look(const struct dh_race_hit *hit)
{
    unsigned how = hit->wrote | (unsigned)hit->was_atomic << 1;
    uint64_t pair = (uint64_t)hit->place << 16 ^ (uint64_t)dh_epoch_slot(hit->before) << 2 ^ how;
    uint64_t stretch = (pair << 32 ^ hit->before) * 0x9e3779b97f4a7c15u ^ hit->addr >> STRETCH_BITS;
    return dh_report_is_worth(pair, pair << 20 ^ hit->addr, stretch);
}

/* ---- AddressSanitizer beside us ---- */

__attribute__((weak, visibility("default"))) extern void *__asan_get_current_fake_stack(void);
__attribute__((weak, visibility("default"))) extern void *__asan_addr_is_in_fake_stack(void *stack, void *addr,
                                                                                       void **from, void **to);

/* It keeps locals in mappings of its own, which pass from a thread that ended to the next without our seeing it. */
static bool is_reused_frame(const struct dh_report *r)
{
    if (!__asan_get_current_fake_stack || !__asan_addr_is_in_fake_stack)
        return false;
    const struct dh_thread *other = dh_threads_find(r->access[1].thread);
    if (!other || !(atomic_load(&other->flags) & DH_THREAD_FINISHED))
        return false;
    void *stack = __asan_get_current_fake_stack(), *from, *to;
    return stack && __asan_addr_is_in_fake_stack(stack, (void *)r->addr, &from, &to);
}

void dh_race_report_hit(struct dh_race_thread *t, const struct dh_race_hit *hit)
{
    struct dh_race_state *s = (struct dh_race_state *)t;
    if (s->waits) {
        let_wait(s, hit);
        return;
    }
    if (!is_worth_a_look(hit) || dh_race_is_intended(hit->addr, (size_t)__builtin_popcountll(hit->bytes)))
        return;
    struct dh_report_access both[2] = {0};
    struct dh_report r = {
        .kind = DH_REPORT_RACE, .detector = "race", .access = both, .n_accesses = 2, .addr = hit->addr};
    r.size = (uint32_t)__builtin_popcountll(hit->bytes);
    describe_now(s, hit, &r.access[0]);
    bool real = dh_epoch_slot(hit->before) == DH_SLOT_FREED ? describe_freed(&r, dh_epoch_clock(hit->before))
                                                            : describe_before(hit, &r.access[1]);
    if (!real)
        return;
    if (dh_report_is_known(&r))
        return;
    describe_object(&r, s);
    note_held(&r, s);
    struct dh_vector_state saved;
    dh_vector_save(&saved);
    if (!is_reused_frame(&r))
        dh_report(&r);
    dh_vector_restore(&saved);
}

/* ---- regions ---- */

enum dh_region dh_region_of(uintptr_t addr, uint32_t *thread)
{
    struct dh_thread_place place;
    for (unsigned i = 0; dh_slot_thread_place(i, &place); i++) {
        *thread = place.thread;
        if (place.tls_low && addr - place.tls_low < place.tls_high - place.tls_low)
            return DH_REGION_TLS;
        if (addr - place.stack_low < place.stack_high - place.stack_low)
            return DH_REGION_STACK;
    }
    *thread = UINT32_MAX;
    return DH_REGION_OTHER;
}
