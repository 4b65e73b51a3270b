/* The recorder: threads, lanes, contexts, and events that are numbered in the order of the process. */
#include "runtime/record/state.h"

#include "runtime/core/context.h"
#include "runtime/core/frames.h"
#include "runtime/core/instrumented_modules.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/threads.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/platform/spin.h"
#include "runtime/sync/observer.h"

#include <sys/mman.h>

bool dh_record_on;

/* For threads that are not recorded: no run goes on there. */
struct dh_stream_run dh_no_runs[2 * DH_STREAM_RUNS];
struct dh_recorded_small dh_no_small[DH_RECORDED_SMALL];

/* ---- lanes ---- */

static bool on_stack(const struct dh_thread_state *t, uintptr_t address)
{
    return address >= t->stack_low && address < t->stack_high;
}

/* A handler left the recorder by longjmp: the caller's frame lies above the one that is marked as inside. */
static bool was_left(const struct dh_record_state *s, uintptr_t busy, uintptr_t here)
{
    return busy <= here && on_stack(s->tls, busy) && on_stack(s->tls, here);
}

static bool begin_block(struct dh_record_state *s, struct dh_record_lane *l)
{
    struct dh_stream_block *b = dh_stream_block_new(l->shared);
    if (!b)
        return false;
    uint32_t number = (uint32_t)(b - (struct dh_stream_block *)((char *)dh_stream + DH_STREAM_BLOCKS_AT)) + 1;
    if (l->block) {
        l->published += l->at;
        atomic_store_explicit(&l->block->next, number, memory_order_release);
        atomic_fetch_add(&l->shared->filled, 1);
    } else {
        atomic_store_explicit(&l->shared->first, number, memory_order_release);
    }
    l->block = b;
    l->at = 0;
    (void)s;
    return true;
}

static void name_thread(const struct dh_record_state *s, struct dh_record_lane *l)
{
    uint64_t word = DH_STREAM_THREAD | (uint64_t)s->index << 32;
    atomic_store(&l->shared->thread, s->index);
    dh_record_put(l, &word, 1);
    l->context = DH_CONTEXT_ROOT;
    word = DH_STREAM_CONTEXT;
    dh_record_put(l, &word, 1);
}

static bool open_lane(struct dh_record_state *s, struct dh_record_lane *l)
{
    if (!l->shared)
        l->shared = dh_stream_lane_new(&l->number);
    if (!l->shared || !begin_block(s, l)) {
        atomic_fetch_add(&dh_stream->lost, 1);
        return false;
    }
    name_thread(s, l);
    return true;
}

/* The number goes into the block at once: an event that was left unfinished needs no other, unless it was left between
 * the two. */
static void publish_numbered(struct dh_record_lane *l)
{
    volatile uint64_t *number = &l->block->words[l->at + 3];
    if (!*number)
        *number = atomic_fetch_add(&dh_stream->seq, 1) + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    l->at += 4;
    atomic_store_explicit(&l->block->used, l->at, memory_order_release);
    l->numbering = 0;
}

/* The handler left by longjmp; the event that the interrupted code began to record has happened all the same. */
static void end_what_was_left(struct dh_record_state *s, struct dh_record_lane *l)
{
    if (l->numbering == l->at + 1) {
        if (!l->block->words[l->at + 3])
            atomic_fetch_add(&dh_stream->unused_numbers, 1);
        publish_numbered(l);
    }
    l->numbering = 0;
    dh_record_unlock_left(s, l);
}

struct dh_record_lane *dh_record_enter(struct dh_record_state *s)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (__builtin_expect(!dh_record_on, 0))
        return NULL;
    for (struct dh_record_lane *l = s->lanes; l < s->lanes + DH_RECORD_LANES; l++) {
        if (l->busy && !was_left(s, l->busy, here))
            continue;
        bool left = l->busy;
        l->busy = here;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        if (__builtin_expect(left, 0))
            end_what_was_left(s, l);
        if (l->block || open_lane(s, l))
            return l;
        l->busy = 0;
        return NULL;
    }
    atomic_fetch_add(&dh_stream->lost, 1);
    return NULL;
}

