#include "detect/race.h"

enum { BYTES = 4, RESTING = 64, REFILL = 16 };

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

static bool is_split(dh_cell c)
{
    return is_index(dh_cell_write(c));
}

static bool swap(dh_cell *cell, dh_cell old, dh_cell now)
{
    return __atomic_compare_exchange_n(cell, &old, now, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* ---- sets: a half that names one holds a reference; references are given back after the half was replaced ---- */

static void drop(struct dh_race *r, uint32_t half)
{
    if (!is_index(half))
        return;
    enter(r);
    dh_read_set_release(&r->sets, half);
    leave(r);
}

/* ---- split blocks ---- */

static void refill(struct dh_race *r, struct dh_race_thread *t)
{
    enter(r);
    for (int i = 0; i < REFILL; i++) {
        uint32_t index = r->free_splits;
        if (index)
            r->free_splits = (uint32_t)r->splits[index].byte[0];
        else if (r->n_splits < r->cap_splits)
            index = r->n_splits++;
        else
            break;
        /* New ones are used before those that rest. */
        t->first_spare = (t->first_spare + DH_SPARE_SPLITS - 1) % DH_SPARE_SPLITS;
        t->spare[t->first_spare] = index;
        t->n_spare++;
    }
    leave(r);
}

static uint32_t take_split(struct dh_race *r, struct dh_race_thread *t)
{
    if (t->n_spare <= RESTING)
        refill(r, t);
    if (!t->n_spare)
        return 0;
    uint32_t index = t->spare[t->first_spare];
    t->first_spare = (t->first_spare + 1) % DH_SPARE_SPLITS;
    t->n_spare--;
    r->splits[index] = (struct dh_split){{0}, {0}};
    return index;
}

static void return_split(struct dh_race *r, uint32_t index)
{
    r->splits[index].byte[0] = r->free_splits;
    r->free_splits = index;
}

static void give_split(struct dh_race *r, struct dh_race_thread *t, uint32_t index)
{
    if (t->n_spare == DH_SPARE_SPLITS) {
        uint32_t oldest = t->spare[t->first_spare];
        t->first_spare = (t->first_spare + 1) % DH_SPARE_SPLITS;
        t->n_spare--;
        enter(r);
        return_split(r, oldest);
        leave(r);
    }
    t->spare[(t->first_spare + t->n_spare++) % DH_SPARE_SPLITS] = index;
}

void dh_race_thread_release(struct dh_race *r, struct dh_race_thread *t)
{
    enter(r);
    for (; t->n_spare; t->n_spare--) {
        return_split(r, t->spare[t->first_spare]);
        t->first_spare = (t->first_spare + 1) % DH_SPARE_SPLITS;
    }
    leave(r);
}

static void drop_cells(struct dh_race *r, dh_cell *cells)
{
    for (unsigned i = 0; i < BYTES; i++) {
        drop(r, dh_cell_read(cells[i]));
        drop(r, dh_cell_write(cells[i]));
        cells[i] = 0;
    }
}

static void free_split(struct dh_race *r, struct dh_race_thread *t, uint32_t index)
{
    drop_cells(r, r->splits[index].byte);
    drop_cells(r, r->splits[index].atomic);
    give_split(r, t, index);
}

/* What byte i of the granule knows, as a granule of one byte. */
static uint32_t byte_of(struct dh_race *r, uint32_t half, unsigned i, bool *ok)
{
    if (!is_index(half))
        return dh_epoch_mask(half) >> i & 1 ? dh_epoch_with(half, 1) : 0;
    if (!(dh_read_set_at(&r->sets, half)->mask >> i & 1))
        return 0;
    uint32_t set = dh_read_set_for(&r->sets, half, 1);
    *ok = *ok && set;
    return set;
}

/* Under the lock, and only while the cell still says `old`: then its set is alive. */
static bool fill_split(struct dh_race *r, dh_cell *cell, dh_cell old, uint32_t index)
{
    bool ok = __atomic_load_n(cell, __ATOMIC_ACQUIRE) == old;
    for (unsigned i = 0; ok && i < BYTES; i++)
        r->splits[index].byte[i] =
            dh_cell_of(byte_of(r, dh_cell_read(old), i, &ok), byte_of(r, dh_cell_write(old), i, &ok));
    return ok;
}

/* Turns the cell into a split one; false when a table is full. The loser of a race to split returns true, too: the cell
 * has changed and is looked at again. */
static bool split(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, dh_cell old)
{
    uint32_t index = take_split(r, t);
    if (!index) {
        r->lost++;
        return false;
    }
    enter(r);
    bool filled = fill_split(r, cell, old, index);
    bool won = filled && swap(cell, old, dh_cell_of(0, index));
    bool changed = !won && __atomic_load_n(cell, __ATOMIC_ACQUIRE) != old;
    leave(r);
    if (won)
        drop(r, dh_cell_read(old));
    else
        free_split(r, t, index);
    if (!won && !changed && !filled) {
        r->lost++;
        return false;
    }
    return true;
}

/* All bytes say the same again: one cell can say it. */
static void collapse(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, dh_cell old)
{
    const struct dh_split *s = &r->splits[dh_cell_write(old)];
    dh_cell first = s->byte[0];
    if (!first || is_index(dh_cell_read(first)))
        return;
    for (unsigned i = 0; i < BYTES; i++)
        if (s->byte[i] != first || s->atomic[i])
            return;
    uint32_t read = dh_cell_read(first), write = dh_cell_write(first);
    dh_cell now =
        dh_cell_of(read ? dh_epoch_with(read, DH_MASK_ALL) : 0, write ? dh_epoch_with(write, DH_MASK_ALL) : 0);
    if (swap(cell, old, now))
        give_split(r, t, dh_cell_write(old));
}

/* ---- conflicts ---- */

struct access {
    struct dh_race *r;
    struct dh_race_thread *t;
    uintptr_t addr;
    unsigned mask;
    uint32_t place;
    bool writes, atomic;
};

static void hit(const struct access *a, uint32_t before, unsigned shared, bool wrote, bool was_atomic)
{
    struct dh_race_hit h = {.addr = a->addr + (unsigned)__builtin_ctz(shared),
                            .mask = shared,
                            .writes = a->writes,
                            .wrote = wrote,
                            .atomic = a->atomic,
                            .was_atomic = was_atomic,
                            .before = before & DH_EPOCH_TIME,
                            .place = a->place};
    a->r->report(a->t, &h);
}

/* Answers the bytes that raced. */
static unsigned check_epoch(const struct access *a, uint32_t half, unsigned mask, bool wrote, bool was_atomic)
{
    unsigned shared = dh_epoch_mask(half) & mask;
    if (!shared || dh_clock_covers(&a->t->clock, half))
        return 0;
    hit(a, half, shared, wrote, was_atomic);
    return shared;
}

struct readers {
    unsigned n, mask;
    uint32_t reader[DH_SLOTS];
};

/* A copy of what a half says; false when `cell` changed, for then the set may be gone. */
static bool copy_half(struct dh_race *r, const dh_cell *cell, dh_cell old, uint32_t half, struct readers *out)
{
    if (!is_index(half)) {
        *out = (struct readers){.n = half != 0, .mask = dh_epoch_mask(half), .reader = {half}};
        return true;
    }
    enter(r);
    bool same = __atomic_load_n(cell, __ATOMIC_ACQUIRE) == old;
    if (same) {
        const struct dh_read_set *s = dh_read_set_at(&r->sets, half);
        out->n = s->n;
        out->mask = s->mask;
        for (unsigned i = 0; i < s->n; i++)
            out->reader[i] = s->reader[i];
    }
    leave(r);
    return same;
}

static void check_all(const struct access *a, const struct readers *others, unsigned mask, bool wrote, bool was_atomic)
{
    for (unsigned i = 0; i < others->n; i++)
        check_epoch(a, dh_epoch_with(others->reader[i], others->mask), mask, wrote, was_atomic);
}

/* What the cell said before against this access. A write stands in both halves: its own epoch among the reads is no
 * second race. */
static void check_cell(const struct access *a, dh_cell old, const struct readers *readers)
{
    unsigned raced = check_epoch(a, dh_cell_write(old), a->mask, true, false);
    bool same = (dh_cell_write(old) & DH_EPOCH_TIME) == (dh_cell_read(old) & DH_EPOCH_TIME);
    if (a->writes)
        check_all(a, readers, same ? a->mask & ~raced : a->mask, false, false);
}

/* ---- new contents ---- */

static unsigned mask_of(const struct access *a, uint32_t half)
{
    return is_index(half) ? dh_read_set_at(&a->r->sets, half)->mask : dh_epoch_mask(half);
}

/* What a half with the bytes `old` holds after an access now replaced what it said of the bytes a->mask. False: one
 * epoch cannot say it. */
static bool replace(const struct access *a, uint32_t half, unsigned old, uint32_t *out)
{
    if (!(old & ~a->mask))
        *out = dh_epoch_with(a->t->time, a->mask);
    else if (!is_index(half) && (half & DH_EPOCH_TIME) == a->t->time)
        *out = dh_epoch_with(a->t->time, a->mask | old);
    else
        return false;
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
    return swap(cell, old, now);
}

enum outcome { DONE, AGAIN, MUST_SPLIT };

/* Reads since the last write that are not ordered before this one are gathered. */
static enum outcome gather(const struct access *a, dh_cell *cell, dh_cell old)
{
    struct dh_read_sets *sets = &a->r->sets;
    uint32_t half = dh_cell_read(old), single = 0;
    enum outcome outcome = DONE;
    enter(a->r);
    if (__atomic_load_n(cell, __ATOMIC_ACQUIRE) != old) {
        outcome = AGAIN;
    } else if (mask_of(a, half) != a->mask) {
        outcome = MUST_SPLIT;
    } else {
        uint32_t set = is_index(half) ? dh_read_set_with(sets, half, a->t->time, &a->t->clock, &single)
                                      : dh_read_set_of(sets, a->mask, half, a->t->time);
        uint32_t now = set ? set : single;
        if (!now) {
            a->r->lost++;
        } else if (swap(cell, old, dh_cell_of(now, dh_cell_write(old)))) {
            half = is_index(half) ? half : 0;
            if (half)
                dh_read_set_release(sets, half);
        } else {
            outcome = AGAIN;
            if (set)
                dh_read_set_release(sets, set);
        }
    }
    leave(a->r);
    return outcome;
}

static enum outcome read_cell(const struct access *a, dh_cell *cell, dh_cell old)
{
    uint32_t read = dh_cell_read(old), now;
    a->t->dirty = true;
    if (is_index(read) || (read && !dh_clock_covers(&a->t->clock, read)))
        return gather(a, cell, old);
    if (!replace(a, read, dh_epoch_mask(read), &now))
        return MUST_SPLIT;
    return store(a->t, cell, old, dh_cell_of(now, dh_cell_write(old))) ? DONE : AGAIN;
}

static enum outcome write_cell(const struct access *a, dh_cell *cell, dh_cell old, const struct readers *readers)
{
    uint32_t read = dh_cell_read(old), write = dh_cell_write(old);
    if (!replace(a, read, readers->n ? readers->mask : 0, &read) || !replace(a, write, dh_epoch_mask(write), &write))
        return MUST_SPLIT;
    if (!store(a->t, cell, old, dh_cell_of(read, write)))
        return AGAIN;
    drop(a->r, dh_cell_read(old));
    return DONE;
}

/* ---- one access ---- */

/* Says what is new, then checks against what the cell said before: of two accesses at the same moment the later one
 * sees the other. False: the cell has to be split first. */
static bool access_whole(const struct access *a, dh_cell *cell, dh_cell old, bool *again)
{
    struct readers readers = {0};
    *again = a->writes && !copy_half(a->r, cell, old, dh_cell_read(old), &readers);
    if (*again)
        return true;
    enum outcome outcome = a->writes ? write_cell(a, cell, old, &readers) : read_cell(a, cell, old);
    *again = outcome == AGAIN;
    if (outcome == DONE)
        check_cell(a, old, &readers);
    return outcome != MUST_SPLIT;
}

static void plain_byte(const struct access *a, dh_cell *plain, const dh_cell *atomic)
{
    struct readers writers = {0}, readers = {0};
    bool again = true;
    while (again)
        access_whole(a, plain, __atomic_load_n(plain, __ATOMIC_ACQUIRE), &again);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (again = true; again;) {
        dh_cell old = __atomic_load_n(atomic, __ATOMIC_ACQUIRE);
        again = !copy_half(a->r, atomic, old, dh_cell_write(old), &writers) ||
                (a->writes && !copy_half(a->r, atomic, old, dh_cell_read(old), &readers));
    }
    check_all(a, &writers, 1, true, true);
    check_all(a, &readers, 1, false, true);
}

/* Atomics that are not ordered with each other do not race, so all of them are kept: stores in one half, loads in the
 * other, either as a set. */
static bool record_atomic(const struct access *a, dh_cell *cell)
{
    struct dh_read_sets *sets = &a->r->sets;
    dh_cell old = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
    uint32_t half = a->writes ? dh_cell_write(old) : dh_cell_read(old), now = dh_epoch_with(a->t->time, 1), set = 0;
    bool gathers = is_index(half) || (half && !dh_clock_covers(&a->t->clock, half));
    a->t->dirty = true;
    if (half == now)
        return true;
    enter(a->r);
    bool same = __atomic_load_n(cell, __ATOMIC_ACQUIRE) == old;
    if (same && gathers) {
        uint32_t single = 0;
        set = is_index(half) ? dh_read_set_with(sets, half, a->t->time, &a->t->clock, &single)
                             : dh_read_set_of(sets, 1, half, a->t->time);
        now = set ? set : single;
        a->r->lost += !now;
    }
    bool done =
        same &&
        (!now || swap(cell, old, a->writes ? dh_cell_of(dh_cell_read(old), now) : dh_cell_of(now, dh_cell_write(old))));
    if (done && now && is_index(half))
        dh_read_set_release(sets, half);
    if (!done && set)
        dh_read_set_release(sets, set);
    leave(a->r);
    return done;
}

static void atomic_byte(const struct access *a, const dh_cell *plain, dh_cell *atomic)
{
    struct readers readers = {0};
    dh_cell old;
    while (!record_atomic(a, atomic))
        ;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    do
        old = __atomic_load_n(plain, __ATOMIC_ACQUIRE);
    while (a->writes && !copy_half(a->r, plain, old, dh_cell_read(old), &readers));
    check_cell(a, old, &readers);
}

static void access_split(const struct access *a, struct dh_split *s)
{
    for (unsigned i = 0; i < BYTES; i++) {
        if (!(a->mask >> i & 1))
            continue;
        struct access one = *a;
        one.addr += i;
        one.mask = 1;
        if (a->atomic)
            atomic_byte(&one, &s->byte[i], &s->atomic[i]);
        else
            plain_byte(&one, &s->byte[i], &s->atomic[i]);
    }
}

/* Another thread may change the cell meanwhile: then again. */
static void access_cell(const struct access *a, dh_cell *cell)
{
    for (bool again = true; again;) {
        dh_cell old = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
        if (is_split(old)) {
            access_split(a, &a->r->splits[dh_cell_write(old)]);
            again = __atomic_load_n(cell, __ATOMIC_ACQUIRE) != old;
            if (!again && !a->atomic)
                collapse(a->r, a->t, cell, old);
        } else if (a->atomic || !access_whole(a, cell, old, &again)) {
            again = split(a->r, a->t, cell, old);
        }
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

void dh_race_atomic(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, uintptr_t addr, unsigned mask,
                    uint32_t place, bool writes)
{
    struct access a = {.r = r, .t = t, .addr = addr, .mask = mask, .place = place, .writes = writes, .atomic = true};
    access_cell(&a, cell);
}

void dh_race_forget(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell)
{
    dh_cell old = __atomic_exchange_n(cell, 0, __ATOMIC_ACQ_REL);
    if (is_split(old))
        free_split(r, t, dh_cell_write(old));
    else
        drop(r, dh_cell_read(old));
}
