/* From a race that detect/race.c found to a report: both accesses with threads, stacks and locks, and the memory they
 * access. */
#include "runtime/race/internal.h"

#include "base/hash.h"
#include "runtime/core/threads.h"
#include "runtime/platform/bytes.h"
#include "runtime/race/thread_slots.h"
#include "runtime/report/report.h"
#include "runtime/report/vector_state.h"
#include "runtime/sync/sync.h"

#define STRETCH_BITS 7 /* log2 of the bytes in which one place is assumed to have made all accesses */

static void set_place(struct dh_report_access *a, uint32_t place)
{
    a->module = dh_module_of_place(&place);
    a->place = place == DH_PLACE_NONE ? UINT32_MAX : place;
}

static uint32_t block_size(const struct dh_heap_block *block)
{
    return block->size > UINT32_MAX ? UINT32_MAX : (uint32_t)block->size;
}

static void describe_current(struct dh_race_state *s, const struct dh_race_hit *hit, struct dh_report_access *a)
{
    a->thread = s->index;
    a->flags = (hit->writes ? DH_LOG_WRITE : 0) | (hit->atomic ? DH_LOG_ATOMIC : 0) |
               (s->has_value ? DH_LOG_HAS_VALUE : 0) | (s->by_library ? DH_LOG_BY_LIBRARY : 0) |
               (s->frees ? DH_LOG_FREE : 0);
    a->context = s->report_context ? s->report_context : dh_race_context(s);
    a->addr = s->access_addr;
    a->size = s->frees ? block_size(s->frees) : s->access_size; /* the check may have covered its beginning only */
    a->value = s->value;
    set_place(a, hit->place);
    for (uint32_t i = 0; i < s->n_held && i < DH_REPORT_LOCKS; i++)
        a->lock[a->n_locks++] = (struct dh_report_lock){s->held[i].lock, s->held[i].context, s->held[i].shared};
}

static void set_from_history(struct dh_report_access *a, const struct dh_history_answer *found)
{
    a->context = found->context;
    a->addr = found->addr;
    a->size = found->size;
    if (found->place == DH_PLACE_NONE)
        a->flags |= DH_LOG_BY_LIBRARY;
    set_place(a, found->place);
    for (uint32_t i = 0; i < found->n_locks && i < DH_REPORT_LOCKS; i++)
        a->lock[a->n_locks++] = (struct dh_report_lock){found->lock[i].lock & ~(uintptr_t)1, found->lock[i].context,
                                                        found->lock[i].lock & 1};
}

/* A write is in both halves of a cell. In a shadow line made of it, bytes that were only written may count as read: the
 * write is in the line as well, and races with all that the read would race with. */
static bool is_half_of_write(const struct dh_race_state *s, struct dh_history_query q)
{
    struct dh_history_answer unused;
    if (q.wrote || q.atomic)
        return false;
    q.wrote = true;
    return dh_history_find(&s->history, &q, &unused);
}

/* False: the history shows that there was no such access. */
static bool describe_earlier(const struct dh_race_hit *hit, struct dh_report_access *a)
{
    bool real = true;
    struct dh_history_query q = {
        .time = hit->before, .addr = hit->addr, .wrote = hit->wrote, .atomic = hit->was_atomic};
    struct dh_history_answer found;
    struct dh_race_state *s = dh_slot_holder_at(hit->before, &a->thread);
    a->flags = (hit->wrote ? DH_LOG_WRITE : 0) | (hit->was_atomic ? DH_LOG_ATOMIC : 0);
    a->addr = hit->addr;
    a->size = (uint32_t)__builtin_popcountll(hit->bytes);
    a->place = UINT32_MAX;
    if (s && dh_history_find(&s->history, &q, &found))
        set_from_history(a, &found);
    else {
        a->flags |= DH_LOG_NO_STACK;
        real = !s || !is_half_of_write(s, q);
    }
    if (s)
        dh_race_state_release(s);
    return real;
}

/* ---- epochs that cover a whole granule ---- */

unsigned dh_race_explain(uint32_t time, uintptr_t granule, bool writes, struct dh_line_access pairs[4])
{
    uint32_t thread;
    struct dh_race_state *s = dh_slot_holder_at(time, &thread);
    unsigned n = s ? dh_history_last_accesses(&s->history, granule, writes, pairs) : 0;
    if (s)
        dh_race_state_release(s);
    return n;
}

/* No access freed the memory: its thread ended. False: the memory is in use again. */
static bool describe_dead(struct dh_report *r, const struct dh_freed_block *freed)
{
    if (dh_dead_stack_is_reused(r->addr))
        return false;
    r->kind = DH_FINDING_USE_AFTER_FREE;
    r->text = freed->dead == DH_REGION_STACK ? "the memory was the stack of a thread that has ended"
                                             : "the memory was thread-local storage of a thread that has ended";
    r->n_accesses = 1;
    r->dead = freed->dead;
    r->dead_thread = freed->thread;
    return true;
}

