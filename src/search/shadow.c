#include "search/shadow.h"

enum { FIRST_ROOM = 256 };

static uint64_t tag_of(const struct dh_shadow *s, uint64_t number)
{
    return dh_shadow_tag(number, s->known.generation);
}

bool dh_shadow_init(struct dh_shadow *s, struct dh_search *search)
{
    struct dh_shadow_known *k = &s->known;
    s->search = search;
    s->generation = k->generation = 1;
    k->room = FIRST_ROOM;
    k->entry = search->memory(search, k->room * sizeof *k->entry);
    return k->entry;
}

/* When numbers of schedules begin to repeat, old ones are taken off. */
void dh_shadow_begin(struct dh_shadow *s)
{
    struct dh_shadow_known *k = &s->known;
    if (!++s->generation)
        s->generation = 1;
    if (!++k->generation) {
        for (uint32_t i = 0; i < k->room; i++)
            k->entry[i].tag &= ~(uint64_t)UINT16_MAX;
        k->generation = 1;
    }
    k->self = 0;
    s->granules = s->overflows = s->ranges = 0;
}

/* ---- accesses ---- */

static bool conflicts(const struct dh_shadow_cell *c, const struct dh_shadow_cell *me)
{
    return c->mask & me->mask && c->thread != me->thread && (c->flags | me->flags) & DH_STEP_WRITES &&
           !(c->flags & me->flags & DH_STEP_ATOMIC);
}

static bool races(const struct dh_shadow_cell *c, const struct dh_shadow_cell *me, const struct dh_hb_clock *known)
{
    return conflicts(c, me) && c->clock > dh_vclock_get(known, c->thread);
}

/* What races with `c` later races with `me` as well. `known` NULL: what it knew then is not known any more. */
static bool replaces(const struct dh_shadow_cell *c, const struct dh_shadow_cell *me, const struct dh_hb_clock *known)
{
    if (c->mask & ~me->mask || (c->flags & DH_STEP_WRITES && !(me->flags & DH_STEP_WRITES)) ||
        (me->flags & DH_STEP_ATOMIC && !(c->flags & DH_STEP_ATOMIC)))
        return false;
    return c->thread == me->thread || (known && c->clock <= dh_vclock_get(known, c->thread));
}

struct visit {
    const struct dh_shadow_cell *me;
    const struct dh_hb_clock *known; /* NULL: it was checked before, and is only recorded */
    const struct dh_shadow_wish *wish;
    struct dh_shadow_cell *place; /* one that is free */
    struct dh_shadow_met met;
};

static void note_ordered(struct visit *v, const struct dh_shadow_cell *c)
{
    if (!v->wish || v->met.is_ordered || !conflicts(c, v->me) || !v->wish->is_one(v->wish, c))
        return;
    v->met.before = *c;
    v->met.is_ordered = true;
}

static void share_site(struct dh_shadow *s, uint32_t site)
{
    if (site < s->shared_room)
        s->shared[site] = 1;
}

/* Ordered or not. */
static void note_shared(struct dh_shadow *s, const struct dh_shadow_cell *c, const struct dh_shadow_cell *me)
{
    if (!s->shared || !c->mask || c->thread == me->thread)
        return;
    share_site(s, c->site);
    share_site(s, me->site);
}

static void visit_cells(struct dh_shadow *s, struct visit *v, struct dh_shadow_cell *cells, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        struct dh_shadow_cell *c = &cells[k];
        note_shared(s, c, v->me);
        bool races_now = c->mask && v->known && races(c, v->me, v->known);
        if (races_now && !v->met.races) {
            v->met.raced = *c;
            v->met.races = true;
        }
        if (c->mask && v->known && !races_now)
            note_ordered(v, c);
        if (!c->mask || replaces(c, v->me, v->known)) {
            c->mask = 0;
            v->place = v->place ? v->place : c;
        }
    }
}

/* ---- granules with several ---- */

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