void dh_record_put_event(struct dh_record_lane *l, const struct dh_event *e)
{
    uint64_t site = e->site == DH_PLACE_NONE ? DH_NO_PLACE : e->site;
    uint64_t *to = l->block->words + l->at;
    to[0] = DH_STREAM_EVENT | (uint64_t)e->kind << 8 | (uint64_t)e->flags << 16 | site << 32;
    to[1] = e->addr;
    to[2] = e->arg;
    to[3] = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    l->numbering = l->at + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    publish_numbered(l);
}

/* The last of a block is a mark, so that the reader need not wait for the thread's next event to be done with it. */
bool dh_record_room(struct dh_record_state *s, struct dh_record_lane *l)
{
    enum { WORDS = sizeof l->block->words / sizeof *l->block->words, MARK = 4 };
    if (__builtin_expect(l->at + DH_RECORD_ROOM + MARK <= WORDS, 1))
        return true;
    if (l->at + MARK <= WORDS)
        dh_record_put_event(l, &(struct dh_event){.kind = DH_EVENT_MARK, .site = DH_NO_PLACE});
    return begin_block(s, l);
}

void dh_record_context(struct dh_record_lane *l, uint32_t context)
{
    uint64_t word = DH_STREAM_CONTEXT | (uint64_t)context << 32;
    if (l->context == context)
        return;
    l->context = context;
    dh_record_put(l, &word, 1);
}

void dh_record_after(struct dh_record_state *s, struct dh_record_lane *l)
{
    const struct dh_record_lane *interrupted = l - 1;
    if (l == s->lanes)
        return;
    uint32_t used = atomic_load_explicit(&interrupted->block->used, memory_order_relaxed);
    uint64_t words[] = {DH_STREAM_AFTER | (uint64_t)interrupted->number << 32, interrupted->published + used};
    dh_record_put(l, words, 2);
}

/* ---- contexts ---- */

static uint32_t known_context(struct dh_record_state *s, uint64_t value, const uintptr_t *call_slot)
{
    struct dh_known_context *known = &s->contexts[value >> 52 & (DH_RECORD_CONTEXTS - 1)];
    if (known->value == value && known->id)
        return known->id;
    uint32_t id = dh_context_intern(s->tls);
    if (call_slot)
        id = dh_context_extend(id, *call_slot);
    dh_stream_context(id);
    *known = (struct dh_known_context){.value = value, .id = id};
    return id;
}

uint32_t dh_record_here(struct dh_record_state *s)
{
    uint32_t depth = dh_frames_known(s->tls);
    return depth ? known_context(s, s->tls->frames[depth - 1].context, NULL) : DH_CONTEXT_ROOT;
}

uint32_t dh_record_call_context(struct dh_record_state *s, const uintptr_t *call_slot)
{
    uint32_t depth = dh_frames_known(s->tls);
    if (!call_slot || !s->tls->frames)
        return dh_record_here(s);
    return known_context(s, dh_context_step(s->tls->frames[(int64_t)depth - 1].context, *call_slot), call_slot);
}

/* ---- events ---- */

void dh_record_new_segment(struct dh_record_state *s)
{
    s->stamp += (uint64_t)1 << DH_KNOWN_SHIFT;
    if (!s->stamp) {
        dh_bytes_zero(s->recorded, sizeof s->recorded);
        dh_bytes_zero(s->small, sizeof s->small);
        s->stamp = (uint64_t)1 << DH_KNOWN_SHIFT;
    }
    if (!s->ignores)
        s->tls->recorded_stamp = s->stamp;
}

/* The events of one call that waits: a barrier releases, blocks, unblocks and acquires. */
static bool is_same_wait(enum dh_event_kind before, enum dh_event_kind kind)
{
    switch (kind) {
    case DH_EVENT_BLOCK:
        return before == DH_EVENT_RELEASE_JOIN;
    case DH_EVENT_UNBLOCK:
        return before == DH_EVENT_BLOCK;
    case DH_EVENT_ACQUIRE:
    case DH_EVENT_THREAD_JOIN:
        return before == DH_EVENT_UNBLOCK;
    default:
        return false;
    }
}

