/* Slow path of the inline race checks, first step, compiled by clang for its calling convention (fast.h). Handles
 * accesses that the filter has, cells whose epochs happen before this one, and repeated accesses of shadow lines;
 * dh_race_complete does the rest. */
#include "runtime/race/fast.h"

#include "runtime/race/cell_update.h"
#include "runtime/race/race_state.h"
#include "runtime/race/shadow.h"

#define ALWAYS static inline __attribute__((always_inline))
#define OFTEN(x) __builtin_expect(!!(x), 1)

/* In assembly (access.c): saves what a C function may change. */
DH_PRESERVE_ALL void __dh_race_complete(uintptr_t addr, uint32_t what, uint32_t place, uint64_t value);

ALWAYS uint64_t stack_value(const struct dh_thread_state *tls)
{
    return tls->frames[(int64_t)tls->depth - 1].context;
}

/* True: the history has the stack's context already, or the context is cached. */
ALWAYS bool record_context(struct dh_race_state *s, const struct dh_thread_state *tls)
{
    if (tls->depth >= tls->capacity)
        return false;
    uint64_t value = stack_value(tls);
    if (OFTEN(value == s->context_value))
        return true;
    const struct dh_known_context *known = &s->contexts[value >> 56 & (DH_CONTEXT_CACHE - 1)];
    if (known->value != value)
        return false;
    s->context_value = value;
    dh_history_add(&s->history, dh_history_meta(DH_META_CONTEXT, known->id));
    return true;
}

ALWAYS bool record_access(struct dh_race_state *s, uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    if (!dh_history_has_room(&s->history, 2) || !record_context(s, s->tls))
        return false;
    s->t.dirty = true;
    dh_history_add(&s->history,
                   dh_history_access(DH_HISTORY_ACCESS, addr, (unsigned)__builtin_ctz(size), write, place));
    return true;
}

/* False: not done; cells may be updated in part only where another thread interfered. */
ALWAYS bool update_aligned(struct dh_race_state *s, uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    enum { MAX = 4 };
    unsigned n = size < 4 ? 1 : size / 4, low = size < 4 ? addr & 3 : 0;
    unsigned mask = size < 4 ? ((1u << size) - 1) << low : DH_MASK_ALL;
    dh_cell *cell = dh_shadow_of(addr);
    struct dh_cell_update next[MAX];
    if (addr & (size < 4 ? size - 1 : 3))
        return false;
    if (!dh_cell_compute_update(s, __atomic_load_n(cell, __ATOMIC_RELAXED), mask, write, &next[0]))
        return false;
    for (unsigned i = 1; i < n; i++) {
        dh_cell old = __atomic_load_n(&cell[i], __ATOMIC_RELAXED);
        next[i] = next[0];
        if (old != next[0].old && !dh_cell_compute_update(s, old, mask, write, &next[i]))
            return false;
    }
    if (!record_access(s, addr, size, write, place))
        return false;
    if (size < 4)
        dh_filter_learn(s, addr, size, write);
    return dh_cells_store(s, cell, next, n);
}

ALWAYS void learn(struct dh_race_state *s, uintptr_t addr, unsigned size, bool write)
{
    if (!write && size >= 4 && !(addr & (size - 1)))
        dh_read_filter_learn(s, addr, size / 4);
    else
        dh_filter_learn(s, addr, size, write);
}

ALWAYS bool knows(const struct dh_race_state *s, uintptr_t addr, unsigned size, bool write)
{
    if (!write && size >= 4 && !(addr & (size - 1)))
        return dh_read_filter_knows(s, addr, size / 4);
    return dh_filter_knows(s, addr, size, write);
}

/* There is room for one word in the history, and its context is the present one. */
ALWAYS bool has_history_room(const struct dh_race_state *s)
{
    const struct dh_thread_state *tls = &__dh_thread;
    return dh_history_has_room(&s->history, 1) && tls->depth < tls->capacity && stack_value(tls) == s->context_value;
}

