#include "detect/race.h"

void dh_race_init(struct dh_race *r, void *(*allocate)(size_t n), uint32_t cap_lines)
{
    *r = (struct dh_race){0};
    dh_shadow_lines_init(&r->lines, allocate, cap_lines);
}

void dh_race_reset(struct dh_race *r)
{
    dh_shadow_lines_reset(&r->lines);
}

/* ---- synchronisation ---- */

/* The clock to release, and the next epoch if this one has accesses. */
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
    dh_vclock_copy(to, &t->clock);
    end_release(t);
}

void dh_race_release_join(struct dh_race_thread *t, struct dh_clock *to)
{
    begin_release(t);
    dh_vclock_join(to, &t->clock);
    end_release(t);
}

/* ---- one access ---- */

/* A piece of an access: granules of one line. */
struct access {
    struct dh_race *r;
    struct dh_race_thread *t;
    dh_cell *cell;
    uintptr_t granule;
    unsigned n;     /* granules */
    uint64_t bytes; /* in the line */
    enum dh_access_kind kind;
    uint32_t place;
    bool added;
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

/* The sixteen cells of a line are adjacent: the index of a neighbour that has moved already. Under the lock. */
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

/* Imports a half of a cell. A wide epoch is resolved only when it matters. */
static bool import_half(const struct access *a, struct dh_shadow_line *line, uint32_t half, uint32_t kind)
{
    bool wide = dh_epoch_is_wide(half);
    unsigned mask = wide ? DH_MASK_ALL : dh_epoch_mask(half);
    struct dh_line_access pair = {in_line(a->granule, mask), half & DH_EPOCH_TIME, wide ? kind | DH_KIND_WIDE : kind};
    return !half || dh_shadow_line_import(&a->r->lines, line, &pair);
}

/* False: no room. A cell that changed meanwhile is loaded again by the caller. */
static bool move_to_line(const struct access *a, dh_cell old)
{
    uint32_t read = dh_cell_read(old), write = dh_cell_write(old);
    if (read == write && !dh_epoch_is_wide(read))
        read = 0;
    enter(a->r);
    uint32_t index = line_of_neighbours(a);
    bool fresh = !index;
    if (fresh)
        index = dh_shadow_line_alloc(&a->r->lines);
    struct dh_shadow_line *line = &a->r->lines.at[index];
    bool ok = index && import_half(a, line, write, DH_WRITES) && import_half(a, line, read, DH_READS);
    if (ok && swap(a->cell, old, dh_cell_of(0, DH_EPOCH_INDEX | index)))
        line->cells++;
    if (index && !line->cells)
        dh_shadow_line_free(&a->r->lines, index);
    a->r->lost += !ok;
    leave(a->r);
    return ok;
}

static void leave_line(struct dh_race *r, dh_cell old, uintptr_t granule)
{
    struct dh_shadow_line *line = &r->lines.at[dh_cell_line(old)];
    enter(r);
    line->spent |= 1u << granule_in_line(granule);
    if (--line->cells == 0)
        dh_shadow_line_free(&r->lines, dh_cell_line(old));
    leave(r);
}

/* ---- in a line ---- */

struct line_check {
    const struct access *a;
    uint64_t bytes, accessed;   /* of the granules, and of the access */
    bool alone;                 /* all other accesses to the granules happen before */
    bool clean;                 /* all writes in the line happen before */
    bool silent;                /* it was reported before */
    struct dh_line_access wide; /* one that has to be resolved first */
};

/* Granule by granule: the other access may have been several. */
static void report(const struct access *a, const struct dh_line_access *p, uint64_t shared)
{
    while (shared) {
        unsigned first = (unsigned)__builtin_ctzll(shared);
        uint64_t here = shared & in_line(first & ~3u, DH_MASK_ALL);
        struct dh_race_hit h = {.addr = (a->granule & ~(uintptr_t)63) + first,
                                .bytes = here >> first,
                                .writes = dh_kind_writes(a->kind),
                                .wrote = dh_kind_writes(p->kind),
                                .atomic = dh_kind_atomic(a->kind),
                                .was_atomic = dh_kind_atomic(p->kind),
                                .before = p->time,
                                .place = a->place};
        a->r->report(a->t, &h);
        shared &= ~here;
    }
}

static bool check_access(void *arg, const struct dh_line_access *p)
{
    struct line_check *l = arg;
    uint64_t shared = p->bytes & l->accessed;
    if (dh_clock_covers(&l->a->t->clock, p->time))
        return true;
    l->clean = l->clean && !dh_kind_writes(p->kind & ~DH_KIND_WIDE);
    if (!(p->bytes & l->bytes))
        return true;
    l->alone = false;
    /* Conflicting wide epochs have been resolved. */
    if (!l->silent && !(p->kind & DH_KIND_WIDE) && dh_kinds_conflict(p->kind, l->a->kind))
        report(l->a, p, shared);
    return true;
}

/* Replaces a wide epoch by the accesses to this granule that its thread's history has. */
static void explain(const struct access *a, struct dh_shadow_line *line, uintptr_t granule,
                    const struct dh_line_access *wide)
{
    struct dh_line_access pairs[4], gone = {wide->bytes & in_line(granule, DH_MASK_ALL), wide->time, wide->kind};
    unsigned n = a->r->explain(wide->time, granule, dh_kind_writes(wide->kind & ~DH_KIND_WIDE), pairs);
    enter(a->r);
    dh_shadow_line_remove(line, &gone);
    for (unsigned i = 0; i < n; i++) {
        pairs[i].bytes = in_line(granule, pairs[i].bytes);
        a->r->lost += !dh_shadow_line_import(&a->r->lines, line, &pairs[i]);
    }
    leave(a->r);
}

static bool see_wide(void *arg, const struct dh_line_access *p)
{
    struct line_check *l = arg;
    if (!(p->kind & DH_KIND_WIDE) || !(p->bytes & l->accessed) || dh_clock_covers(&l->a->t->clock, p->time) ||
        !dh_kinds_conflict(p->kind & ~DH_KIND_WIDE, l->a->kind))
        return true;
    l->wide = *p;
    return false;
}

static void explain_wide(struct line_check *l, struct dh_shadow_line *line, unsigned slot)
{
    for (l->wide.bytes = 1; l->wide.bytes;) {
        l->wide.bytes = 0;
        dh_shadow_line_each_other(line, slot, see_wide, l);
        for (unsigned i = 0; i < l->a->n; i++)
            if (l->wide.bytes & in_line(l->a->granule + 4 * i, DH_MASK_ALL))
                explain(l->a, line, l->a->granule + 4 * i, &l->wide);
    }
}

/* `c` is the column if there is one. */
static struct dh_column *add_to_column(const struct access *a, struct dh_shadow_line *line, struct dh_column *c)
{
    const struct dh_line_access here = {a->bytes, a->t->time, a->kind}, *now = &here;
    if (c && dh_column_add(c, now))
        return c;
    enter(a->r);
    c = dh_shadow_line_get_column(&a->r->lines, line, dh_epoch_slot(a->t->time));
    bool ok = c && (dh_column_add(c, now) || (dh_column_grow(&a->r->lines, c) && dh_column_add(c, now)));
    a->r->lost += !ok;
    leave(a->r);
    return ok ? c : NULL;
}

/* One cell is enough again: all four bytes were written in this epoch, and nothing else matters any more. */
static void leave_if_covered(const struct access *a, dh_cell old, const struct dh_column *mine)
{
    uint32_t epoch = dh_epoch_with(a->t->time, DH_MASK_ALL);
    for (unsigned i = 0; i < a->n; i++) {
        uintptr_t granule = a->granule + 4 * i;
        if (dh_column_has(mine, in_line(granule, DH_MASK_ALL), DH_WRITES, a->t->time) &&
            swap(&a->cell[i], old, dh_cell_of(epoch, epoch)))
            leave_line(a->r, old, granule);
    }
}

/* Data that several threads read and one writes would leave the line with every write, and return. */
static bool is_calm(struct dh_shadow_line *line, uint32_t time, bool writes_alone)
{
    enum { EPOCHS = 2 };
    uint32_t since = __atomic_load_n(&line->calm, __ATOMIC_RELAXED);
    if (since && dh_epoch_slot(since) == dh_epoch_slot(time))
        return writes_alone && time - since >= EPOCHS;
    if (writes_alone || since)
        __atomic_store_n(&line->calm, writes_alone ? time : 0, __ATOMIC_RELAXED);
    return false;
}

/* No write since this thread found that all writes happen before it; order only grows. */
static bool has_checked(const struct access *a, const struct dh_column *mine, uint64_t writes)
{
    return !dh_kind_writes(a->kind) && mine->checked == writes && mine->checked_by == a->t->serial;
}

/* Checks the access against the other columns. */
static bool check_line(const struct access *a, struct dh_shadow_line *line, struct dh_column *mine, bool silent)
{
    uint64_t writes = __atomic_load_n(&line->writes, __ATOMIC_SEQ_CST);
    if (has_checked(a, mine, writes))
        return false;
    struct line_check l = {.a = a, .accessed = a->bytes, .alone = true, .clean = true, .silent = silent};
    l.bytes = in_line(a->granule, a->n < DH_CELLS ? ((uint64_t)1 << 4 * a->n) - 1 : ~(uint64_t)0);
    if (line->has_wide && !silent)
        explain_wide(&l, line, mine->slot);
    dh_shadow_line_each_other(line, mine->slot, check_access, &l);
    if (l.clean) {
        mine->checked = writes;
        mine->checked_by = a->t->serial;
    }
    return l.alone;
}

/* Adds the access, then checks the others: of two simultaneous accesses one sees the other. A repeated write checks
 * whether the line is still needed (a cell is quicker). */
static void access_line(const struct access *a, dh_cell old)
{
    struct dh_shadow_line *line = &a->r->lines.at[dh_cell_line(old)];
    struct dh_column *mine = dh_shadow_line_find_column(line, dh_epoch_slot(a->t->time));
    bool repeats = mine && dh_column_has(mine, a->bytes, a->kind, a->t->time);
    if (repeats && a->kind != DH_WRITES && !a->added)
        return;
    if (!repeats)
        mine = add_to_column(a, line, mine);
    if (!mine)
        return;
    if (!repeats && dh_kind_writes(a->kind))
        dh_shadow_line_count_write(line);
    else
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    bool alone = check_line(a, line, mine, repeats && !a->added) && a->kind == DH_WRITES;
    bool calm = is_calm(line, a->t->time, alone);
    if (alone && (calm || repeats))
        leave_if_covered(a, old, mine);
}

/* ---- in a cell ---- */

/* True when the cell can hold it: then everything in it happens before, and there is no race. */
static bool access_cell(const struct access *a, unsigned mask, dh_cell old, bool *again)
{
    uint32_t read = dh_cell_read(old), write = dh_cell_write(old), time = a->t->time;
    const struct dh_clock *now = &a->t->clock;
    *again = false;
    if (dh_kind_atomic(a->kind) || !dh_clock_covers(now, read) || !dh_clock_covers(now, write))
        return false;
    uint32_t new_read = dh_race_half_after(read, write, time, mask), new_write = write;
    if (a->kind == DH_WRITES)
        new_write = dh_race_half_after(write, 0, time, mask);
    if (!new_read || (a->kind == DH_WRITES && !new_write))
        return false;
    *again = !store(a->t, a->cell, old, dh_cell_of(new_read, new_write));
    return true;
}

/* How many granules from here on have the same line. */
static unsigned together(const struct access *a, dh_cell line)
{
    unsigned n = 1;
    while (n < a->n && __atomic_load_n(&a->cell[n], __ATOMIC_ACQUIRE) == line)
        n++;
    return n;
}

static uint64_t first_granules(const struct access *a, unsigned n)
{
    uint64_t all = n < DH_CELLS ? ((uint64_t)1 << 4 * n) - 1 : ~(uint64_t)0;
    return a->bytes & in_line(a->granule, all);
}

static bool all_still(const struct access *a, dh_cell line)
{
    for (unsigned i = 0; i < a->n; i++) {
        dh_cell now = __atomic_load_n(&a->cell[i], __ATOMIC_ACQUIRE);
        unsigned mask = (unsigned)(a->bytes >> ((a->granule + 4 * i) & 63)) & DH_MASK_ALL;
        /* Another thread cleared it meanwhile, or moved it back to a cell: the access is added again there. */
        if (now != line && !dh_race_repeats(a->t, dh_cell_read(now), mask))
            return false;
    }
    return true;
}

/* The first granules of the piece that have one line; returns how many are done, 0: try again. */
static unsigned access_lined(const struct access *a, dh_cell old)
{
    struct access some = *a;
    some.n = together(a, old);
    some.bytes = first_granules(a, some.n);
    access_line(&some, old);
    return all_still(&some, old) ? some.n : 0;
}

static unsigned move_first(const struct access *a, dh_cell old)
{
    struct access one = *a;
    one.n = 1;
    one.bytes = first_granules(a, 1);
    return move_to_line(&one, old) ? 0 : 1;
}

static void access_piece(struct access *a)
{
    while (a->n) {
        dh_cell old = __atomic_load_n(a->cell, __ATOMIC_ACQUIRE);
        unsigned mask = (unsigned)(a->bytes >> (a->granule & 63)) & DH_MASK_ALL, done;
        bool again;
        if (dh_cell_is_line(old))
            done = access_lined(a, old);
        else if (access_cell(a, mask, old, &again))
            done = !again;
        else
            done = move_first(a, old);
        a->bytes &= ~first_granules(a, done);
        a->cell += done;
        a->granule += 4 * done;
        a->n -= done;
    }
}

/* A whole granule that is this epoch's, or whose epochs happen before. */
DH_ALWAYS_INLINE bool is_plain(struct dh_race_thread *t, dh_cell *cell, enum dh_access_kind kind)
{
    dh_cell old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    uint32_t epoch = dh_epoch_with(t->time, DH_MASK_ALL), read = dh_cell_read(old), write = dh_cell_write(old);
    if (kind == DH_WRITES ? old == dh_cell_of(epoch, epoch) : read == epoch)
        return true;
    if (dh_cell_is_line(old) || !dh_clock_covers(&t->clock, read) || !dh_clock_covers(&t->clock, write))
        return false;
    return store(t, cell, old, dh_cell_of(epoch, kind == DH_WRITES ? epoch : write));
}

static uintptr_t skip_plain(struct dh_race_thread *t, dh_cell **cell, uintptr_t at, uintptr_t end,
                            enum dh_access_kind kind)
{
    while (!(at & 3) && at + 4 <= end && is_plain(t, *cell, kind)) {
        at += 4;
        ++*cell;
    }
    return at;
}

void dh_race_record(struct dh_race *r, struct dh_race_thread *t, dh_cell *cell, const struct dh_checked_access *access)
{
    uintptr_t at = access->addr, end = at + access->size;
    t->dirty = true;
    while (at < end) {
        if (!dh_kind_atomic(access->kind))
            at = skip_plain(t, &cell, at, end, access->kind);
        if (at == end)
            return;
        uintptr_t line_end = (at | 63) + 1, stop = end < line_end ? end : line_end;
        unsigned size = (unsigned)(stop - at);
        struct access a = {.r = r, .t = t, .cell = cell, .granule = at & ~(uintptr_t)3, .kind = access->kind};
        a.place = access->place;
        a.added = access->added;
        a.bytes = (size < 64 ? ((uint64_t)1 << size) - 1 : ~(uint64_t)0) << (at & 63);
        a.n = (unsigned)((stop + 3 - a.granule) / 4);
        cell += a.n;
        access_piece(&a);
        at = stop;
    }
}

void dh_race_forget(struct dh_race *r, dh_cell *cell, uintptr_t granule)
{
    dh_cell old = __atomic_exchange_n(cell, 0, __ATOMIC_ACQ_REL);
    if (dh_cell_is_line(old))
        leave_line(r, old, granule);
}