static void visit_granule(struct visit *v, struct dh_shadow *s, struct dh_shadow_granule *g)
{
    visit_cells(s, v, g->cell, DH_SHADOW_CELLS);
    for (uint32_t i = g->more; i; i = s->overflow[i - 1].more)
        visit_cells(s, v, s->overflow[i - 1].cell, DH_SHADOW_OVERFLOW_CELLS);
    if (!v->place)
        v->place = overflow_cell(s, g);
    if (v->place)
        *v->place = *v->me;
}

/* ---- packed cells ---- */

static unsigned want_of(const struct dh_shadow_cell *c)
{
    return c->flags & DH_STEP_WRITES ? (unsigned)c->mask << DH_SHADOW_WRITES_SHIFT : c->mask;
}

/* What is written may be read. */
static uint64_t bits_of(const struct dh_shadow_cell *c)
{
    return c->mask | want_of(c);
}

static uint64_t pack(const struct dh_shadow_cell *c)
{
    return dh_shadow_self(c->thread, c->clock) << DH_SHADOW_SELF_SHIFT | bits_of(c);
}

static struct dh_shadow_cell unpack(uint64_t cell, uint32_t site)
{
    uint64_t self = cell >> DH_SHADOW_SELF_SHIFT;
    return (struct dh_shadow_cell){.clock = (uint32_t)(self >> DH_SHADOW_THREAD_BITS),
                                   .thread = self & ((1 << DH_SHADOW_THREAD_BITS) - 1),
                                   .mask = (uint8_t)cell,
                                   .flags = cell >> DH_SHADOW_WRITES_SHIFT & 0xFF ? DH_STEP_WRITES : 0,
                                   .site = site};
}

static bool is_plain(const struct dh_shadow_cell *c)
{
    return !(c->flags & ~DH_STEP_WRITES) && !c->occurrence;
}

/* NULL: no memory. */
static struct dh_shadow_granule *granule_of(struct dh_shadow *s, struct dh_shadow_block *b, unsigned i)
{
    if (b->cell[i] & DH_SHADOW_SEVERAL)
        return &s->granule[b->site[i]];
    if (!DH_SEARCH_GROW(s->search, s, granule, s->granules, s->granules + 1))
        return NULL;
    struct dh_shadow_granule *g = &s->granule[s->granules];
    *g = (struct dh_shadow_granule){.cell[0] = unpack(b->cell[i], b->site[i])};
    b->cell[i] |= DH_SHADOW_SEVERAL;
    b->site[i] = s->granules++;
    return g;
}

/* Does the packed cell stand for both? */
static bool packs(struct dh_shadow *s, uint64_t *cell, uint32_t *site, struct visit *v)
{
    const struct dh_shadow_cell *me = v->me;
    struct dh_shadow_cell c = unpack(*cell, *site);
    note_shared(s, &c, me);
    if (!c.mask || replaces(&c, me, v->known)) {
        note_ordered(v, &c);
        *cell = pack(me);
        *site = me->site;
        return true;
    }
    if (c.thread != me->thread || c.clock != me->clock || c.flags != me->flags || c.site != me->site)
        return false;
    *cell |= bits_of(me);
    return true;
}

/* What it met is in v->met. */
static void access_cell(struct dh_shadow *s, struct dh_shadow_block *b, unsigned i, struct visit *v)
{
    const struct dh_shadow_cell *me = v->me;
    uint64_t before = b->cell[i], self = dh_shadow_self(me->thread, me->clock);
    bool plain = is_plain(me);
    if (plain && dh_shadow_covers(before, self, want_of(me)))
        return;
    if (plain && !(before & (DH_SHADOW_SEVERAL | DH_SHADOW_WATCHED)) && packs(s, &b->cell[i], &b->site[i], v))
        return;
    struct dh_shadow_granule *g = granule_of(s, b, i);
    if (!g)
        return;
    v->place = NULL;
    visit_granule(v, s, g);
    uint64_t same = before >> DH_SHADOW_SELF_SHIFT == self ? before : 0;
    if (v->met.races || before & DH_SHADOW_WATCHED)
        b->cell[i] = DH_SHADOW_SEVERAL | DH_SHADOW_WATCHED;
    else
        b->cell[i] = DH_SHADOW_SEVERAL | (plain && v->known ? pack(me) | same : 0);
}