/* Only after this may the slot be used; another thread may have borrowed it just before. */
ALWAYS bool enter_fast(struct dh_race_state *s)
{
    s->gate.busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (OFTEN(!atomic_load_explicit(&s->gate.borrowed, memory_order_relaxed)))
        return true;
    s->gate.busy = 0;
    return false;
}

ALWAYS void leave_fast(struct dh_race_state *s)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->gate.busy = 0;
}

/* Twice as fast as what clang emits for a sequentially consistent fence. */
ALWAYS void full_fence(void)
{
    __asm__ volatile("lock orl $0, (%%rsp)" ::: "memory", "cc");
}

struct check_in_line {
    dh_cell *cells, cell;
    struct dh_shadow_line *line;
    struct dh_column *mine;
};

ALWAYS bool is_still_in_line(const struct check_in_line *l, uintptr_t addr, unsigned size)
{
    for (unsigned i = 0; i < ((addr & 3) + size + 3) / 4; i++)
        if (__atomic_load_n(&l->cells[i], __ATOMIC_RELAXED) != l->cell)
            return false;
    return true;
}

/* True: the access is within one shadow line, where this thread has a column. */
ALWAYS bool find_in_line(const struct dh_race_state *s, uintptr_t addr, unsigned size, struct check_in_line *l)
{
    l->cells = dh_shadow_of(addr);
    l->cell = __atomic_load_n(l->cells, __ATOMIC_RELAXED);
    if (!dh_cell_is_line(l->cell) || !dh_gate_is_open(s) || (addr & 63) + size > 64 || !is_still_in_line(l, addr, size))
        return false;
    l->line = &dh_race_tables.lines.at[dh_cell_line(l->cell)];
    l->mine = dh_shadow_line_find_column(l->line, dh_epoch_slot(s->t.time));
    return l->mine;
}

/* Successive unaligned reads cover whole granules together. */
ALWAYS void learn_around(struct dh_race_state *s, const struct dh_column *c, uintptr_t addr, unsigned size)
{
    for (uintptr_t at = addr & ~(uintptr_t)3; at < addr + size; at += 4)
        if (dh_column_has(c, dh_filter_bytes(at, 4), DH_READS, s->t.time))
            dh_read_filter_learn(s, at, 1);
}

ALWAYS bool knows_around(const struct dh_race_state *s, uintptr_t addr, unsigned size)
{
    return (addr & 63) + size <= 64 && dh_read_filter_knows(s, addr & ~(uintptr_t)3, ((addr & 3) + size + 3) / 4);
}

/* An equal access is in the shadow line already. */
ALWAYS bool is_repeated_in_line(struct dh_race_state *s, const struct check_in_line *l, uintptr_t addr, unsigned size,
                                bool write)
{
    if (!dh_column_has(l->mine, dh_filter_bytes(addr, size), write ? DH_WRITES : DH_READS, s->t.time))
        return false;
    learn(s, addr, size, write);
    if (!write && (addr & 3))
        learn_around(s, l->mine, addr, size);
    return true;
}

enum reading { READ_UNCHECKED, READ_RECORDED, READ_DONE };

/* Read again in a new epoch, and no write since this thread's last check: recorded here, as detect/race.c does it. */
ALWAYS enum reading read_again(struct dh_race_state *s, const struct check_in_line *l, uintptr_t addr, unsigned size,
                               uint32_t place)
{
    uint64_t writes = __atomic_load_n(&l->line->writes, __ATOMIC_RELAXED);
    if (l->mine->checked != writes || l->mine->checked_by != s->t.serial || !has_history_room(s) || !enter_fast(s))
        return READ_UNCHECKED;
    enum reading done = READ_UNCHECKED;
    if (dh_column_read(l->mine, dh_filter_bytes(addr, size), s->t.time)) {
        s->t.dirty = true;
        dh_history_add(&s->history,
                       dh_history_access(DH_HISTORY_ACCESS, addr, (unsigned)__builtin_ctz(size), false, place));
        full_fence();
        done = __atomic_load_n(&l->line->writes, __ATOMIC_RELAXED) == writes && is_still_in_line(l, addr, size)
                   ? READ_DONE
                   : READ_RECORDED;
        if (done == READ_DONE)
            learn(s, addr, size, false);
    }
    leave_fast(s);
    return done;
}

