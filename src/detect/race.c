#include "detect/race.h"

enum { BYTES = 4 };

void dh_race_init(struct dh_race *r, void *(*allocate)(size_t n), uint32_t cap_sets, uint32_t cap_splits)
{
    *r = (struct dh_race){.n_splits = 1, .cap_splits = cap_splits};
    dh_read_sets_init(&r->sets, allocate, cap_sets);
    r->splits = allocate(cap_splits * sizeof *r->splits);
}

/* The clock with which to publish, and the next epoch if this one is used up. */
static void begin_release(struct dh_race_thread *t)
{
    if (!t->dirty)
        t->clock.at[dh_epoch_slot(t->time)]--;
}

static void end_release(struct dh_race_thread *t)
{
    if (t->dirty)
        t->time++;
    t->dirty = false;
    t->clock.at[dh_epoch_slot(t->time)] = dh_epoch_clock(t->time);
}

void dh_race_release(struct dh_race_thread *t, struct dh_clock *to)
{
    begin_release(t);
    dh_clock_copy(to, &t->clock);
    end_release(t);
}

void dh_race_release_join(struct dh_race_thread *t, struct dh_clock *to)
{
    begin_release(t);
    dh_clock_join(to, &t->clock);
    end_release(t);
}

static void enter(struct dh_race *r)
{
    if (r->lock)
        r->lock();
}

static void leave(struct dh_race *r)
{
    if (r->unlock)
        r->unlock();
}

static bool is_index(uint32_t half)
{
    return half && !dh_epoch_mask(half);
}

/* ---- split blocks ---- */

/* Free blocks are chained through their first cell. */
static uint32_t take_split(struct dh_race *r)
{
    uint32_t index = r->free_split;
    if (index)
        r->free_split = (uint32_t)r->splits[index][0];
    else if (r->n_splits < r->cap_splits)
        index = r->n_splits++;
    return index;
}

static void give_split(struct dh_race *r, uint32_t index)
{
    r->splits[index][0] = r->free_split;
    r->free_split = index;
}

/* What byte i of the granule knows, as a granule of one byte. */
static uint32_t byte_of(struct dh_race *r, uint32_t half, unsigned i, bool *ok)
{
    if (!is_index(half))
        return dh_epoch_mask(half) >> i & 1 ? dh_epoch_with(half, 1) : 0;
    const struct dh_read_set *s = dh_read_set_at(&r->sets, half);
    if (!(s->mask >> i & 1))
        return 0;
    uint32_t first = dh_read_set_of(&r->sets, 1, s->reader[0], s->reader[1]), single;
    static const struct dh_clock nothing;
    for (unsigned k = 2; first && k < s->n; k++)
        first = dh_read_set_with(&r->sets, first, s->reader[k], &nothing, &single);
    *ok = *ok && first;
    return first;
}

/* Turns the cell into a split one; false when a table is full. The loser of a race to split returns true, too: the cell
 * has changed and is looked at again. */