/* Instrumented code announces the place of a call just before it; what is not asked for is overwritten by the next. */
static uint32_t place_of_call(struct dh_record_state *s, enum dh_event_kind kind, const uintptr_t *call_slot)
{
    uint32_t place = __dh_thread.place;
    enum dh_event_kind before = s->last_kind;
    bool goes_on = call_slot ? call_slot == s->call_slot && *call_slot == s->call_address : is_same_wait(before, kind);
    s->last_kind = kind;
    __dh_thread.place = DH_PLACE_NONE;
    if (place == DH_PLACE_NONE && goes_on)
        return s->call_place;
    if (call_slot && !dh_module_is_instrumented(*call_slot))
        place = DH_PLACE_NONE;
    s->call_slot = call_slot;
    s->call_address = call_slot ? *call_slot : 0;
    s->call_place = place;
    return place;
}

/* Of what only begins, nothing that was done before can be part. */
static bool ends_segment(enum dh_event_kind kind)
{
    return kind != DH_EVENT_ALLOC && kind != DH_EVENT_FREE;
}

/* The thread's lane with room for what follows, to be left in the end; accesses before it are written out first if
 * asked. NULL: nothing can be recorded. */
static struct dh_record_lane *enter_with_room(struct dh_record_state *s, bool after_runs)
{
    struct dh_record_lane *l = dh_record_enter(s);
    if (!l)
        return NULL;
    if (after_runs && l == s->lanes)
        dh_record_say_runs(s, l);
    if (dh_record_room(s, l))
        return l;
    dh_record_leave(l);
    return NULL;
}

void dh_record_event(enum dh_event_kind kind, unsigned flags, const void *addr, uint64_t arg,
                     const uintptr_t *call_slot)
{
    struct dh_record_state *s = __dh_thread.record;
    if (!s || s->ignores & (1 << DH_IGNORED_SYNC | 1 << DH_IGNORED_ALL))
        return;
    struct dh_record_lane *l = enter_with_room(s, kind != DH_EVENT_ALLOC);
    if (!l)
        return;
    struct dh_event e = {.kind = (uint8_t)kind,
                         .flags = (uint8_t)flags,
                         .site = place_of_call(s, kind, call_slot),
                         .addr = (uintptr_t)addr,
                         .arg = arg};
    dh_record_after(s, l);
    dh_record_context(l, dh_record_call_context(s, call_slot));
    dh_record_put_event(l, &e);
    if (ends_segment(kind))
        dh_record_new_segment(s);
    dh_record_leave(l);
}

void dh_record_event_at(enum dh_event_kind kind, unsigned flags, uintptr_t addr, uint64_t arg, uint32_t place)
{
    struct dh_record_state *s = __dh_thread.record;
    struct dh_record_lane *l = s && !s->ignores ? enter_with_room(s, true) : NULL;
    if (!l)
        return;
    struct dh_event e = {.kind = (uint8_t)kind, .flags = (uint8_t)flags, .site = place, .addr = addr, .arg = arg};
    dh_record_after(s, l);
    dh_record_context(l, dh_record_here(s));
    dh_record_put_event(l, &e);
    dh_record_new_segment(s);
    dh_record_leave(l);
}

void dh_record_scope(enum dh_event_kind kind, const void *object, uint32_t place)
{
    struct dh_record_state *s = __dh_thread.record;
    struct dh_record_lane *l = s && !s->ignores ? enter_with_room(s, true) : NULL;
    if (!l)
        return;
    uint64_t words[] = {DH_STREAM_SCOPE | (uint64_t)kind << 8 | (uint64_t)place << 32, (uintptr_t)object};
    dh_record_context(l, dh_record_here(s));
    dh_record_put(l, words, 2);
    dh_record_new_segment(s);
    dh_record_leave(l);
}

/* ---- what cannot be computed again ---- */