ALWAYS bool check_in_line(struct dh_race_state *s, uintptr_t addr, unsigned size, bool write, uint32_t place,
                          bool *recorded)
{
    struct check_in_line l;
    *recorded = false;
    if (!find_in_line(s, addr, size, &l))
        return false;
    if (is_repeated_in_line(s, &l, addr, size, write))
        return true;
    if (write || size < 4)
        return false;
    enum reading done = read_again(s, &l, addr, size, place);
    *recorded = done == READ_RECORDED;
    return done == READ_DONE;
}

ALWAYS void check_cells(struct dh_race_state *s, uintptr_t addr, unsigned size, bool write, uint64_t value,
                        uint32_t place)
{
    if (OFTEN(dh_gate_is_open(s))) {
        s->gate.busy = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        bool done = !atomic_load_explicit(&s->gate.borrowed, memory_order_relaxed) &&
                    update_aligned(s, addr, size, write, place);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        s->gate.busy = 0;
        if (OFTEN(done))
            return;
    }
    __dh_race_complete(addr, size | (uint32_t)write << 8, place, value);
}

/* Needs few registers. A thread that the detector ignores has no epoch. */
ALWAYS bool is_private(uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    dh_cell *cell = dh_shadow_of(addr), old = __atomic_load_n(cell, __ATOMIC_RELAXED), own = __dh_thread.own;
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_cells_are_private(cell, old, own, size) || !own || (addr & 3))
        return false;
    if (!dh_gate_is_open(s) || !has_history_room(s) || !enter_fast(s))
        return false;
    s->t.dirty = true;
    dh_history_add(&s->history, dh_history_access(DH_HISTORY_ACCESS, addr, size == 8 ? 3 : 2, write, place));
    dh_cells_store_private(cell, old, own, size, write);
    leave_fast(s);
    return true;
}

/* The half of an own cell after an access to a part of the granule, as dh_race_half_after has it for one's own slot. */
ALWAYS uint32_t own_half_after(uint32_t half, uint32_t own, uint32_t bits)
{
    uint32_t time = own & DH_EPOCH_TIME;
    if (((half ^ own) & DH_EPOCH_TIME) == 0)
        return half >> DH_MASK_SHIFT ? half | bits : half;
    return half >> DH_MASK_SHIFT && !(half & ~bits & ~DH_EPOCH_TIME) ? time | bits : time;
}

/* A part of a granule that only this thread has accessed. */
ALWAYS bool is_private_part(uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    dh_cell *cell = dh_shadow_of(addr), old = __atomic_load_n(cell, __ATOMIC_RELAXED), own = __dh_thread.own;
    struct dh_race_state *s = __dh_thread.race;
    if ((old ^ own) & DH_BOTH_HALVES(0x0FF00000u) || !own || (addr & (size - 1)))
        return false;
    if (!dh_gate_is_open(s) || !has_history_room(s) || !enter_fast(s))
        return false;
    uint32_t bits = ((1u << size) - 1) << (addr & 3) << DH_MASK_SHIFT;
    uint32_t read = own_half_after((uint32_t)old, (uint32_t)own, bits);
    uint32_t wrote = write ? own_half_after((uint32_t)(old >> 32), (uint32_t)own, bits) : (uint32_t)(old >> 32);
    s->t.dirty = true;
    dh_history_add(&s->history, dh_history_access(DH_HISTORY_ACCESS, addr, size - 1, write, place));
    dh_filter_learn(s, addr, size, write);
    __atomic_store_n(cell, dh_cell_of(read, wrote), __ATOMIC_RELAXED);
    leave_fast(s);
    return true;
}

/* A granule whose bytes this thread accessed in different epochs, the latest now: only the filter has the bytes of this
 * epoch, until all have been written and the cell holds it. */
