#include "search/trace.h"

#include "base/hash.h"
#include "base/vclock.h"
#include "search/grow.h"

enum { NO_LINK = UINT32_MAX, LINK_BITS = 3, THREADS_MOST = 1 << 16 };

bool dh_trace_init(struct dh_trace *t, struct dh_search *search)
{
    *t = (struct dh_trace){.search = search, .wide = DH_NO_EVENT};
    t->slot_room = 256;
    t->slot = search->memory(search, t->slot_room * sizeof *t->slot);
    return t->slot;
}

/* ---- keys ---- */

static uint32_t slot_of(struct dh_trace *t, uint64_t key)
{
    uint32_t i = (uint32_t)(dh_hash_multiply(key) >> 32) & (t->slot_room - 1);
    while (t->slot[i].used && t->slot[i].key != key)
        i = (i + 1) & (t->slot_room - 1);
    return i;
}

static uint32_t slot_take(struct dh_trace *t, uint64_t key)
{
    uint32_t i = slot_of(t, key);
    if (!t->slot[i].used) {
        t->slot[i] = (struct dh_trace_slot){key, NO_LINK, NO_LINK, true};
        t->slots_used++;
    }
    return i;
}

/* The table with the keys of this trace only. */
static void rebuild(struct dh_trace *t)
{
    t->slots_used = 0;
    for (uint32_t i = 0; i < t->slot_room; i++)
        t->slot[i].used = false;
    for (uint32_t i = 0; i < t->n; i++) {
        struct dh_trace_event *e = &t->event[i];
        uint64_t keys[DH_STEP_KEYS];
        if (e->keys == DH_STEP_WIDE)
            continue;
        dh_step_keys(&e->step, keys);
        for (uint32_t k = 0; k < e->keys; k++) {
            e->link[k].slot = slot_take(t, keys[k]);
            t->slot[e->link[k].slot].last = i << LINK_BITS | k;
            if (e->changes)
                t->slot[e->link[k].slot].change = i << LINK_BITS | k;
        }
    }
}

/* Keys of removed events stay until there is no room; the table grows only for those in use. */
static bool keys_fit(struct dh_trace *t)
{
    if ((t->slots_used + DH_STEP_KEYS) * 2 <= t->slot_room)
        return true;
    rebuild(t);
    if ((t->slots_used + DH_STEP_KEYS) * 4 <= t->slot_room)
        return true;
    if (!dh_search_grow(t->search, (dh_search_pointer *)&t->slot, &t->slot_room, 0, t->slot_room * 2, sizeof *t->slot))
        return false;
    rebuild(t);
    return true;
}

/* ---- clocks ---- */

static uint32_t clock_before(const struct dh_trace *t, uint32_t thread)
{
    return t->thread[thread].last != DH_NO_EVENT ? t->thread[thread].last : t->thread[thread].created;
}

static bool add_thread(struct dh_trace *t, uint32_t thread)
{
    if (thread < t->threads)
        return true;
    if (thread >= THREADS_MOST || !DH_SEARCH_GROW(t->search, t, thread, t->threads, thread + 1) ||
        !DH_SEARCH_GROW(t->search, t, basis, t->threads, thread + 1) ||
        !DH_SEARCH_GROW(t->search, t, after, t->threads, thread + 1))
        return false;
    for (; t->threads <= thread; t->threads++) {
        t->thread[t->threads] = (struct dh_trace_thread){DH_NO_EVENT, DH_NO_EVENT};
        t->basis[t->threads] = t->after[t->threads] = 0;
    }
    return true;
}

/* The store of a drain. */
static uint32_t store_of(const struct dh_trace *t, const struct dh_step *drain)
{
    uint32_t of = dh_step_buffer_number(drain), i = of < t->threads ? t->thread[of].last : DH_NO_EVENT;
    while (i != DH_NO_EVENT && !(t->event[i].step.flags & DH_STEP_BUFFERED && t->event[i].step.site == drain->site &&
                                 t->event[i].step.occurrence == drain->occurrence))
        i = t->event[i].previous;
    return i;
}

