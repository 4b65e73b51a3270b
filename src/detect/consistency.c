#include "detect/consistency.h"

enum { TRIES = 64 }; /* at a cell that others change all the time */

static uint32_t slot_of(uint64_t word)
{
    return (uint32_t)(word >> DH_SCOPE_SLOT_SHIFT) & (DH_SCOPE_SLOTS - 1);
}

static uint32_t number_of(uint64_t word)
{
    return (uint32_t)(word >> DH_SCOPE_NUMBER_SHIFT) & DH_SCOPE_NUMBER_MASK;
}

static unsigned bytes_of(uint64_t word)
{
    return word >> DH_SCOPE_MASK_SHIFT & 0xFF;
}

/* An access with all its parts. */
struct entry {
    uint64_t key, seen, what;
};

static unsigned entry_bytes(const struct entry *e)
{
    return e->what >> DH_SCOPE_BYTES_SHIFT & 0xFF;
}

static uint64_t entry_number(const struct entry *e)
{
    return e->key >> DH_SCOPE_KEY_SHIFT | e->what >> DH_SCOPE_HIGH_SHIFT << DH_SCOPE_KEY_BITS;
}

static bool entry_is_of(const struct entry *e, uintptr_t addr)
{
    return e->what && ((e->key ^ addr >> 2) & (DH_SCOPE_MORE - 1)) == 0;
}

/* ---- the other thread's access ---- */

struct other {
    uint32_t slot;
    uintptr_t addr; /* where its thread has the entry */
    unsigned bytes;
    bool wrote;
    uint64_t word; /* of the cell: what it wrote, or saw and marked */
};

static bool is_other(const struct entry *e, const struct other *o)
{
    if (!entry_is_of(e, o->addr) || !(entry_bytes(e) & o->bytes))
        return false;
    if (!o->wrote)
        return !(e->what & DH_SCOPE_WROTE) && e->seen == o->word;
    return e->what & DH_SCOPE_WROTE && entry_bytes(e) == bytes_of(o->word) &&
           (entry_number(e) & DH_SCOPE_NUMBER_MASK) == number_of(o->word);
}

/* The place and bytes of the other access, from what its thread keeps; it may have been replaced. */
static bool find_other(const struct dh_consistency *c, struct other *o, struct dh_collision *out)
{
    struct dh_scope_thread *t = __atomic_load_n(&c->threads[o->slot], __ATOMIC_ACQUIRE);
    if (!t)
        return false;
    unsigned at = dh_scope_access_index(o->addr);
    const struct dh_scope_access *from = &t->entries.at[at];
    struct entry e = {.key = __atomic_load_n(&from->key, __ATOMIC_ACQUIRE),
                      .seen = __atomic_load_n(&from->seen, __ATOMIC_ACQUIRE),
                      .what = __atomic_load_n(&t->entries.what[at], __ATOMIC_ACQUIRE)};
    if (__atomic_load_n(&from->key, __ATOMIC_RELAXED) != e.key || !is_other(&e, o))
        return false;
    o->bytes &= entry_bytes(&e);
    out->thread = t->index;
    out->other = (uint32_t)e.what;
    return true;
}

/* The bytes show where an access began, and so which entry it has. */
static struct other writer_of(uintptr_t addr, uint64_t word)
{
    unsigned bytes = bytes_of(word);
    uintptr_t at = (addr & ~(uintptr_t)7) + (bytes & 0xF ? 0 : 4);
    return (struct other){slot_of(word), at, bytes, true, word};
}

static uint64_t *reader_at(struct dh_consistency *c, uintptr_t addr)
{
    return &c->readers[addr >> 3 & (DH_SCOPE_READERS - 1)];
}

static void set_reader(struct dh_consistency *c, uintptr_t addr, uint32_t slot)
{
    __atomic_store_n(reader_at(c, addr), (uint64_t)addr >> 2 << 8 | slot, __ATOMIC_RELEASE);
}

static struct other reader_of(struct dh_consistency *c, uintptr_t addr, uint64_t word)
{
    uint64_t r = __atomic_load_n(reader_at(c, addr), __ATOMIC_ACQUIRE);
    return (struct other){r >> 9 == addr >> 3 ? (uint32_t)(r & 0xFF) : 0, r >> 8 << 2, 0xFF, false, word};
}