static bool split(struct dh_race *r, dh_cell *cell, dh_cell old)
{
    enter(r);
    uint32_t index = take_split(r);
    bool ok = index != 0;
    for (unsigned i = 0; ok && i < BYTES; i++)
        r->splits[index][i] = dh_cell_of(byte_of(r, dh_cell_read(old), i, &ok), byte_of(r, dh_cell_write(old), i, &ok));
    bool won =
        ok && __atomic_compare_exchange_n(cell, &old, dh_cell_of(0, index), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (index && !won)
        give_split(r, index);
    if (!ok)
        r->lost++;
    leave(r);
    return ok;
}

static bool is_split(dh_cell c)
{
    return is_index(dh_cell_write(c));
}

/* ---- conflicts ---- */

struct access {
    struct dh_race *r;
    struct dh_race_thread *t;
    uintptr_t addr;
    unsigned mask;
    uint32_t place;
    bool writes;
};

static void hit(const struct access *a, uint32_t before, unsigned shared, bool wrote)
{
    struct dh_race_hit h = {.addr = a->addr + (unsigned)__builtin_ctz(shared),
                            .mask = shared,
                            .writes = a->writes,
                            .wrote = wrote,
                            .before = before & DH_EPOCH_TIME,
                            .place = a->place};
    a->r->report(a->t, &h);
}

/* Answers the bytes that raced. */
static unsigned check_epoch(const struct access *a, uint32_t half, unsigned mask, bool wrote)
{
    unsigned shared = dh_epoch_mask(half) & mask;
    if (!shared || dh_clock_covers(&a->t->clock, half))
        return 0;
    hit(a, half, shared, wrote);
    return shared;
}

static void check_reads(const struct access *a, uint32_t half, unsigned mask)
{
    if (!is_index(half)) {
        check_epoch(a, half, mask, false);
        return;
    }
    const struct dh_read_set *s = dh_read_set_at(&a->r->sets, half);
    for (unsigned i = 0; i < s->n; i++)
        check_epoch(a, dh_epoch_with(s->reader[i], s->mask), mask, false);
}

/* ---- new contents ---- */

/* What a half holds after an access now replaced what it said of the bytes `mask`. False: one epoch cannot say it. */
static bool replace(const struct access *a, uint32_t half, uint32_t *out)
{
    unsigned old = is_index(half) ? dh_read_set_at(&a->r->sets, half)->mask : dh_epoch_mask(half);
    if (!(old & ~a->mask))
        *out = dh_epoch_with(a->t->time, a->mask);
    else if (!is_index(half) && (half & DH_EPOCH_TIME) == a->t->time)
        *out = dh_epoch_with(a->t->time, a->mask | old);
    else
        return false;
    return true;
}

/* Reads since the last write: replaced when ordered before this one, else gathered. */
static bool add_reader(const struct access *a, uint32_t half, uint32_t *out)
{
    if (!is_index(half) && (!half || dh_clock_covers(&a->t->clock, half)))
        return replace(a, half, out);
    struct dh_read_sets *sets = &a->r->sets;
    unsigned old = is_index(half) ? dh_read_set_at(sets, half)->mask : dh_epoch_mask(half);
    if (old != a->mask)
        return false;
    enter(a->r);
    uint32_t single = 0, set = is_index(half) ? dh_read_set_with(sets, half, a->t->time, &a->t->clock, &single)
                                              : dh_read_set_of(sets, old, half, a->t->time);
    a->r->lost += !set && !single;
    leave(a->r);
    *out = set ? set : single ? single : half;
    return true;
}

static bool is_own(const struct dh_race_thread *t, dh_cell c)
{
    uint32_t mine = dh_epoch_slot(t->time);
    return dh_epoch_mask(dh_cell_read(c)) && dh_epoch_mask(dh_cell_write(c)) &&
           dh_epoch_slot(dh_cell_read(c)) == mine && dh_epoch_slot(dh_cell_write(c)) == mine;
}

static bool store(struct dh_race_thread *t, dh_cell *cell, dh_cell old, dh_cell now)
{
    t->dirty = true;
    if (now == old)
        return true;
    if (is_own(t, old)) {
        __atomic_store_n(cell, now, __ATOMIC_RELAXED);
        return true;
    }
    return __atomic_compare_exchange_n(cell, &old, now, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ---- one access ---- */

static void access_bytes(const struct access *a, dh_cell *bytes);

/* Checks against what the cell says and says what is new. Another thread may change the cell meanwhile: then again. */
static void access_cell(const struct access *a, dh_cell *cell)
{
    for (;;) {
        dh_cell old = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
        if (is_split(old)) {
            access_bytes(a, a->r->splits[dh_cell_write(old)]);
            return;
        }
        uint32_t read = dh_cell_read(old), write = dh_cell_write(old);
        bool fits = a->writes ? replace(a, read, &read) && replace(a, write, &write) : add_reader(a, read, &read);
        if (!fits) {
            if (split(a->r, cell, old))
                continue;
            return;
        }
        if (!store(a->t, cell, old, dh_cell_of(read, write)))
            continue;
        unsigned raced = check_epoch(a, dh_cell_write(old), a->mask, true);
        /* A write stands in both halves: its own epoch among the reads is no second race. */
        bool same = (dh_cell_write(old) & DH_EPOCH_TIME) == (dh_cell_read(old) & DH_EPOCH_TIME);
        if (a->writes)
            check_reads(a, dh_cell_read(old), same ? a->mask & ~raced : a->mask);
        return;
    }
}

static void access_bytes(const struct access *a, dh_cell *bytes)
{
    for (unsigned i = 0; i < BYTES; i++) {
        if (!(a->mask >> i & 1))
            continue;
        struct access one = *a;
        one.addr += i;
        one.mask = 1;
        access_cell(&one, &bytes[i]);
    }
}

void dh_race_read(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, uintptr_t addr, unsigned mask,
                  uint32_t place)
{
    struct access a = {.r = r, .t = t, .addr = addr, .mask = mask, .place = place};
    access_cell(&a, cell);
}

void dh_race_write(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, uintptr_t addr, unsigned mask,
                   uint32_t place)
{
    struct access a = {.r = r, .t = t, .addr = addr, .mask = mask, .place = place, .writes = true};
    access_cell(&a, cell);
}

void dh_race_forget(struct dh_race *r, dh_cell *cell)
{
    dh_cell old = __atomic_exchange_n(cell, 0, __ATOMIC_ACQ_REL);
    if (!is_split(old))
        return;
    enter(r);
    give_split(r, dh_cell_write(old));
    leave(r);
}
