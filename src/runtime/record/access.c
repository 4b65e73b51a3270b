/* Accesses: recorded once in a segment, and as runs where a place goes on as expected. inline/record.c does what is
 * quick; here is the rest. */
#include "runtime/core/public_hooks.h"

#include "runtime/platform/keeps_registers.h"
#include "runtime/record/state.h"

#include "runtime/core/hook_table.h"
#include "runtime/core/instrumented_modules.h"
#include "runtime/sync/observer.h"

#define INDEX(addr) ((addr) >> 6 & (DH_RECORDED_LINES - 1))

/* ---- what was recorded ---- */

/* Some whole granules have their bits, everything else a row for itself. */
static bool has_bits(uintptr_t addr, size_t size)
{
    return !((addr | size) & 3) && size <= 64;
}

static uint64_t bits_of(uintptr_t addr, size_t size)
{
    return (((uint64_t)1 << size / 4) - 1) << (addr >> 2 & 15);
}

/* Within a line. */
static bool are_told(const struct dh_record_state *s, uintptr_t addr, uint64_t bits, bool write)
{
    uint64_t left = s->recorded[write][INDEX(addr)] ^ (addr & DH_KNOWN_ABOVE) ^ s->stamp;
    return !(left >> 16) && !(left & bits);
}

static bool is_recorded(const struct dh_record_state *s, uintptr_t addr, size_t size, bool write)
{
    if (!has_bits(addr, size)) {
        const struct dh_recorded_small *small = &s->small[dh_recorded_small_index(addr)];
        uint64_t left = small->what ^ (s->stamp | size << 1 | 1);
        return small->addr == addr && left <= !write;
    }
    uint64_t bits = bits_of(addr, size);
    return are_told(s, addr, bits & 0xFFFF, write) &&
           (!(bits >> 16) || are_told(s, (addr | 63) + 1, bits >> 16, write));
}

static void set_recorded(struct dh_record_state *s, uint64_t *word, uintptr_t addr, uint64_t bits)
{
    uint64_t key = (addr & DH_KNOWN_ABOVE) ^ s->stamp, old = *word;
    *word = ((old ^ key) >> 16 ? key | 0xFFFF : old) & ~bits;
}

/* Within a line. */
static void tell_bits(struct dh_record_state *s, uintptr_t addr, uint64_t bits, bool write)
{
    set_recorded(s, &s->recorded[0][INDEX(addr)], addr, bits);
    if (write)
        set_recorded(s, &s->recorded[1][INDEX(addr)], addr, bits);
}

static void learn(struct dh_record_state *s, uintptr_t addr, size_t size, bool write)
{
    if (has_bits(addr, size)) {
        uint64_t bits = bits_of(addr, size);
        tell_bits(s, addr, bits & 0xFFFF, write);
        if (bits >> 16)
            tell_bits(s, (addr | 63) + 1, bits >> 16, write);
    } else if (size <= 64) {
        s->small[dh_recorded_small_index(addr)] = (struct dh_recorded_small){addr, s->stamp | size << 1 | write};
        s->small_stamp = s->stamp;
    }
}

/* Line by line. What is at an end of no whole granule is recorded again. */
static void learn_range(struct dh_record_state *s, uintptr_t addr, size_t size, bool write)
{
    uintptr_t from = (addr + 3) & ~(uintptr_t)3, to = (addr + size) & ~(uintptr_t)3;
    if (to > from && to - from > DH_RECORDED_LINES * 64)
        from = to - DH_RECORDED_LINES * 64;
    while (from < to) {
        uintptr_t end = (from | 63) + 1;
        end = end < to ? end : to;
        tell_bits(s, from, bits_of(from, end - from), write);
        from = end;
    }
}

void dh_record_forget(struct dh_record_state *s, uintptr_t addr, size_t size)
{
    enum { FEW = 256 };
    if (size > FEW * 64) {
        dh_record_new_segment(s);
        return;
    }
    for (uintptr_t at = addr & ~(uintptr_t)63; at < addr + size; at += 64)
        s->recorded[0][INDEX(at)] = s->recorded[1][INDEX(at)] = 0;
    for (int i = 0; s->small_stamp == s->stamp && i < DH_RECORDED_SMALL; i++)
        if (s->small[i].addr - addr < size)
            s->small[i].addr = 0;
}

/* ---- writing ---- */