static void put_met(struct dh_record_lane *l, enum dh_event_kind kind, const struct dh_record_met *m, uint32_t other)
{
    uint64_t place = m->place == DH_PLACE_NONE ? DH_NO_PLACE : m->place;
    uint64_t words[] = {DH_STREAM_COLLISION | (uint64_t)kind << 8 | (m->write ? (uint64_t)DH_EVENT_WROTE << 16 : 0) |
                            place << 32,
                        m->addr, (uint64_t)other << 32 | m->size};
    dh_record_context(l, m->context);
    dh_record_put(l, words, 3);
}

void dh_record_collision(const struct dh_record_met *mine, const struct dh_record_met *other)
{
    struct dh_record_state *s = __dh_thread.record;
    struct dh_record_lane *l = s && !s->ignores ? enter_with_room(s, true) : NULL;
    if (!l)
        return;
    put_met(l, DH_EVENT_COLLISION, mine, other->thread);
    put_met(l, DH_EVENT_COLLISION_WITH, other, other->thread);
    dh_record_leave(l);
}

/* ---- memory ---- */

static bool cares_for_memory(void)
{
    const struct dh_record_state *s = __dh_thread.record;
    return s && !(s->ignores & 1 << DH_IGNORED_ALL);
}

void dh_record_allocated(const void *at, size_t size, enum dh_event_region region, const uintptr_t *call_slot)
{
    if (!cares_for_memory())
        return;
    dh_record_forget(__dh_thread.record, (uintptr_t)at, size);
    dh_record_event(DH_EVENT_ALLOC, region, at, size, call_slot);
}

void dh_record_freed(const void *at, size_t size, enum dh_event_region region, const uintptr_t *call_slot)
{
    if (!cares_for_memory())
        return;
    if (!size && dh_real.malloc_usable_size)
        size = dh_real.malloc_usable_size((void *)at);
    dh_record_event(DH_EVENT_FREE, region, at, size, call_slot);
    dh_record_forget(__dh_thread.record, (uintptr_t)at, size);
}

/* ---- threads ---- */

static struct dh_record_state *free_states;
static dh_spin states_lock = DH_SPIN_INIT(DH_RANK_RECORD_STATES);