/* ---- one access ---- */

struct check {
    struct dh_consistency *c;
    struct dh_scope_thread *t;
    uintptr_t addr;
    unsigned size, bytes;
    uint32_t place;
    uint64_t *cell;
    struct entry entry; /* as it was before */
    bool same_scope;    /* the entry is of this scope */
};

static bool is_of_address(const struct check *q, uint64_t word)
{
    return !((word ^ dh_scope_cell_word(q->t->unit, q->addr, q->size)) & DH_SCOPE_TAG) && slot_of(word);
}

static bool is_mine(const struct check *q, uint64_t word)
{
    return is_of_address(q, word) && slot_of(word) == q->t->slot;
}

static bool is_foreign(const struct check *q, uint64_t word)
{
    return is_of_address(q, word) && slot_of(word) != q->t->slot;
}

/* Written since the entry was made: a foreign word is only kept without FRESH. */
static bool has_changed(const struct check *q, uint64_t word)
{
    return ((word ^ q->entry.seen) & ~(uint64_t)DH_SCOPE_READ) != 0;
}

static bool is_open(const struct check *q, uint64_t word)
{
    const struct dh_scope_thread *t = __atomic_load_n(&q->c->threads[slot_of(word)], __ATOMIC_ACQUIRE);
    return t && __atomic_load_n(&t->open, __ATOMIC_ACQUIRE) == (number_of(word) | DH_SCOPE_OPEN);
}

static bool found(const struct check *q, struct other o, enum dh_collision_kind kind, bool writes,
                  struct dh_collision *out)
{
    o.bytes &= q->bytes & entry_bytes(&q->entry);
    *out = (struct dh_collision){.kind = kind,
                                 .before = (uint32_t)q->entry.what,
                                 .here = q->place,
                                 .before_writes = q->entry.what & DH_SCOPE_WROTE,
                                 .other_writes = o.wrote,
                                 .here_writes = writes};
    if (!o.bytes || !o.slot || o.slot == q->t->slot || !find_other(q->c, &o, out)) {
        out->kind = DH_COLLISION_NONE;
        return false;
    }
    out->addr = (q->addr & ~(uintptr_t)7) + (unsigned)__builtin_ctz(o.bytes);
    out->size = (uint32_t)__builtin_popcount(o.bytes);
    return true;
}

static void keep_access(const struct check *q, uint64_t seen, uint64_t flags)
{
    struct dh_scope_accesses *all = &q->t->entries;
    unsigned at = dh_scope_access_index(q->addr);
    all->at[at] =
        (struct dh_scope_access){dh_scope_access_key(q->t->unit, q->addr) | (flags ? DH_SCOPE_MORE : 0), seen};
    all->what[at] = dh_scope_access_info(q->t->unit, q->addr, q->size, q->place) | flags;
}

/* A loop that polls waits for the other thread: no interleaving, but the end of the scope. */
static bool is_polling(const struct check *q)
{
    return !(q->entry.what & DH_SCOPE_WROTE) && (uint32_t)q->entry.what == q->place;
}

static bool check_read(struct check *q, uint64_t old, struct dh_collision *out)
{
    bool changed = has_changed(q, old), under_way = q->entry.what & DH_SCOPE_OVERLAP;
    if (!q->same_scope || !is_foreign(q, old) || !(changed || under_way) ||
        !(bytes_of(old) & q->bytes & entry_bytes(&q->entry)))
        return false;
    if (is_polling(q)) {
        dh_scope_split(q->t);
        q->same_scope = false;
        return false;
    }
    return found(q, writer_of(q->addr, old), changed ? DH_COLLISION_INTERLEAVED : DH_COLLISION_OVERLAP, false, out);
}