static void put_access(struct dh_record_lane *l, uintptr_t addr, size_t size, unsigned flags, uint32_t place)
{
    uint64_t site = place == DH_PLACE_NONE ? DH_NO_PLACE : place;
    uint64_t words[] = {DH_STREAM_ACCESS | flags | (uint64_t)size << 8 | site << 32, addr};
    dh_record_put(l, words, 2);
}

static void put_run(struct dh_record_lane *l, const struct dh_stream_run *r, unsigned flags, uint32_t count)
{
    uint64_t words[] = {DH_STREAM_RUN | flags | (uint64_t)r->size << 8 | (uint64_t)r->place << 32, r->start,
                        count | (uint64_t)(uint32_t)(int32_t)r->stride << 32};
    dh_record_put(l, words, 3);
}

static uint64_t end_of(const struct dh_stream_run *r)
{
    return DH_STREAM_RUN_KEY(r->next, r->place);
}

/* How many accesses; 0 for what a handler has left half done. */
static uint32_t count_of(const struct dh_stream_run *r)
{
    int64_t way = (int64_t)(end_of(r) - r->start);
    if (way == r->stride && way)
        return 1; /* as most; dividing is slow */
    if (!r->stride || way % r->stride || way / r->stride < 0 || way / r->stride > UINT32_MAX)
        return 0;
    return (uint32_t)(way / r->stride);
}

/* Emptied before it is written: a handler in between finds nothing to write twice. */
static void say(struct dh_record_state *s, struct dh_record_lane *l, struct dh_stream_run *r, bool write)
{
    struct dh_stream_run said = *r;
    uint32_t count = count_of(&said);
    r->start = end_of(&said);
    if (!count || !dh_record_room(s, l))
        return;
    unsigned flags = write ? DH_STREAM_WROTE : 0;
    dh_record_context(l, said.context);
    if (count == 1)
        put_access(l, said.start, said.size, flags, said.place);
    else if (said.stride == said.size && (uint64_t)count * said.size <= DH_STREAM_SIZE_MOST)
        put_access(l, said.start, (size_t)count * said.size, flags, said.place);
    else
        put_run(l, &said, flags, count);
}

void dh_record_say_runs(struct dh_record_state *s, struct dh_record_lane *l)
{
    struct dh_stream_run *all = l->shared->runs;
    for (unsigned k = 0; k < sizeof s->alive / sizeof *s->alive; k++)
        for (uint64_t left = s->alive[k]; left; left &= left - 1) {
            unsigned i = k * 64 + (unsigned)__builtin_ctzll(left);
            struct dh_stream_run *r = &all[i];
            if (r->start != end_of(r)) {
                say(s, l, r, i >= DH_STREAM_RUNS);
            } else { /* did not go on since the last time: it is asked no more */
                r->next = 0;
                s->alive[k] &= ~((uint64_t)1 << (i % 64));
            }
        }
}

/* ---- runs ---- */

static void learn_run(struct dh_record_state *s, const struct dh_stream_run *r, bool write)
{
    enum { FEW = 1024 };
    uint32_t count = count_of(r);
    if (r->stride == r->size) {
        learn_range(s, r->start, (size_t)count * r->size, write);
        return;
    }
    for (uint32_t i = 0; i < count && i < FEW; i++)
        learn(s, r->start + (uint64_t)(r->stride * (int64_t)i), r->size, write);
}

static void close_run(struct dh_record_state *s, struct dh_record_lane *l, struct dh_stream_run *r, bool write)
{
    if (count_of(r) > 1)
        learn_run(s, r, write);
    say(s, l, r, write);
    r->next = 0;
}

static void begin_run(struct dh_record_state *s, struct dh_stream_run *r, uintptr_t addr, uint32_t size, bool write,
                      uint32_t place)
{
    unsigned i = (unsigned)write * DH_STREAM_RUNS + place % DH_STREAM_RUNS;
    *r = (struct dh_stream_run){.stride = size, .start = addr, .place = place, .size = size};
    r->context = dh_record_here(s);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    r->next = DH_STREAM_RUN_KEY(addr + size, place);
    s->alive[i / 64] |= (uint64_t)1 << (i % 64);
    learn(s, addr, size, write);
}

/* Two accesses make a stride. */
static bool takes_stride(struct dh_record_state *s, struct dh_stream_run *r, uintptr_t addr, bool write)
{
    int64_t stride = (int64_t)(addr - r->start);
    if (count_of(r) != 1 || !stride || stride != (int32_t)stride)
        return false;
    r->stride = stride;
    r->next = DH_STREAM_RUN_KEY(addr + (uint64_t)stride, r->place);
    learn(s, addr, r->size, write);
    return true;
}