static struct dh_record_state *take_state(void)
{
    dh_spin_lock(&states_lock);
    struct dh_record_state *s = free_states;
    if (s)
        free_states = s->next;
    dh_spin_unlock(&states_lock);
    return s ? s : dh_sys_mmap(sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
}

static void give_state(struct dh_record_state *s)
{
    dh_spin_lock(&states_lock);
    s->next = free_states;
    free_states = s;
    dh_spin_unlock(&states_lock);
}

/* A state that was another thread's keeps its lanes. */
struct dh_record_state *dh_record_state_new(struct dh_thread_state *tls)
{
    struct dh_record_state *s = dh_record_on ? take_state() : NULL;
    if (!s)
        return NULL;
    s->tls = tls;
    s->index = tls->index;
    s->n_held = s->n_unlisted = s->ignores = 0;
    s->call_slot = NULL;
    dh_bytes_zero(s->ignoring, sizeof s->ignoring);
    dh_bytes_zero(s->contexts, sizeof s->contexts);
    dh_bytes_zero(s->atomics, sizeof s->atomics);
    for (struct dh_record_lane *l = s->lanes; l < s->lanes + DH_RECORD_LANES; l++) {
        l->busy = 0;
        if (l->block && dh_record_room(s, l))
            name_thread(s, l);
    }
    struct dh_record_lane *l = &s->lanes[0];
    if (!l->block && !open_lane(s, l)) {
        give_state(s);
        return NULL;
    }
    return s;
}

void dh_record_state_end(struct dh_record_state *s)
{
    give_state(s);
}

/* While something is left out, every access asks. */
static void set_tables(struct dh_record_state *s)
{
    bool quick = s && !s->ignores;
    __dh_thread.runs = quick ? s->lanes[0].shared->runs : dh_no_runs;
    __dh_thread.recorded = quick ? s->recorded[0] : dh_knows_nothing;
    __dh_thread.recorded_stamp = quick ? s->stamp : 0;
    __dh_thread.small = quick ? s->small : dh_no_small;
}

void dh_record_become(struct dh_record_state *s)
{
    __dh_thread.record = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (s) {
        s->tls = &__dh_thread;
        dh_record_new_segment(s);
    }
    set_tables(s);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __dh_thread.record = s;
}

void dh_record_thread_created(const struct dh_thread *t)
{
    if (!dh_record_on || !t)
        return;
    dh_stream_thread(t->index, t->parent, t->context, t->name);
    dh_record_event(DH_EVENT_THREAD_CREATE, 0, NULL, t->index, NULL);
}

static void say_own_stack(void)
{
    const struct dh_thread_state *t = &__dh_thread;
    dh_record_allocated((const void *)t->stack_low, t->stack_high - t->stack_low, DH_MEMORY_STACK, NULL);
}

void dh_record_thread_start(struct dh_thread_birth *birth)
{
    (void)birth;
    if (!dh_record_on || __dh_thread.record || !__dh_thread.thread)
        return;
    dh_record_thread_named(__dh_thread.thread);
    dh_record_become(dh_record_state_new(&__dh_thread));
    dh_record_event(DH_EVENT_THREAD_BEGIN, 0, NULL, __dh_thread.thread->parent, NULL);
    say_own_stack();
}

void dh_record_thread_exit(void)
{
    struct dh_record_state *s = __dh_thread.record;
    const struct dh_thread_state *t = &__dh_thread;
    if (!s)
        return;
    s->ignores = 0;
    dh_record_freed((const void *)t->stack_low, t->stack_high - t->stack_low, DH_MEMORY_STACK, NULL);
    dh_record_event(DH_EVENT_THREAD_END, 0, NULL, t->thread ? t->thread->parent : DH_THREAD_NONE, NULL);
    dh_record_become(NULL);
    dh_record_state_end(s);
}

void dh_record_thread_named(const struct dh_thread *t)
{
    if (dh_record_on && t)
        dh_stream_thread(t->index, t->parent, t->context, t->name);
}

void dh_record_ignore_begin(enum dh_ignored what)
{
    struct dh_record_state *s = __dh_thread.record;
    if (!s)
        return;
    s->ignoring[what]++;
    s->ignores |= (uint8_t)(1 << what);
    set_tables(s);
}

void dh_record_ignore_end(enum dh_ignored what)
{
    struct dh_record_state *s = __dh_thread.record;
    if (!s || !s->ignoring[what] || --s->ignoring[what])
        return;
    s->ignores &= (uint8_t)~(1 << what);
    set_tables(s);
}

/* ---- the process ---- */

static void begin_recording(void)
{
    dh_record_on = dh_stream_open();
    if (!dh_record_on)
        return;
    dh_record_modules();
    dh_record_thread_named(__dh_thread.thread);
    dh_record_become(dh_record_state_new(&__dh_thread));
    say_own_stack();
}

/* If the option `stream` asks for it; the calling thread is the first. */
void dh_record_start(void)
{
    if (!dh_options.stream)
        return;
    dh_modules_init();
    begin_recording();
}

/* What the thread holds, it holds in the child, too; of all others only their states are left, unused. */
void dh_record_forked(void)
{
    struct dh_record_state *s = __dh_thread.record;
    bool was_on = dh_record_on;
    if (!was_on)
        return;
    dh_record_on = false;
    dh_record_become(NULL);
    dh_spin_forked(&states_lock);
    free_states = NULL;
    dh_stream_drop();
    begin_recording();
    for (uint32_t i = 0; s && __dh_thread.record && i < s->n_held; i++)
        for (uint32_t k = 0; k < s->held[i].depth; k++)
            dh_record_lock_acquired((const void *)s->held[i].lock, s->held[i].shared ? DH_LOCK_SHARED : 0, NULL);
    if (s)
        dh_sys_munmap(s, sizeof *s);
}

void dh_record_at_exit(void)
{
    struct dh_record_state *s = __dh_thread.record;
    /* A thread that is none of libc's cannot ask the dynamic linker. */
    if (!dh_record_on || (!s && !__dh_thread.thread))
        return;
    dh_record_modules();
    struct dh_record_lane *l = s ? dh_record_enter(s) : NULL;
    if (l) {
        if (l == s->lanes)
            dh_record_say_runs(s, l);
        dh_record_leave(l);
    }
}