static const uint32_t *clock_of(const struct dh_trace *t, uint32_t event)
{
    return t->clocks + t->event[event].clock;
}

/* What the thread knows before its step, in `basis` and, to begin with, in `after`. */
static void set_basis(struct dh_trace *t, uint32_t thread, const struct dh_step *step)
{
    uint32_t from = clock_before(t, thread), n = 0;
    uint32_t store = step->kind == DH_STEP_DRAIN ? store_of(t, step) : DH_NO_EVENT;
    if (from != DH_NO_EVENT) {
        n = t->event[from].width;
        dh_entries_copy(t->basis, clock_of(t, from), n);
    }
    dh_entries_widen(t->basis, &n, t->threads);
    if (store != DH_NO_EVENT)
        dh_entries_max(t->basis, clock_of(t, store), t->event[store].width);
    dh_entries_copy(t->after, t->basis, n);
}

/* ---- races ---- */

/* An earlier event that the step depends on. True: nothing before it with the same key can matter. */
static bool add_dependence(struct dh_trace *t, uint32_t index, uint32_t thread, const struct dh_step *step, bool hides)
{
    struct dh_trace_event *e = &t->event[index];
    if (e->thread == thread || e->time <= t->basis[e->thread])
        return hides;
    dh_entries_max(t->after, clock_of(t, index), e->width);
    if (dh_step_needs(step, &e->step))
        return false;
    for (uint32_t i = 0; i < t->races; i++)
        if (t->race[i] == index)
            return false; /* by another key, too */
    if (DH_SEARCH_GROW(t->search, t, race, t->races, t->races + 1))
        t->race[t->races++] = index;
    return hides && dh_step_could_precede(step, &e->step);
}

static void scan_key(struct dh_trace *t, uint32_t thread, const struct dh_step *step, uint64_t key, bool changes)
{
    const struct dh_trace_slot *s = &t->slot[slot_of(t, key)];
    uint32_t at = !s->used ? NO_LINK : changes ? s->last : s->change;
    while (at != NO_LINK) {
        const struct dh_trace_event *e = &t->event[at >> LINK_BITS];
        const struct dh_trace_link *link = &e->link[at & ((1 << LINK_BITS) - 1)];
        if (dh_steps_depend(&e->step, step) &&
            add_dependence(t, at >> LINK_BITS, thread, step, dh_step_hides(&e->step, step, key)))
            return;
        at = changes ? link->before : link->change;
    }
}

static void scan_wide(struct dh_trace *t, uint32_t thread, const struct dh_step *step)
{
    for (uint32_t i = t->wide; i != DH_NO_EVENT; i = t->event[i].wide)
        if (dh_steps_depend(&t->event[i].step, step))
            add_dependence(t, i, thread, step, false);
}

static void scan_all(struct dh_trace *t, uint32_t thread, const struct dh_step *step)
{
    for (uint32_t i = t->n; i-- > 0;)
        if (dh_steps_depend(&t->event[i].step, step))
            add_dependence(t, i, thread, step, false);
}

/* Of two races whose events are ordered, the earlier one is found again after the later was reversed, unless the later
 * is what the step waited for. */
static void keep_last(struct dh_trace *t, const struct dh_step *step)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->races; i++) {
        bool hidden = false;
        for (uint32_t j = 0; j < t->races && !hidden; j++) {
            const struct dh_trace_event *late = &t->event[t->race[j]];
            hidden = t->race[j] > t->race[i] && dh_trace_before(t, &t->event[t->race[i]], late) &&
                     dh_step_could_precede(step, &late->step);
        }
        if (!hidden) {
            /* those left out stay, to compare the rest with them */
            uint32_t swap = t->race[kept];
            t->race[kept++] = t->race[i];
            t->race[i] = swap;
        }
    }
    t->races = kept;
}