static void note(struct dh_record_state *s, struct dh_record_lane *l, uintptr_t addr, uint32_t size, bool write,
                 uint32_t place)
{
    struct dh_stream_run *r = &l->shared->runs[write * DH_STREAM_RUNS + place % DH_STREAM_RUNS];
    bool same = r->next && r->place == place && r->size == size;
    if (same && r->next == DH_STREAM_RUN_KEY(addr, place)) {
        r->next = DH_STREAM_RUN_KEY(addr + (uint64_t)r->stride, place);
        return;
    }
    if (is_recorded(s, addr, size, write) || (same && takes_stride(s, r, addr, write)))
        return;
    if (r->next)
        close_run(s, l, r, write);
    if (!is_recorded(s, addr, size, write))
        begin_run(s, r, addr, size, write, place);
}

static void put_pieces(struct dh_record_state *s, struct dh_record_lane *l, uintptr_t addr, size_t size, unsigned flags,
                       uint32_t place)
{
    while (size && dh_record_room(s, l)) {
        size_t n = size < DH_STREAM_SIZE_MOST ? size : DH_STREAM_SIZE_MOST;
        put_access(l, addr, n, flags, place);
        addr += n;
        size -= n;
    }
}

static bool ignores(const struct dh_record_state *s, bool write)
{
    return s->ignores & (1 << DH_IGNORED_ALL | 1 << (write ? DH_IGNORED_WRITES : DH_IGNORED_READS));
}

void dh_record_access(uintptr_t addr, size_t size, bool write, uint32_t place)
{
    enum { RUN_MOST = 1 << 12 };
    struct dh_record_state *s = __dh_thread.record;
    if (!s || !size || ignores(s, write))
        return;
    if (dh_module_is_constant(addr)) { /* known from now on, so that the inline checks pass */
        learn(s, addr, size, false);
        return;
    }
    struct dh_record_lane *l = dh_record_enter(s);
    if (!l)
        return;
    if (l == s->lanes && size <= RUN_MOST) {
        note(s, l, addr, (uint32_t)size, write, place);
    } else if (dh_record_room(s, l)) {
        dh_record_context(l, dh_record_here(s));
        put_pieces(s, l, addr, size, write ? DH_STREAM_WROTE : 0, place);
    }
    dh_record_leave(l);
}

void dh_record_library_access(const void *at, size_t size, bool write, const uintptr_t *call_slot)
{
    struct dh_record_state *s = __dh_thread.record;
    if (!s || !size || !call_slot || ignores(s, write) || dh_module_is_constant((uintptr_t)at) ||
        !dh_module_is_instrumented(*call_slot) || is_recorded(s, (uintptr_t)at, size, write))
        return;
    struct dh_record_lane *l = dh_record_enter(s);
    if (!l)
        return;
    if (dh_record_room(s, l)) {
        unsigned flags = DH_STREAM_LIBRARY | (write ? DH_STREAM_WROTE : 0);
        dh_record_context(l, dh_record_call_context(s, call_slot));
        put_pieces(s, l, (uintptr_t)at, size, flags, __dh_thread.place);
        learn(s, (uintptr_t)at, size, write);
    }
    dh_record_leave(l);
}

/* ---- hooks ---- */

/* what = bytes | write << 31; the inline checks call it through __dh_note_slow. */
void dh_note_slow(uintptr_t addr, uint32_t what, uint32_t place);
void dh_note_slow(uintptr_t addr, uint32_t what, uint32_t place)
{
    dh_record_access(addr, what & ~(1u << 31), what >> 31, place);
}

#define NOTE(name, type, parameters, size, write)                                                                      \
    void __dh_note_##name parameters                                                                                   \
    {                                                                                                                  \
        if (__dh_thread.record)                                                                                        \
            dh_record_access((uintptr_t)addr, size, write, place);                                                     \
    }
NOTE(read, const void, (const void *addr, size_t size, uint32_t place), size, false)
NOTE(write, void, (void *addr, size_t size, uint32_t place), size, true)
NOTE(read4, const void, (const void *addr, uint32_t place), 4, false)
NOTE(read8, const void, (const void *addr, uint32_t place), 8, false)
NOTE(write4, void, (void *addr, uint32_t place), 4, true)
NOTE(write8, void, (void *addr, uint32_t place), 8, true)

DH_KEEPS_REGISTERS("__dh_note_slow", "dh_note_slow");