/* ---- blocks ---- */

static struct dh_shadow_entry *entry_of(const struct dh_shadow *s, uint64_t number)
{
    const struct dh_shadow_known *k = &s->known;
    uint32_t i = dh_shadow_home(k, number);
    while (k->entry[i].block && k->entry[i].tag >> DH_SHADOW_GENERATION_BITS != number)
        i = (i + 1) & (k->room - 1);
    return &k->entry[i];
}

static bool grow(struct dh_shadow *s)
{
    struct dh_shadow_known *k = &s->known;
    struct dh_shadow_entry *old = k->entry;
    uint32_t n = k->room;
    struct dh_shadow_entry *more = s->search->memory(s->search, (size_t)n * 2 * sizeof *more);
    if (!more) {
        s->search->statistics.no_memory = true;
        return false;
    }
    k->entry = more;
    k->room = n * 2;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].block)
            *entry_of(s, old[i].tag >> DH_SHADOW_GENERATION_BITS) = old[i];
    return true;
}

/* NULL: nothing is recorded there. */
static struct dh_shadow_block *block_find(const struct dh_shadow *s, uint64_t granule)
{
    uint64_t number = granule >> DH_SHADOW_BLOCK_SHIFT;
    const struct dh_shadow_entry *e = entry_of(s, number);
    return e->block && e->tag == tag_of(s, number) ? e->block : NULL;
}

static void clear(struct dh_shadow_block *b)
{
    for (unsigned i = 0; i < DH_SHADOW_BLOCK; i++)
        b->cell[i] = 0;
}

/* What was accessed as a whole. */
static void take_ranges(struct dh_shadow *s, struct dh_shadow_block *b, uint64_t number)
{
    uint64_t from = number << DH_SHADOW_BLOCK_SHIFT;
    for (uint32_t i = 0; i < s->ranges; i++) {
        const struct dh_shadow_range *r = &s->range[i];
        struct visit v = {.me = &r->cell};
        for (unsigned k = 0; r->low < from + DH_SHADOW_BLOCK && r->high > from && k < DH_SHADOW_BLOCK; k++)
            if (from + k >= r->low && from + k < r->high)
                access_cell(s, b, k, &v);
    }
}

/* NULL: no memory. */
static struct dh_shadow_block *block_at(struct dh_shadow *s, uint64_t granule)
{
    uint64_t number = granule >> DH_SHADOW_BLOCK_SHIFT, tag = tag_of(s, number);
    struct dh_shadow_entry *e = entry_of(s, number);
    if (e->block && e->tag == tag)
        return e->block;
    if (!e->block) {
        if (s->blocks >= s->known.room / 2 && !grow(s) && s->blocks + 1 >= s->known.room)
            return NULL;
        struct dh_shadow_block *b = s->search->memory(s->search, sizeof *b);
        if (!b) {
            s->search->statistics.no_memory = true;
            return NULL;
        }
        e = entry_of(s, number);
        e->block = b;
        s->blocks++;
    }
    e->tag = tag;
    clear(e->block);
    if (s->ranges)
        take_ranges(s, e->block, number);
    return e->block;
}

static uint64_t behind_block(uint64_t granule)
{
    return (granule | (DH_SHADOW_BLOCK - 1)) + 1;
}

/* ---- bytes ---- */

struct span {
    uint64_t from, to; /* bytes, `to` is behind it */
};

static uint8_t mask_of(const struct span *b, uint64_t granule)
{
    uint64_t base = granule << DH_SHADOW_GRANULE_SHIFT;
    unsigned low = b->from > base ? (unsigned)(b->from - base) : 0,
             high = b->to < base + 8 ? (unsigned)(b->to - base) : 8;
    return (uint8_t)((0xFFu << low) & (0xFFu >> (8 - high)));
}

