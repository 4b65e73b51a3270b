#include "detect/race.h"

void dh_race_init(struct dh_race *r, void *(*allocate)(size_t n), uint32_t cap_lines)
{
    *r = (struct dh_race){0};
    dh_lines_init(&r->lines, allocate, cap_lines);
}

void dh_race_reset(struct dh_race *r)
{
    dh_lines_reset(&r->lines);
}

/* ---- synchronisation ---- */

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

/* ---- one access ---- */

struct access {
    struct dh_race *r;
    struct dh_race_thread *t;
    dh_cell *cell;
    uintptr_t granule;
    unsigned mask;
    enum dh_access_kind kind;
    uint32_t place;
};

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

static bool swap(dh_cell *cell, dh_cell old, dh_cell now)
{
    return __atomic_compare_exchange_n(cell, &old, now, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool is_own(const struct dh_race_thread *t, dh_cell c)
{
    uint32_t mine = dh_epoch_slot(t->time);
    return dh_epoch_slot(dh_cell_read(c)) == mine && dh_epoch_slot(dh_cell_write(c)) == mine;
}

static bool store(struct dh_race_thread *t, dh_cell *cell, dh_cell old, dh_cell now)
{
    if (now == old)
        return true;
    if (is_own(t, old)) {
        __atomic_store_n(cell, now, __ATOMIC_RELAXED);
        return true;
    }
    return swap(cell, old, now);
}

/* ---- from a cell to its line ---- */

static unsigned granule_in_line(uintptr_t granule)
{
    return granule >> 2 & (DH_CELLS - 1);
}

/* Cells of a line lie together, sixteen of them; one that has a line already shows it. Under the lock. */
static uint32_t line_of_neighbours(const struct access *a)
{
    const dh_cell *first = a->cell - granule_in_line(a->granule);
    for (unsigned i = 0; i < DH_CELLS; i++) {
        dh_cell c = __atomic_load_n(&first[i], __ATOMIC_ACQUIRE);
        if (dh_cell_is_line(c) && !(a->r->lines.at[dh_cell_line(c)].spent >> granule_in_line(a->granule) & 1))
            return dh_cell_line(c);
    }
    return 0;
}

static uint64_t in_line(uintptr_t granule, uint64_t mask)
{
    return mask << (granule & 63);
}

/* What a half said. A wide one is explained when it matters. */
static bool note(const struct access *a, struct dh_line *line, uint32_t half, uint32_t kind)
{
    bool wide = dh_epoch_is_wide(half);
    unsigned mask = wide ? DH_MASK_ALL : dh_epoch_mask(half);
    struct dh_pair pair = {in_line(a->granule, mask), half & DH_EPOCH_TIME, wide ? kind | DH_KIND_WIDE : kind};
    return !half || dh_line_note(&a->r->lines, line, &pair);
}

/* False: no room. When the cell changed meanwhile it is simply looked at again. */
static bool move_to_line(const struct access *a, dh_cell old)
{
    uint32_t read = dh_cell_read(old), write = dh_cell_write(old);
    if (read == write && !dh_epoch_is_wide(read))
        read = 0;
    enter(a->r);
    uint32_t index = line_of_neighbours(a);
    bool fresh = !index;
    if (fresh)
        index = dh_line_take(&a->r->lines);
    struct dh_line *line = &a->r->lines.at[index];
    bool ok = index && note(a, line, write, DH_WRITES) && note(a, line, read, DH_READS);
    if (ok && swap(a->cell, old, dh_cell_of(0, DH_EPOCH_INDEX | index)))
        line->cells++;
    if (index && !line->cells)
        dh_line_give(&a->r->lines, index);
    a->r->lost += !ok;
    leave(a->r);
    return ok;
}

static void leave_line(struct dh_race *r, dh_cell old, uintptr_t granule)
{
    struct dh_line *line = &r->lines.at[dh_cell_line(old)];
    enter(r);
    line->spent |= 1u << granule_in_line(granule);
    if (--line->cells == 0)
        dh_line_give(&r->lines, dh_cell_line(old));
    leave(r);
}

/* ---- in a line ---- */

struct looking {
    const struct access *a;
    uint64_t bytes, accessed; /* of the granule, and of the access */
    bool alone;               /* all else that was done to the granule happens before */
    struct dh_pair wide;      /* one that has to be explained first */
};

static bool look(void *arg, const struct dh_pair *p)
{
    struct looking *l = arg;
    uint64_t shared = p->bytes & l->accessed;
    if (!(p->bytes & l->bytes) || dh_clock_covers(&l->a->t->clock, p->time))
        return true;
    l->alone = false;
    if (!shared || p->kind & DH_KIND_WIDE || !dh_kinds_conflict(p->kind, l->a->kind))
        return true; /* what was wide and conflicts has been explained */
    unsigned first = (unsigned)__builtin_ctzll(shared);
    struct dh_race_hit h = {.addr = (l->a->granule & ~(uintptr_t)63) + first,
                            .bytes = shared >> first,
                            .writes = dh_kind_writes(l->a->kind),
                            .wrote = dh_kind_writes(p->kind),
                            .atomic = dh_kind_atomic(l->a->kind),
                            .was_atomic = dh_kind_atomic(p->kind),
                            .before = p->time,
                            .place = l->a->place};
    l->a->r->report(l->a->t, &h);
    return true;
}

/* The thread of a wide epoch knows what it did to this granule: that takes the epoch's place. */
static void explain(const struct access *a, struct dh_line *line, const struct dh_pair *wide)
{
    struct dh_pair pairs[4], gone = {wide->bytes & in_line(a->granule, DH_MASK_ALL), wide->time, wide->kind};
    unsigned n = a->r->explain(wide->time, a->granule, dh_kind_writes(wide->kind & ~DH_KIND_WIDE), pairs);
    enter(a->r);
    dh_line_unnote(line, &gone);
    for (unsigned i = 0; i < n; i++) {
        pairs[i].bytes = in_line(a->granule, pairs[i].bytes);
        a->r->lost += !dh_line_note(&a->r->lines, line, &pairs[i]);
    }
    leave(a->r);
}

static bool see_wide(void *arg, const struct dh_pair *p)
{
    struct looking *l = arg;
    if (!(p->kind & DH_KIND_WIDE) || !(p->bytes & l->accessed) || dh_clock_covers(&l->a->t->clock, p->time) ||
        !dh_kinds_conflict(p->kind & ~DH_KIND_WIDE, l->a->kind))
        return true;
    l->wide = *p;
    return false;
}

static void explain_wide(struct looking *l, struct dh_line *line, unsigned slot)
{
    for (l->wide.bytes = 1; l->wide.bytes;) {
        l->wide.bytes = 0;
        dh_line_others(line, slot, see_wide, l);
        if (l->wide.bytes)
            explain(l->a, line, &l->wide);
    }
}

static struct dh_column *own_column(const struct access *a, struct dh_line *line, const struct dh_pair *now)
{
    unsigned slot = dh_epoch_slot(a->t->time);
    struct dh_column *c = dh_line_find(line, slot);
    if (c && dh_column_add(c, now))
        return c;
    enter(a->r);
    c = dh_line_column(&a->r->lines, line, slot);
    bool ok = c && (dh_column_add(c, now) || (dh_column_grow(&a->r->lines, c) && dh_column_add(c, now)));
    a->r->lost += !ok;
    leave(a->r);
    return ok ? c : NULL;
}

/* Says it, then looks at the others: of two accesses at the same moment one sees the other. */
static void access_line(const struct access *a, dh_cell old)
{
    struct dh_line *line = &a->r->lines.at[dh_cell_line(old)];
    struct dh_pair now = {in_line(a->granule, a->mask), a->t->time, a->kind};
    struct dh_column *mine = dh_line_find(line, dh_epoch_slot(a->t->time));
    if (mine && dh_column_says(mine, now.bytes, a->kind, a->t->time))
        return;
    mine = own_column(a, line, &now);
    if (!mine)
        return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    struct looking l = {.a = a, .bytes = in_line(a->granule, DH_MASK_ALL), .accessed = now.bytes, .alone = true};
    if (line->has_wide)
        explain_wide(&l, line, mine->slot);
    dh_line_others(line, mine->slot, look, &l);
    /* All four bytes are this epoch's, and nothing else matters any more: one cell can say it. */
    if (!l.alone || a->kind != DH_WRITES || !dh_column_says(mine, l.bytes, DH_WRITES, a->t->time))
        return;
    uint32_t epoch = dh_epoch_with(a->t->time, DH_MASK_ALL);
    if (swap(a->cell, old, dh_cell_of(epoch, epoch)))
        leave_line(a->r, old, a->granule);
}

/* ---- in a cell ---- */

/* True when the cell tells it: then everything in it happens before, and no race can be. */
static bool access_cell(const struct access *a, dh_cell old, bool *again)
{
    uint32_t read = dh_cell_read(old), write = dh_cell_write(old), time = a->t->time;
    const struct dh_clock *now = &a->t->clock;
    *again = false;
    if (dh_kind_atomic(a->kind) || !dh_clock_covers(now, read) || !dh_clock_covers(now, write))
        return false;
    uint32_t new_read = dh_race_half_after(read, write, time, a->mask), new_write = write;
    if (a->kind == DH_WRITES)
        new_write = dh_race_half_after(write, 0, time, a->mask);
    if (!new_read || (a->kind == DH_WRITES && !new_write))
        return false;
    *again = !store(a->t, a->cell, old, dh_cell_of(new_read, new_write));
    return true;
}

void dh_race_access_granule(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, uintptr_t addr, unsigned mask,
                            enum dh_access_kind kind, uint32_t place)
{
    struct access a = {r, t, cell, addr, mask, kind, place};
    t->dirty = true;
    for (bool again = true; again;) {
        dh_cell old = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
        if (dh_cell_is_line(old)) {
            access_line(&a, old);
            dh_cell now = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
            /* Another thread forgot it meanwhile, or found it ordered: said again where it counts now. */
            again = now != old && !dh_race_repeats(t, dh_cell_read(now), mask);
        } else if (!access_cell(&a, old, &again)) {
            again = move_to_line(&a, old);
        }
    }
}

void dh_race_forget(struct dh_race *r, dh_cell *cell, uintptr_t granule)
{
    dh_cell old = __atomic_exchange_n(cell, 0, __ATOMIC_ACQ_REL);
    if (dh_cell_is_line(old))
        leave_line(r, old, granule);
}