static bool describe_freed(struct dh_report *r, uint32_t number)
{
    struct dh_freed_block freed;
    struct dh_report_access *a = &r->access[1];
    bool known = dh_freed_block_get(number, &freed), transferred = known && freed.transferred;
    if (known && freed.dead)
        return describe_dead(r, &freed);
    r->kind = transferred ? DH_FINDING_ANNOTATION : DH_FINDING_USE_AFTER_FREE;
    r->text = transferred ? "the memory was given away (DEADHEAT_TRANSFER) and nobody has accepted it since" : NULL;
    a->flags = transferred ? DH_LOG_WRITE | DH_LOG_BY_LIBRARY : DH_LOG_WRITE | DH_LOG_FREE | DH_LOG_BY_LIBRARY;
    a->place = UINT32_MAX;
    if (!known) {
        a->flags |= DH_LOG_NO_STACK;
        return true;
    }
    a->thread = freed.thread;
    a->context = freed.context;
    a->addr = freed.block.at;
    a->size = block_size(&freed.block);
    if (transferred)
        return true;
    dh_report_set_block(r, &freed.block);
    return true;
}

void dh_report_set_block(struct dh_report *r, const struct dh_heap_block *block)
{
    r->block = block->at;
    r->n_block = block->size;
    r->block_thread = block->thread;
    r->block_context = block->context;
}

static void describe_object(struct dh_report *r, const struct dh_race_state *s)
{
    struct dh_heap_block block;
    if (s->frees)
        block = *s->frees;
    else if (r->block || r->dead || !dh_heap_block_around(r->addr, &block))
        return;
    dh_report_set_block(r, &block);
}

/* The program is about to access these bytes, so they can be read; freed memory may be unmapped. */
static void copy_held_bytes(struct dh_report *r, const struct dh_race_state *s)
{
    if (r->kind == DH_FINDING_USE_AFTER_FREE || s->frees)
        return;
    uint32_t n = s->access_size < sizeof r->held ? s->access_size : sizeof r->held;
    dh_bytes_copy(r->held, s->n_deferred ? s->deferred_held : (const void *)s->access_addr, n);
    r->n_held = n;
}

/* Beyond the room for them they are races of the same access with further ones. */
static void defer_report(struct dh_race_state *s, const struct dh_race_hit *hit)
{
    uint32_t n = s->access_size < sizeof s->deferred_held ? s->access_size : sizeof s->deferred_held;
    if (!s->n_deferred && !s->frees)
        dh_bytes_copy(s->deferred_held, (const void *)s->access_addr, n);
    if (s->n_deferred < sizeof s->deferred / sizeof *s->deferred)
        s->deferred[s->n_deferred++] = *hit;
}

void dh_race_report_deferred(struct dh_race_state *s)
{
    for (unsigned i = 0; i < s->n_deferred; i++)
        dh_race_report_hit(&s->t, &s->deferred[i]);
    s->n_deferred = 0;
}

/* A race in a loop is mostly the same one, and searching the history for the other access is slow. */
static bool is_worth_explaining(const struct dh_race_hit *hit)
{
    unsigned how = hit->wrote | (unsigned)hit->was_atomic << 1;
    uint64_t pair = (uint64_t)hit->place << 16 ^ (uint64_t)dh_epoch_slot(hit->before) << 2 ^ how;
    uint64_t stretch = dh_hash_combine(pair << 32 ^ hit->before, hit->addr >> STRETCH_BITS);
    return dh_report_is_worth_explaining(pair, pair << 20 ^ hit->addr, stretch);
}

/* ---- AddressSanitizer in the same process ---- */

__attribute__((weak, visibility("default"))) extern void *__asan_get_current_fake_stack(void);
__attribute__((weak, visibility("default"))) extern void *__asan_addr_is_in_fake_stack(void *stack, void *addr,
                                                                                       void **from, void **to);

/* Its fake stacks pass from a thread that ended to the next without a hook. */
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
    if (s->defers_reports) {
        defer_report(s, hit);
        return;
    }
    if (!is_worth_explaining(hit) || dh_race_is_benign(hit->addr, (size_t)__builtin_popcountll(hit->bytes)))
        return;
    struct dh_report_access both[2] = {0};
    struct dh_report r = {
        .kind = DH_FINDING_RACE, .detector = "race", .access = both, .n_accesses = 2, .addr = hit->addr};
    r.size = (uint32_t)__builtin_popcountll(hit->bytes);
    describe_current(s, hit, &r.access[0]);
    bool real = dh_epoch_slot(hit->before) == DH_SLOT_FREED ? describe_freed(&r, dh_epoch_clock(hit->before))
                                                            : describe_earlier(hit, &r.access[1]);
    if (!real)
        return;
    if (dh_report_is_known(&r))
        return;
    describe_object(&r, s);
    copy_held_bytes(&r, s);
    struct dh_vector_state saved;
    dh_vector_save(&saved);
    if (!is_reused_frame(&r))
        dh_report(&r);
    dh_vector_restore(&saved);
}

/* ---- regions ---- */

enum dh_region dh_region_of(uintptr_t addr, uint32_t *thread)
{
    struct dh_thread_memory place;
    for (unsigned i = 0; dh_slot_thread_memory(i, &place); i++) {
        *thread = place.thread;
        if (place.tls_low && addr - place.tls_low < place.tls_high - place.tls_low)
            return DH_REGION_TLS;
        if (addr - place.stack_low < place.stack_high - place.stack_low)
            return DH_REGION_STACK;
    }
    *thread = UINT32_MAX;
    return DH_REGION_OTHER;
}