static bool access_read(struct check *q, struct dh_collision *out)
{
    bool collides = false;
    for (int i = 0; i < TRIES; i++) {
        uint64_t old = __atomic_load_n(q->cell, __ATOMIC_ACQUIRE), now = old, flags = 0;
        collides = collides || check_read(q, old, out);
        if (is_foreign(q, old) && (old & (DH_SCOPE_FRESH | DH_SCOPE_READ))) {
            bool open = is_open(q, old) && (bytes_of(old) & q->bytes);
            now = (old & ~(uint64_t)(DH_SCOPE_FRESH | DH_SCOPE_READ)) | (open ? DH_SCOPE_READ : 0);
            flags = open ? DH_SCOPE_OVERLAP : 0;
            if (open) /* first: a thread that finds the mark must find its reader */
                set_reader(q->c, q->addr, q->t->slot);
        }
        if (now != old && !__atomic_compare_exchange_n(q->cell, &old, now, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        keep_access(q, now, flags);
        return collides;
    }
    return collides;
}

/* What the write means when the cell says `old`. */
static bool check_write(struct check *q, uint64_t old, struct dh_collision *out)
{
    const struct entry *e = &q->entry;
    bool wrote = e->what & DH_SCOPE_WROTE;
    if (is_mine(q, old))
        return old & DH_SCOPE_READ && q->same_scope && wrote &&
               number_of(old) == (q->t->number & DH_SCOPE_NUMBER_MASK) &&
               found(q, reader_of(q->c, q->addr, old), DH_COLLISION_INTERLEAVED, true, out);
    if (!is_foreign(q, old) || wrote || !entry_is_of(e, q->addr) || !(bytes_of(old) & q->bytes & entry_bytes(e)))
        return false;
    if (q->same_scope && (has_changed(q, old) || e->what & DH_SCOPE_OVERLAP))
        return found(q, writer_of(q->addr, old), has_changed(q, old) ? DH_COLLISION_INTERLEAVED : DH_COLLISION_OVERLAP,
                     true, out);
    return !q->same_scope && has_changed(q, old) && entry_number(e) >= q->t->start &&
           found(q, writer_of(q->addr, old), DH_COLLISION_STALE, true, out);
}

static bool access_write(struct check *q, struct dh_collision *out)
{
    bool collides = false;
    uint64_t now = dh_scope_cell_word(q->t->unit, q->addr, q->size);
    for (int i = 0; i < TRIES; i++) {
        uint64_t old = __atomic_load_n(q->cell, __ATOMIC_ACQUIRE);
        collides = collides || check_write(q, old, out);
        if (!__atomic_compare_exchange_n(q->cell, &old, now, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        keep_access(q, now, DH_SCOPE_WROTE);
        return collides;
    }
    return collides;
}

bool dh_consistency_access(struct dh_consistency *c, struct dh_scope_thread *t, uintptr_t addr, unsigned size,
                           bool write, uint32_t place, struct dh_collision *out)
{
    unsigned at = dh_scope_access_index(addr);
    const struct dh_scope_access *e = &t->entries.at[at];
    struct check q = {.c = c,
                      .t = t,
                      .addr = addr,
                      .size = size,
                      .bytes = dh_scope_byte_mask(addr, size),
                      .place = place,
                      .cell = dh_scope_cell(c->cells, addr),
                      .entry = {e->key, e->seen, t->entries.what[at]}};
    q.same_scope = entry_is_of(&q.entry, addr) && entry_number(&q.entry) == t->number;
    out->kind = DH_COLLISION_NONE;
    return write ? access_write(&q, out) : access_read(&q, out);
}

/* ---- scopes ---- */

void dh_scope_thread_begin(struct dh_scope_thread *t, uint32_t slot, uint32_t index, struct dh_current_scope *unit)
{
    t->slot = slot;
    t->index = index;
    t->unit = unit;
    t->object = 0;
    t->start = t->floor = ++t->next;
    dh_scope_set_number(t, t->next);
}

void dh_scope_thread_end(struct dh_scope_thread *t)
{
    t->unit->word = 0;
    __atomic_store_n(&t->open, 0, __ATOMIC_RELEASE);
}

void dh_scope_split(struct dh_scope_thread *t)
{
    t->floor = ++t->next;
    dh_scope_set_number(t, t->next);
}

void dh_scope_close(struct dh_scope_thread *t)
{
    t->closed = t->next;
    __atomic_store_n(&t->open, 0, __ATOMIC_RELEASE);
}