static unsigned scan(struct dh_trace *t, uint32_t thread, const struct dh_step *step, uint64_t *keys)
{
    unsigned n = dh_step_keys(step, keys);
    t->races = 0;
    if (n == DH_STEP_WIDE) {
        scan_all(t, thread, step);
    } else {
        bool changes = dh_step_changes(step);
        for (unsigned i = 0; i < n; i++)
            scan_key(t, thread, step, keys[i], changes);
        scan_wide(t, thread, step);
    }
    if (t->races > 1)
        keep_last(t, step);
    return n;
}

bool dh_trace_races(struct dh_trace *t, uint32_t thread, const struct dh_step *step)
{
    uint64_t keys[DH_STEP_KEYS];
    if (!add_thread(t, thread))
        return false;
    set_basis(t, thread, step);
    scan(t, thread, step, keys);
    return true;
}

/* ---- events ---- */

static void link_event(struct dh_trace *t, uint32_t index, const uint64_t *keys)
{
    struct dh_trace_event *e = &t->event[index];
    if (e->keys == DH_STEP_WIDE) {
        t->wide = index;
        return;
    }
    for (uint32_t k = 0; k < e->keys; k++) {
        struct dh_trace_slot *s = &t->slot[e->link[k].slot = slot_take(t, keys[k])];
        e->link[k].before = s->last;
        e->link[k].change = s->change;
        s->last = index << LINK_BITS | k;
        if (e->changes)
            s->change = s->last;
    }
}

static void note_created(struct dh_trace *t, struct dh_trace_event *e, uint32_t index)
{
    e->created = DH_NO_EVENT;
    if (e->step.kind != DH_STEP_CREATE || e->step.object >= THREADS_MOST || !add_thread(t, (uint32_t)e->step.object))
        return;
    e->created = t->thread[e->step.object].created;
    t->thread[e->step.object].created = index;
}

bool dh_trace_add(struct dh_trace *t, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    uint64_t keys[DH_STEP_KEYS];
    uint32_t index = t->n;
    t->races = 0;
    if (!add_thread(t, thread) || !keys_fit(t) || !DH_SEARCH_GROW(t->search, t, event, t->n, t->n + 1))
        return false;
    set_basis(t, thread, step);
    unsigned n = scan(t, thread, step, keys);
    struct dh_trace_event *e = &t->event[index];
    e->step = *step;
    e->thread = thread;
    e->alternative = alternative;
    e->previous = t->thread[thread].last;
    e->time = e->previous == DH_NO_EVENT ? 1 : t->event[e->previous].time + 1;
    e->keys = (uint8_t)n;
    e->changes = dh_step_changes(step);
    e->wide = t->wide;
    t->after[thread] = e->time;
    e->width = dh_entries_width(t->after, t->threads, thread + 1);
    if (!DH_SEARCH_GROW(t->search, t, clocks, t->clocks_used, t->clocks_used + e->width))
        return false;
    e->clock = t->clocks_used;
    t->clocks_used += e->width;
    dh_entries_copy(t->clocks + e->clock, t->after, e->width);
    t->n++;
    t->thread[thread].last = index;
    link_event(t, index, keys);
    note_created(t, e, index);
    return true;
}

static void remove_last(struct dh_trace *t)
{
    struct dh_trace_event *e = &t->event[--t->n];
    if (e->keys != DH_STEP_WIDE)
        for (uint32_t k = e->keys; k-- > 0;) {
            struct dh_trace_slot *s = &t->slot[e->link[k].slot];
            s->last = e->link[k].before;
            s->change = e->link[k].change;
        }
    t->wide = e->wide;
    t->thread[e->thread].last = e->previous;
    if (e->step.kind == DH_STEP_CREATE && e->step.object < t->threads)
        t->thread[e->step.object].created = e->created;
    t->clocks_used = e->clock;
}

void dh_trace_cut(struct dh_trace *t, uint32_t n)
{
    while (t->n > n)
        remove_last(t);
}