ALWAYS bool is_private_rest(uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    dh_cell *cell = dh_shadow_of(addr);
    uint64_t own = __dh_thread.own, wide = own & DH_BOTH_HALVES(DH_EPOCH_TIME);
    struct dh_race_state *s = __dh_thread.race;
    if (__atomic_load_n(cell, __ATOMIC_RELAXED) != wide || !own)
        return false;
    struct dh_filter_line *line = &s->filter[addr >> 6 & (DH_FILTER_LINES - 1)];
    uint64_t bytes = (((uint64_t)1 << size) - 1) << (addr & 63);
    if (line->tag != dh_filter_tag(s, addr) || (addr & (size - 1)))
        return false;
    if (!(bytes & ~line->bytes[write]))
        return true;
    if (!dh_gate_is_open(s) || !has_history_room(s) || !enter_fast(s))
        return false;
    s->t.dirty = true;
    dh_history_add(&s->history, dh_history_access(DH_HISTORY_ACCESS, addr, size - 1, write, place));
    line->bytes[0] |= bytes;
    if (write) {
        line->bytes[1] |= bytes;
        if (!(~line->bytes[1] >> (addr & 60) & 15))
            __atomic_store_n(cell, own, __ATOMIC_RELAXED);
    }
    leave_fast(s);
    return true;
}

/* As update_aligned, where the ends are parts of granules. */
ALWAYS bool update_unaligned(struct dh_race_state *s, uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    enum { MAX = 5 };
    unsigned n = ((addr & 3) + size + 3) / 4, bytes = ((1u << size) - 1) << (addr & 3);
    dh_cell *cell = dh_shadow_of(addr);
    struct dh_cell_update next[MAX];
    for (unsigned i = 0; i < n; i++)
        if (!dh_cell_compute_update(s, __atomic_load_n(&cell[i], __ATOMIC_RELAXED), bytes >> 4 * i & DH_MASK_ALL, write,
                                    &next[i]))
            return false;
    if (!record_access(s, addr, size, write, place))
        return false;
    dh_filter_learn(s, addr, size, write);
    return dh_cells_store(s, cell, next, n);
}

#define UNALIGNED(name, write, pointer)                                                                                \
    DH_PRESERVE_ALL                                                                                                    \
    __attribute__((noinline)) static void lined_##name##_unaligned(pointer addr, size_t size, uint32_t place)          \
    {                                                                                                                  \
        bool recorded;                                                                                                 \
        if (!check_in_line(__dh_thread.race, (uintptr_t)addr, (unsigned)size, write, place, &recorded))                \
            __dh_race_complete((uintptr_t)addr, (uint32_t)size | (uint32_t)(write) << 8 | (uint32_t)recorded << 9,     \
                               place | DH_PLACE_NO_VALUE, 0);                                                          \
    }                                                                                                                  \
    DH_PRESERVE_ALL void __dh_##name##_unaligned_slow(pointer addr, size_t size, uint32_t place)                       \
    {                                                                                                                  \
        struct dh_race_state *s = __dh_thread.race;                                                                    \
        if (!s || (!(write) && dh_module_is_constant((uintptr_t)addr)) ||                                              \
            (!(write) && knows_around(s, (uintptr_t)addr, (unsigned)size)) ||                                          \
            dh_filter_knows(s, (uintptr_t)addr, (unsigned)size, write))                                                \
            return;                                                                                                    \
        if (OFTEN(dh_gate_is_open(s)) && enter_fast(s)) {                                                              \
            bool done = update_unaligned(s, (uintptr_t)addr, (unsigned)size, write, place);                            \
            leave_fast(s);                                                                                             \
            if (OFTEN(done))                                                                                           \
                return;                                                                                                \
        }                                                                                                              \
        lined_##name##_unaligned(addr, size, place);                                                                   \
    }
UNALIGNED(read, false, const void *)
UNALIGNED(write, true, void *)

/* Several functions each, so that every step saves only the registers it needs: first whether the cell is private to
 * the thread, then the filter, then cells that are ordered; the shadow line and the rest of the detector come last. */
