/* Race checks of strided loops, made once before the loop: one record in the history for all accesses, and an update of
 * each cell.
 */
#include "runtime/core/public_hooks.h"

#include "runtime/core/hook_table.h"
#include "runtime/race/cell_update.h"
#include "runtime/race/race_state.h"
#include "runtime/race/shadow.h"

/* A count above what memory can hold is an error of its computation. Checked in parts, so that 32 bits hold an extent.
 */
enum { COUNT_MAX_SHIFT = 40, PART = 1 << 24 };

struct strided {
    uintptr_t at;
    uint64_t count;
    uint32_t stride, place;
};

/* Size and kind are constants of the callers, so that loops over cells are short. */
#define FIXED static inline __attribute__((always_inline))

FIXED dh_cell load_cell(const dh_cell *cell)
{
    return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

FIXED bool is_own(const dh_cell *cell, dh_cell own, unsigned size, bool write)
{
    if (write)
        return load_cell(cell) == own && (size == 4 || load_cell(cell + 1) == own);
    return (uint32_t)load_cell(cell) == (uint32_t)own && (size == 4 || (uint32_t)load_cell(cell + 1) == (uint32_t)own);
}

/* An equal access was recorded in this epoch, in the cells or the read filter. */
FIXED bool is_recorded(const struct dh_race_state *s, uintptr_t at, dh_cell own, unsigned size, bool write)
{
    return is_own(dh_shadow_of(at), own, size, write) || (!write && dh_read_filter_knows(s, at, size / 4));
}

FIXED bool update_private(dh_cell *cell, dh_cell own, unsigned size, bool write)
{
    dh_cell old = load_cell(cell);
    if (!dh_cells_are_private(cell, old, own, size))
        return false;
    dh_cells_store_private(cell, old, own, size, write);
    return true;
}

/* True: all cells were ordered before, and are updated. */
FIXED bool update_ordered(struct dh_race_state *s, dh_cell *cell, unsigned size, bool write)
{
    struct dh_cell_update next[2];
    if (!dh_cell_compute_update(s, load_cell(cell), DH_MASK_ALL, write, &next[0]))
        return false;
    if (size == 8) {
        dh_cell old = load_cell(cell + 1);
        next[1] = next[0];
        if (old != next[0].old && !dh_cell_compute_update(s, old, DH_MASK_ALL, write, &next[1]))
            return false;
    }
    return dh_cells_store(s, cell, next, size / 4);
}

FIXED void skip_recorded(const struct dh_race_state *s, struct strided *r, unsigned size, bool write)
{
    dh_cell own = __dh_thread.own;
    for (; own && r->count && is_recorded(s, r->at, own, size, write); r->count--)
        r->at += r->stride;
}

FIXED void check_part(struct dh_race_state *s, const struct strided *r, unsigned size, bool write)
{
    dh_cell own = __dh_thread.own;
    uintptr_t at = r->at;
    for (uint64_t left = r->count; left; left--, at += r->stride) {
        dh_cell *cell = dh_shadow_of(at);
        if (!(own && update_private(cell, own, size, write)) && !is_recorded(s, at, own, size, write) &&
            !update_ordered(s, cell, size, write))
            dh_race_access(s, at, size, write, r->place);
    }
}

FIXED void check_in_parts(struct dh_race_state *s, const struct strided *r, unsigned size, bool write)
{
    struct strided part = *r;
    s->t.dirty = true;
    for (uint64_t left = r->count; left; left -= part.count, part.at += part.count * part.stride) {
        part.count = left < PART / part.stride ? left : PART / part.stride;
        dh_race_record_strided(s, part.at, (uint32_t)((part.count - 1) * part.stride + size), part.stride | size << 16,
                               write, part.place);
        check_part(s, &part, size, write);
    }
}

FIXED void check_strided(struct dh_race_state *s, struct strided r, unsigned size, bool write)
{
    skip_recorded(s, &r, size, write);
    if (!r.count || !dh_race_enter(s))
        return;
    if (!dh_race_ignores(s, write ? DH_IGNORED_WRITES : DH_IGNORED_READS))
        check_in_parts(s, &r, size, write);
    dh_race_leave(s);
}

FIXED void check_loop(uintptr_t first, uint64_t count, int64_t shape, bool write, uint32_t place)
{
    struct dh_race_state *s = __dh_thread.race;
    int64_t stride = shape >> 8;
    if (!s || !count || count >> COUNT_MAX_SHIFT || (!write && dh_module_is_constant(first)))
        return;
    struct strided r = {first, count, (uint32_t)(stride < 0 ? -stride : stride), place};
    if (stride < 0)
        r.at -= (count - 1) * r.stride;
    if ((shape & 255) == 8)
        check_strided(s, r, 8, write);
    else
        check_strided(s, r, 4, write);
}

void __dh_read_run(const void *first, uint64_t count, uint64_t shape, uint32_t place)
{
    check_loop((uintptr_t)first, count, (int64_t)shape, false, place);
}

void __dh_write_run(void *first, uint64_t count, uint64_t shape, uint32_t place)
{
    check_loop((uintptr_t)first, count, (int64_t)shape, true, place);
}
