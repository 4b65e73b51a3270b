#include "detect/shadow_lines.h"

enum { PIECE = 64, RESTING = 256 };

void dh_shadow_lines_init(struct dh_shadow_lines *t, void *(*allocate)(size_t n), uint32_t cap)
{
    *t = (struct dh_shadow_lines){.allocate = allocate, .n = 1, .cap = cap};
    t->at = allocate(cap * sizeof *t->at);
}

/* ---- lines: a freed one is not reused at once, since another thread may have loaded its index just before ---- */

uint32_t dh_shadow_line_alloc(struct dh_shadow_lines *t)
{
    uint32_t index = 0;
    if (t->n_resting > RESTING || (t->n_resting && t->n == t->cap)) {
        index = t->first_resting;
        t->first_resting = t->at[index].next_free;
        t->n_resting--;
    } else if (t->n < t->cap) {
        index = t->n++;
    }
    return index;
}

static void free_column(struct dh_shadow_lines *t, struct dh_column *c)
{
    while (c) {
        struct dh_column *more = c->more;
        c->more = t->free_columns;
        t->free_columns = c;
        c = more;
    }
}

/* The array of columns stays for the line's reuse. */
static void empty_line(struct dh_shadow_lines *t, struct dh_shadow_line *line)
{
    uint32_t n = line->n;
    __atomic_store_n(&line->n, 0, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < n; i++)
        free_column(t, i < DH_COLUMNS_INSIDE ? line->inside[i].more : dh_shadow_line_column_at(line, i));
    line->cells = line->spent = line->has_wide = line->calm = 0;
}

void dh_shadow_line_free(struct dh_shadow_lines *t, uint32_t index)
{
    empty_line(t, &t->at[index]);
    if (t->n_resting)
        t->at[t->last_resting].next_free = index;
    else
        t->first_resting = index;
    t->last_resting = index;
    t->n_resting++;
}

void dh_shadow_lines_reset(struct dh_shadow_lines *t)
{
    for (uint32_t i = 1; i < t->n; i++)
        empty_line(t, &t->at[i]);
    t->n = 1;
    t->n_resting = 0;
}

/* ---- columns ---- */

static void clear_column(struct dh_column *c, unsigned slot)
{
    uint32_t sequence = c->sequence & ~1u;
    *c = (struct dh_column){.sequence = sequence + 2, .slot = slot};
}

static struct dh_column *take_column(struct dh_shadow_lines *t, unsigned slot)
{
    struct dh_column *c = t->free_columns;
    if (!c) {
        c = t->allocate(PIECE * sizeof *c);
        for (int i = 0; c && i < PIECE; i++) {
            c[i].more = t->free_columns;
            t->free_columns = &c[i];
        }
        c = t->free_columns;
    }
    if (!c)
        return NULL;
    t->free_columns = c->more;
    clear_column(c, slot);
    return c;
}

static bool make_room(struct dh_shadow_lines *t, struct dh_shadow_line *line)
{
    uint32_t used = line->n - DH_COLUMNS_INSIDE;
    if (line->n < DH_COLUMNS_INSIDE || used < line->capacity)
        return true;
    uint32_t capacity = line->capacity ? 2 * line->capacity : 4;
    struct dh_column **larger = t->allocate(capacity * sizeof *larger);
    if (!larger)
        return false;
    for (uint32_t i = 0; i < used; i++)
        larger[i] = line->more[i];
    __atomic_store_n(&line->more, larger, __ATOMIC_RELEASE); /* readers of the old one read on in it */
    line->capacity = capacity;
    return true;
}

struct dh_column *dh_shadow_line_get_column(struct dh_shadow_lines *t, struct dh_shadow_line *line, unsigned slot)
{
    struct dh_column *c = dh_shadow_line_find_column(line, slot);
    if (c || !make_room(t, line))
        return c;
    if (line->n < DH_COLUMNS_INSIDE) {
        c = &line->inside[line->n];
        clear_column(c, slot);
        line->slots[line->n] = slot;
    } else {
        c = take_column(t, slot);
        if (!c)
            return NULL;
        line->more[line->n - DH_COLUMNS_INSIDE] = c;
    }
    __atomic_store_n(&line->n, line->n + 1, __ATOMIC_RELEASE);
    return c;
}

bool dh_column_grow(struct dh_shadow_lines *t, struct dh_column *c)
{
    while (c->more)
        c = c->more;
    struct dh_column *more = take_column(t, c->slot);
    if (more)
        __atomic_store_n(&c->more, more, __ATOMIC_RELEASE);
    return more;
}

/* A later access that races with the older access of a thread races with the newer one as well, if that conflicts with
 * at least as much. */
static bool replaces(enum dh_access_kind now, enum dh_access_kind before)
{
    static const uint8_t replaced[DH_ACCESS_KINDS] = {
        [DH_READS] = 1 << DH_READS | 1 << DH_ATOMIC_READS,
        [DH_WRITES] = 1 << DH_READS | 1 << DH_WRITES | 1 << DH_ATOMIC_READS | 1 << DH_ATOMIC_WRITES,
        [DH_ATOMIC_READS] = 1 << DH_ATOMIC_READS,
        [DH_ATOMIC_WRITES] = 1 << DH_ATOMIC_READS | 1 << DH_ATOMIC_WRITES,
    };
    return replaced[now] >> before & 1;
}