#define STEPS(name, size, write, parameters, arguments, value)                                                         \
    DH_PRESERVE_ALL __attribute__((noinline)) static void update_##name parameters                                     \
    {                                                                                                                  \
        check_cells(__dh_thread.race, (uintptr_t)addr, size, write, value, place);                                     \
    }                                                                                                                  \
    DH_PRESERVE_ALL __attribute__((noinline)) static void line_##name parameters                                       \
    {                                                                                                                  \
        bool recorded;                                                                                                 \
        if (!check_in_line(__dh_thread.race, (uintptr_t)addr, size, write, place, &recorded))                          \
            __dh_race_complete((uintptr_t)addr, (size) | (uint32_t)(write) << 8 | (uint32_t)recorded << 9, place,      \
                               value);                                                                                 \
    }                                                                                                                  \
    DH_PRESERVE_ALL __attribute__((noinline)) static void other_##name parameters                                      \
    {                                                                                                                  \
        const struct dh_race_state *s = __dh_thread.race;                                                              \
        if (!s || (!(write) && dh_module_is_constant((uintptr_t)addr)))                                                \
            return;                                                                                                    \
        if ((size) < 4 && is_private_part((uintptr_t)addr, size, write, place))                                        \
            return;                                                                                                    \
        if (!dh_cell_is_line(__atomic_load_n(dh_shadow_of((uintptr_t)addr), __ATOMIC_RELAXED))) __attribute__          \
            ((musttail)) return update_##name arguments;                                                               \
        if (!knows(s, (uintptr_t)addr, size, write)) __attribute__                                                     \
            ((musttail)) return line_##name arguments;                                                                 \
    }                                                                                                                  \
    DH_PRESERVE_ALL void __dh_##name##_slow parameters                                                                 \
    {                                                                                                                  \
        __builtin_prefetch((const void *)addr); /* which the program waits for next */                                 \
        if (!(PRIVATE_##size((uintptr_t)addr, write, place))) __attribute__                                            \
            ((musttail)) return other_##name arguments;                                                                \
    }
#define PRIVATE_1(addr, write, place) is_private_rest(addr, 1, write, place)
#define PRIVATE_2(addr, write, place) is_private_rest(addr, 2, write, place)
#define PRIVATE_4(addr, write, place) is_private(addr, 4, write, place)
#define PRIVATE_8(addr, write, place) is_private(addr, 8, write, place)
#define PRIVATE_16(addr, write, place) false
#define READ(size) STEPS(read##size, size, false, (const void *addr, uint32_t place), (addr, place), 0)
#define WRITE(size)                                                                                                    \
    STEPS(write##size, size, true, (void *addr, uint64_t value, uint32_t place), (addr, value, place), value)
/* Checks that try the read filter first: the access is added to it. */
#define READ_SHARED(size)                                                                                              \
    DH_PRESERVE_ALL __attribute__((noinline)) static void learn_read##size(const void *addr)                           \
    {                                                                                                                  \
        dh_read_filter_learn(__dh_thread.race, (uintptr_t)addr, (size) / 4);                                           \
    }                                                                                                                  \
    DH_PRESERVE_ALL void __dh_read##size##_shared_slow(const void *addr, uint32_t place)                               \
    {                                                                                                                  \
        __builtin_prefetch(addr);                                                                                      \
        __builtin_prefetch(dh_shadow_of((uintptr_t)addr) + 8); /* more of the object is read next */                   \
        if (!(PRIVATE_##size((uintptr_t)addr, false, place))) __attribute__                                            \
            ((musttail)) return other_read##size(addr, place);                                                         \
        if (OFTEN(!((uintptr_t)addr & ((size) - 1))))                                                                  \
            learn_read##size(addr);                                                                                    \
    }
READ(1)
READ(2)
READ(4)
READ(8)
READ(16)
READ_SHARED(4)
READ_SHARED(8)
WRITE(1)
WRITE(2)
WRITE(4)
WRITE(8)
STEPS(write16, 16, true, (void *addr, uint32_t place), (addr, place), 0)
