#include "search/shadow.h"

enum { FIRST_ROOM = 1024 };

bool dh_shadow_init(struct dh_shadow *s, struct dh_search *search)
{
    s->search = search;
    s->generation = 1;
    s->granule_room = FIRST_ROOM;
    s->granule = search->memory(search, s->granule_room * sizeof *s->granule);
    return s->granule;
}

/* After 2^32 schedules numbers repeat: then old entries are cleared. */
void dh_shadow_begin(struct dh_shadow *s)
{
    if (!++s->generation) {
        for (uint32_t i = 0; i < s->granule_room; i++)
            s->granule[i].generation = 0;
        for (uint32_t i = 0; i < DH_SHADOW_PAGES; i++)
            s->pages[i] = 0;
        s->generation = 1;
    }
    s->used = s->overflows = s->ranges = 0;
}

/* ---- the table ---- */

static struct dh_shadow_granule *find(const struct dh_shadow *s, uint64_t key)
{
    uint32_t i = dh_shadow_home(s, key);
    while (s->granule[i].generation == s->generation && s->granule[i].key != key)
        i = (i + 1) & (s->granule_room - 1);
    return &s->granule[i];
}

static bool grow(struct dh_shadow *s)
{
    struct dh_shadow_granule *old = s->granule;
    uint32_t n = s->granule_room;
    struct dh_shadow_granule *more = s->search->memory(s->search, (size_t)n * 2 * sizeof *more);
    if (!more) {
        s->search->statistics.no_memory = true;
        return false;
    }
    s->granule = more;
    s->granule_room = n * 2;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].generation == s->generation) {
            struct dh_shadow_granule *to = find(s, old[i].key);
            to->key = old[i].key;
            to->generation = old[i].generation;
            to->more = old[i].more;
            for (unsigned k = 0; k < DH_SHADOW_CELLS; k++)
                to->cell[k] = old[i].cell[k];
        }
    return true;
}

/* NULL: no memory for it. */
static struct dh_shadow_granule *get(struct dh_shadow *s, uint64_t key)
{
    struct dh_shadow_granule *g = find(s, key);
    if (g->generation == s->generation)
        return g;
    if (s->used >= s->granule_room / 2) {
        if (!grow(s) && s->used + 1 >= s->granule_room)
            return NULL;
        g = find(s, key);
    }
    s->used++;
    s->pages[dh_shadow_page(key)] = s->generation;
    g->key = key;
    g->generation = s->generation;
    g->more = 0;
    for (unsigned k = 0; k < DH_SHADOW_CELLS; k++)
        g->cell[k].mask = 0;
    return g;
}

/* ---- cells ---- */

static bool races(const struct dh_shadow_cell *c, const struct dh_shadow_cell *me, const struct dh_hb_clock *known)
{
    if (!(c->mask & me->mask) || c->thread == me->thread || !((c->flags | me->flags) & DH_STEP_WRITES) ||
        c->flags & me->flags & DH_STEP_ATOMIC)
        return false;
    return c->clock > dh_vclock_get(known, c->thread);
}

/* What races with `c` later races with `me` as well. */
static bool replaces(const struct dh_shadow_cell *c, const struct dh_shadow_cell *me, const struct dh_hb_clock *known)
{
    if (c->mask & ~me->mask || (c->flags & DH_STEP_WRITES && !(me->flags & DH_STEP_WRITES)) ||
        (me->flags & DH_STEP_ATOMIC && !(c->flags & DH_STEP_ATOMIC)))
        return false;
    return c->thread == me->thread || c->clock <= dh_vclock_get(known, c->thread);
}

struct visit {
    const struct dh_shadow_cell *me;
    const struct dh_hb_clock *known;
    struct dh_shadow_cell *raced, *place; /* place: one that is free */
    bool found;
};

static void visit_cells(struct visit *v, struct dh_shadow_cell *cells, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        struct dh_shadow_cell *c = &cells[k];
        if (c->mask && !v->found && races(c, v->me, v->known)) {
            *v->raced = *c;
            v->found = true;
        }
        if (!c->mask || replaces(c, v->me, v->known)) {
            c->mask = 0;
            v->place = v->place ? v->place : c;
        }
    }
}

static void visit_all(struct visit *v, struct dh_shadow *s, struct dh_shadow_granule *g)
{
    visit_cells(v, g->cell, DH_SHADOW_CELLS);
    for (uint32_t i = g->more; i; i = s->overflow[i - 1].more)
        visit_cells(v, s->overflow[i - 1].cell, DH_SHADOW_OVERFLOW_CELLS);
}

static void visit_ranges(struct visit *v, const struct dh_shadow *s, uint64_t granule)
{
    for (uint32_t i = 0; i < s->ranges && !v->found; i++) {
        const struct dh_shadow_range *r = &s->range[i];
        if (granule < r->low || granule >= r->high || !races(&r->cell, v->me, v->known))
            continue;
        *v->raced = r->cell;
        v->found = true;
    }
}