struct access {
    struct dh_shadow_cell me;
    const struct dh_hb_clock *known;
    const struct dh_shadow_wish *wish;
    struct dh_shadow_met met;
};

/* Of those that it meets the first is reported. */
static void access_granule(struct dh_shadow *s, struct dh_shadow_block *b, uint64_t g, struct access *a)
{
    struct visit v = {.me = &a->me, .known = a->known, .wish = a->met.is_ordered ? NULL : a->wish};
    access_cell(s, b, g % DH_SHADOW_BLOCK, &v);
    if (v.met.is_ordered) {
        a->met.is_ordered = true;
        a->met.before = v.met.before;
    }
    if (!v.met.races || a->met.races)
        return;
    a->met.races = true;
    a->met.raced = v.met.raced;
    a->met.at = g;
}

/* `only_known`: not in blocks that are not there. */
static void access_bytes(struct dh_shadow *s, struct span bytes, bool only_known, struct access *a)
{
    uint64_t last = (bytes.to - 1) >> DH_SHADOW_GRANULE_SHIFT;
    for (uint64_t g = bytes.from >> DH_SHADOW_GRANULE_SHIFT, end; g <= last; g = end) {
        struct dh_shadow_block *b = only_known ? block_find(s, g) : block_at(s, g);
        end = behind_block(g);
        for (; b && g < end && g <= last; g++) {
            a->me.mask = mask_of(&bytes, g);
            access_granule(s, b, g, a);
        }
    }
}

/* ---- ranges ---- */

static void remove_range(struct dh_shadow *s, uint32_t i)
{
    s->range[i] = s->range[--s->ranges];
}

/* Does the access race with a range? Those that it stands for from now on are removed. */
static void meet_ranges(struct dh_shadow *s, const struct dh_shadow_range *mine, struct access *a)
{
    for (uint32_t i = s->ranges; i-- > 0;) {
        const struct dh_shadow_range *r = &s->range[i];
        uint64_t low = r->low > mine->low ? r->low : mine->low, high = r->high < mine->high ? r->high : mine->high;
        if (low < high)
            note_shared(s, &r->cell, &mine->cell);
        if (low < high && !a->met.races && races(&r->cell, &mine->cell, a->known)) {
            a->met.raced = r->cell;
            a->met.at = low;
            a->met.races = true;
        }
        if (r->low >= mine->low && r->high <= mine->high && replaces(&r->cell, &mine->cell, a->known))
            remove_range(s, i);
    }
}

/* Its whole granules; the blocks that are there are told at once. False: there is no room for more ranges. */
static bool access_range(struct dh_shadow *s, struct span bytes, struct access *a)
{
    struct dh_shadow_range mine = {(bytes.from + 7) >> 3, bytes.to >> 3, a->me};
    mine.cell.mask = 0xFF;
    meet_ranges(s, &mine, a);
    if (s->ranges == DH_SHADOW_RANGES)
        return false;
    access_bytes(s, (struct span){mine.low << 3, mine.high << 3}, true, a);
    s->range[s->ranges++] = mine;
    if (bytes.from & 7)
        access_bytes(s, (struct span){bytes.from, mine.low << 3}, false, a);
    if (bytes.to & 7)
        access_bytes(s, (struct span){mine.high << 3, bytes.to}, false, a);
    return true;
}

struct dh_shadow_met dh_shadow_access(struct dh_shadow *s, struct dh_shadow_bytes bytes, struct dh_shadow_cell me,
                                      const struct dh_hb_clock *known, bool only_known,
                                      const struct dh_shadow_wish *wish)
{
    struct span span = {bytes.address, bytes.address + bytes.size};
    struct access a = {.me = me, .known = known, .wish = wish};
    if (!bytes.size || span.to < span.from)
        return a.met;
    bool is_range = bytes.size >= DH_SHADOW_RANGE_LEAST * 8 && !only_known;
    if (!is_range || !access_range(s, span, &a))
        access_bytes(s, span, only_known, &a);
    return a.met;
}