static uint32_t when_of(const struct dh_line_access *p)
{
    return p->time | p->kind << DH_KIND_SHIFT;
}

static uint32_t kind_of(uint32_t when)
{
    return when >> DH_KIND_SHIFT;
}

static uint32_t time_of(uint32_t when)
{
    return when & DH_EPOCH_TIME;
}

/* A row for it: one with the same time and kind, or one that is empty once this access replaces its bytes. */
static bool place_for(struct dh_column *c, const struct dh_line_access *now, struct dh_column **in, unsigned *at)
{
    bool found = false;
    for (; c; c = c->more)
        for (unsigned i = 0; i < DH_COLUMN_ACCESSES; i++) {
            bool same = c->bytes[i] && c->when[i] == when_of(now);
            bool empty = !(replaces(now->kind, kind_of(c->when[i])) ? c->bytes[i] & ~now->bytes : c->bytes[i]);
            if (same || (empty && !found)) {
                *in = c;
                *at = i;
                found = true;
            }
            if (same)
                return true;
        }
    return found;
}

static void begin_change(struct dh_column *c)
{
    __atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(struct dh_column *c)
{
    __atomic_store_n(&c->sequence, c->sequence + 1, __ATOMIC_RELEASE);
}

static void set_row(struct dh_column *c, unsigned at, const struct dh_line_access *p)
{
    c->bytes[at] = c->when[at] == when_of(p) ? c->bytes[at] | p->bytes : p->bytes;
    c->when[at] = when_of(p);
}

bool dh_column_add(struct dh_column *c, const struct dh_line_access *now)
{
    struct dh_column *in;
    unsigned at;
    if (!place_for(c, now, &in, &at))
        return false;
    begin_change(c);
    for (struct dh_column *k = c; k; k = k->more)
        for (unsigned i = 0; i < DH_COLUMN_ACCESSES; i++)
            if ((k != in || i != at) && replaces(now->kind, kind_of(k->when[i])))
                k->bytes[i] &= ~now->bytes;
    set_row(in, at, now);
    end_change(c);
    return true;
}

/* Accesses of several threads, which do not replace each other: times of one slot only grow. */
static bool import_into(struct dh_column *head, const struct dh_line_access *pair)
{
    for (struct dh_column *k = head; k; k = k->more)
        for (unsigned i = 0; i < DH_COLUMN_ACCESSES; i++) {
            if (k->bytes[i] && k->when[i] != when_of(pair))
                continue;
            begin_change(head);
            k->bytes[i] |= pair->bytes;
            k->when[i] = when_of(pair);
            end_change(head);
            return true;
        }
    return false;
}

bool dh_shadow_line_import(struct dh_shadow_lines *t, struct dh_shadow_line *line, const struct dh_line_access *pair)
{
    struct dh_column *c = dh_shadow_line_get_column(t, line, DH_NO_SLOT);
    if (!c)
        return false;
    if (pair->kind & DH_KIND_WIDE)
        line->has_wide = 1;
    if (!import_into(c, pair) && !(dh_column_grow(t, c) && import_into(c, pair)))
        return false;
    if (dh_kind_writes(pair->kind & ~DH_KIND_WIDE))
        dh_shadow_line_count_write(line);
    return true;
}

void dh_shadow_line_remove(struct dh_shadow_line *line, const struct dh_line_access *pair)
{
    struct dh_column *c = dh_shadow_line_find_column(line, DH_NO_SLOT);
    for (struct dh_column *k = c; k; k = k->more)
        for (unsigned i = 0; i < DH_COLUMN_ACCESSES; i++) {
            if (k->when[i] != when_of(pair))
                continue;
            begin_change(c);
            k->bytes[i] &= ~pair->bytes;
            end_change(c);
        }
}

static bool copy_column(const struct dh_column *head, const struct dh_column *c,
                        struct dh_line_access out[DH_COLUMN_ACCESSES])
{
    uint32_t before = __atomic_load_n(&head->sequence, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < DH_COLUMN_ACCESSES; i++)
        out[i] = (struct dh_line_access){c->bytes[i], time_of(c->when[i]), kind_of(c->when[i])};
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return !(before & 1) && __atomic_load_n(&head->sequence, __ATOMIC_RELAXED) == before;
}

static bool see_column(const struct dh_column *head, dh_line_access_fn *see, void *arg)
{
    struct dh_line_access pairs[DH_COLUMN_ACCESSES];
    for (const struct dh_column *c = head; c; c = __atomic_load_n(&c->more, __ATOMIC_ACQUIRE)) {
        while (!copy_column(head, c, pairs))
            __builtin_ia32_pause();
        for (unsigned i = 0; i < DH_COLUMN_ACCESSES; i++)
            if (pairs[i].bytes && !see(arg, &pairs[i]))
                return false;
    }
    return true;
}

void dh_shadow_line_each_other(const struct dh_shadow_line *line, unsigned slot, dh_line_access_fn *see, void *arg)
{
    uint32_t n = __atomic_load_n(&line->n, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < n; i++) {
        const struct dh_column *c = dh_shadow_line_column_at(line, i);
        if (c->slot != slot && !see_column(c, see, arg))
            return;
    }
}