static struct dh_shadow_cell *overflow_cell(struct dh_shadow *s, struct dh_shadow_granule *g)
{
    if (!DH_SEARCH_GROW(s->search, s, overflow, s->overflows, s->overflows + 1))
        return NULL;
    struct dh_shadow_overflow *r = &s->overflow[s->overflows++];
    r->more = g->more;
    for (unsigned k = 0; k < DH_SHADOW_OVERFLOW_CELLS; k++)
        r->cell[k].mask = 0;
    g->more = s->overflows;
    return r->cell;
}

bool dh_shadow_access(struct dh_shadow *s, uint64_t granule, const struct dh_shadow_cell *me,
                      const struct dh_hb_clock *known, struct dh_shadow_cell *raced)
{
    struct dh_shadow_granule *g = get(s, granule);
    struct visit v = {.me = me, .known = known, .raced = raced};
    if (!g)
        return false;
    visit_all(&v, s, g);
    visit_ranges(&v, s, granule);
    if (!v.place)
        v.place = overflow_cell(s, g);
    if (v.place)
        *v.place = *me;
    return v.found;
}

static void forget_cells(struct dh_shadow_cell *cells, unsigned n, unsigned mask)
{
    for (unsigned k = 0; k < n; k++)
        cells[k].mask &= (uint8_t)~mask;
}

void dh_shadow_forget(struct dh_shadow *s, uint64_t granule, unsigned mask)
{
    struct dh_shadow_granule *g = find(s, granule);
    if (g->generation != s->generation)
        return;
    forget_cells(g->cell, DH_SHADOW_CELLS, mask);
    for (uint32_t i = g->more; i; i = s->overflow[i - 1].more)
        forget_cells(s->overflow[i - 1].cell, DH_SHADOW_OVERFLOW_CELLS, mask);
}

/* ---- ranges ---- */

static void remove_range(struct dh_shadow *s, uint32_t i)
{
    s->range[i] = s->range[--s->ranges];
}

/* Does the access race with a range? Those that it stands for from now on are removed. */
static bool meet_ranges(struct dh_shadow *s, const struct dh_shadow_range *mine, const struct dh_hb_clock *known,
                        struct dh_shadow_cell *raced, uint64_t *at)
{
    bool found = false;
    for (uint32_t i = s->ranges; i-- > 0;) {
        const struct dh_shadow_range *r = &s->range[i];
        uint64_t low = r->low > mine->low ? r->low : mine->low, high = r->high < mine->high ? r->high : mine->high;
        if (low < high && races(&r->cell, &mine->cell, known)) {
            *raced = r->cell;
            *at = low;
            found = true;
        }
        if (r->low >= mine->low && r->high <= mine->high && replaces(&r->cell, &mine->cell, known))
            remove_range(s, i);
    }
    return found;
}

/* Accesses of single granules among them; those that it stands for are forgotten. */
static bool meet_granules(struct dh_shadow *s, const struct dh_shadow_range *mine, const struct dh_hb_clock *known,
                          struct dh_shadow_cell *raced, uint64_t *at)
{
    struct visit v = {.me = &mine->cell, .known = known, .raced = raced};
    for (uint64_t g = mine->low; g < mine->high;) {
        if (!dh_shadow_knows_page(s, g)) {
            g = (g | ((1u << DH_SHADOW_PAGE_SHIFT) - 1)) + 1;
            continue;
        }
        struct dh_shadow_granule *entry = find(s, g);
        bool before = v.found;
        if (entry->generation == s->generation)
            visit_all(&v, s, entry);
        if (v.found && !before)
            *at = g;
        g++;
    }
    return v.found;
}

bool dh_shadow_access_range(struct dh_shadow *s, uint64_t low, uint64_t high, const struct dh_shadow_cell *me,
                            const struct dh_hb_clock *known, struct dh_shadow_cell *raced, uint64_t *at, bool *done)
{
    struct dh_shadow_range mine = {low, high, *me};
    mine.cell.mask = 0xFF;
    bool found = meet_ranges(s, &mine, known, raced, at);
    *done = s->ranges < DH_SHADOW_RANGES;
    if (!*done)
        return false;
    if (!found)
        found = meet_granules(s, &mine, known, raced, at);
    s->range[s->ranges++] = mine;
    return found;
}

/* What cannot be split is dropped. */
void dh_shadow_forget_ranges(struct dh_shadow *s, uint64_t low, uint64_t high)
{
    for (uint32_t i = s->ranges; i-- > 0;) {
        struct dh_shadow_range r = s->range[i];
        if (r.high <= low || r.low >= high)
            continue;
        remove_range(s, i);
        if (r.low < low)
            s->range[s->ranges++] = (struct dh_shadow_range){r.low, low, r.cell};
        if (r.high > high && s->ranges < DH_SHADOW_RANGES)
            s->range[s->ranges++] = (struct dh_shadow_range){high, r.high, r.cell};
    }
}