/* ---- watching ---- */

void dh_shadow_watch(struct dh_shadow *s, uint64_t address)
{
    uint64_t granule = address >> DH_SHADOW_GRANULE_SHIFT;
    struct dh_shadow_block *b = block_at(s, granule);
    if (b && granule_of(s, b, granule % DH_SHADOW_BLOCK))
        b->cell[granule % DH_SHADOW_BLOCK] = DH_SHADOW_SEVERAL | DH_SHADOW_WATCHED;
}

/* ---- forgetting ---- */

/* What cannot be split is dropped. */
static void forget_ranges(struct dh_shadow *s, uint64_t low, uint64_t high)
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

static void forget_cells(struct dh_shadow_cell *cells, unsigned n, unsigned mask)
{
    for (unsigned k = 0; k < n; k++)
        cells[k].mask &= (uint8_t)~mask;
}

static void forget_granule(struct dh_shadow *s, struct dh_shadow_block *b, unsigned i, unsigned mask)
{
    b->cell[i] &= ~(uint64_t)(mask | mask << DH_SHADOW_WRITES_SHIFT);
    if (!(b->cell[i] & DH_SHADOW_SEVERAL))
        return;
    struct dh_shadow_granule *g = &s->granule[b->site[i]];
    forget_cells(g->cell, DH_SHADOW_CELLS, mask);
    for (uint32_t k = g->more; k; k = s->overflow[k - 1].more)
        forget_cells(s->overflow[k - 1].cell, DH_SHADOW_OVERFLOW_CELLS, mask);
}

static void forget_in_block(struct dh_shadow *s, struct dh_shadow_block *b, uint64_t number, const struct span *span)
{
    uint64_t g = number << DH_SHADOW_BLOCK_SHIFT, end = g + DH_SHADOW_BLOCK,
             last = (span->to - 1) >> DH_SHADOW_GRANULE_SHIFT;
    if (g < span->from >> DH_SHADOW_GRANULE_SHIFT)
        g = span->from >> DH_SHADOW_GRANULE_SHIFT;
    for (; g < end && g <= last; g++)
        if (b->cell[g % DH_SHADOW_BLOCK])
            forget_granule(s, b, g % DH_SHADOW_BLOCK, mask_of(span, g));
}

/* Of memory that is larger than what the schedule accessed. */
static void forget_all_between(struct dh_shadow *s, uint64_t first, uint64_t last, const struct span *span)
{
    for (uint32_t i = 0; i < s->known.room; i++) {
        const struct dh_shadow_entry *e = &s->known.entry[i];
        uint64_t number = e->tag >> DH_SHADOW_GENERATION_BITS;
        if (e->block && e->tag == tag_of(s, number) && number >= first && number <= last)
            forget_in_block(s, e->block, number, span);
    }
}

void dh_shadow_forget(struct dh_shadow *s, struct dh_shadow_bytes bytes)
{
    const unsigned shift = DH_SHADOW_GRANULE_SHIFT + DH_SHADOW_BLOCK_SHIFT;
    struct span span = {bytes.address, bytes.address + bytes.size};
    uint64_t first = span.from >> shift, last = (span.to - 1) >> shift;
    if (!bytes.size || span.to < span.from)
        return;
    if (s->ranges)
        forget_ranges(s, span.from >> DH_SHADOW_GRANULE_SHIFT, ((span.to - 1) >> DH_SHADOW_GRANULE_SHIFT) + 1);
    if (last - first >= s->known.room) {
        forget_all_between(s, first, last, &span);
        return;
    }
    for (uint64_t number = first; number <= last; number++) {
        struct dh_shadow_block *b = block_find(s, number << DH_SHADOW_BLOCK_SHIFT);
        if (b)
            forget_in_block(s, b, number, &span);
    }
}
