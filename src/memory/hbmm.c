/* The happens-before memory model of 004 (§3): as hb, but a plain load may also answer a plain write that is yet to
 * come, unless that happens after the load. Which writes may come is known from earlier runs that were justified; a run
 * is justified if every write it took before its time came, with that value, and not after the load. Thus nothing comes
 * out of thin air: x = y beside y = x never gets another value than was there. By chance only writes of threads that
 * live are taken: one to come would most often happen after the load. */
#include "memory/hb.h"

enum { FORESEEN = 4096, FUTURE = 0x8000 }; /* indices of candidates from FUTURE on are of foreseen writes */

struct foreseen_write {
    uint64_t address, value; /* address 0: wherever it is, known by its place */
    uint32_t thread, site, occurrence;
    uint8_t size;
};

/* A load that took a write to come. */
struct promise {
    struct promise *next;
    uint32_t foreseen;
    uint32_t thread, epoch; /* of the load, */
    uint64_t address;       /* and where */
    bool is_kept;
};

struct past {
    struct past *next;
    struct foreseen_write write;
};

struct hbmm {
    struct dh_hb_model hb;           /* first: location_model.h */
    struct foreseen_write *foreseen; /* stays from run to run */
    uint32_t n_foreseen;
    uint32_t n_offered; /* to loads; the others in the next pass */
    struct root {
        struct promise *promises;
        struct past *past;
        bool is_broken;                   /* a promise was, or could not be kept in mind */
        uint64_t happened[FORESEEN / 64]; /* of the foreseen, in this run */
    } *root;
};

static void begin_run(void *self)
{
    struct hbmm *h = self;
    dh_hb_model_begin(self);
    h->root = dh_run_arena_take(&h->hb.locations.arena, sizeof *h->root);
}

static void *start(struct dh_memory *memory)
{
    struct hbmm *h = memory->memory(memory, sizeof *h);
    if (!h || !(h->foreseen = memory->memory(memory, FORESEEN * sizeof *h->foreseen)) ||
        !dh_hb_model_init(&h->hb, memory))
        return NULL;
    begin_run(h);
    return h->root ? h : NULL;
}

static bool is_same_place(const struct foreseen_write *a, const struct foreseen_write *b)
{
    return (!a->address || (a->address == b->address && a->size == b->size)) && a->thread == b->thread &&
           a->site == b->site && a->occurrence == b->occurrence;
}

static bool has_happened(const struct hbmm *h, uint32_t i)
{
    return h->root->happened[i / 64] >> i % 64 & 1;
}

/* ---- loads ---- */

static bool is_among(const struct dh_candidate *list, unsigned n, uint64_t value)
{
    for (unsigned i = 0; i < n; i++)
        if (list[i].value == value)
            return true;
    return false;
}

static bool lives(const struct hbmm *h, uint32_t thread)
{
    const struct dh_clocks_root *r = h->hb.clocks.root;
    return thread < r->threads && r->thread[thread] && !r->thread[thread]->has_ended;
}

static bool may_offer(const struct hbmm *h, uint32_t i, const struct dh_memory_access *a)
{
    const struct foreseen_write *d = &h->foreseen[i];
    return d->address == a->address && d->size == a->size && d->thread != a->thread && !has_happened(h, i) &&
           (h->hb.locations.arena.memory->by_passes || lives(h, d->thread));
}

/* A value that can be had from the past needs no promise. */
static unsigned load(void *self, const struct dh_memory_access *a, struct dh_candidate *out, unsigned room)
{
    struct hbmm *h = self;
    unsigned past = dh_hb_model_load(self, a, out, room), n = past;
    if (!past || a->updates || a->order != DH_ORDER_NONE || !dh_clocks_of(&h->hb.clocks, a->thread))
        return past;
    for (uint32_t i = 0; i < h->n_offered && n < room; i++) {
        const struct foreseen_write *d = &h->foreseen[i];
        if (may_offer(h, i, a) && !is_among(out, past, d->value))
            out[n++] = (struct dh_candidate){.value = d->value,
                                             .thread = d->thread,
                                             .site = d->site,
                                             .occurrence = d->occurrence,
                                             .index = (uint16_t)(FUTURE | i),
                                             .is_future = true};
    }
    return n;
}

static void took(void *self, const struct dh_memory_access *a, unsigned index)
{
    struct hbmm *h = self;
    if (index < FUTURE) {
        dh_hb_model_took(self, a, index);
        return;
    }
    const uint32_t *clock = dh_clocks_of(&h->hb.clocks, a->thread);
    struct promise *p = clock ? dh_run_arena_take(&h->hb.locations.arena, sizeof *p) : NULL;
    if (!p) {
        h->root->is_broken = true;
        return;
    }
    *p = (struct promise){.next = h->root->promises,
                          .foreseen = index - FUTURE,
                          .thread = a->thread,
                          .epoch = clock[a->thread],
                          .address = a->address};
    h->root->promises = p;
}

/* ---- stores ---- */

/* Loads that read this write before it happened: justified unless it happens after them. */
static void keep_promises(struct hbmm *h, uint32_t foreseen, const struct foreseen_write *d, const uint32_t *clock)
{
    for (struct promise *p = h->root->promises; p; p = p->next) {
        if (p->foreseen != foreseen || p->address != d->address)
            continue;
        p->is_kept = true;
        h->root->is_broken |= p->epoch <= clock[p->thread];
    }
}

/* Another value than foreseen does not keep a promise; but it has happened all the same. */
static void record_write(struct hbmm *h, const struct foreseen_write *d)
{
    const uint32_t *clock = dh_clocks_of(&h->hb.clocks, d->thread);
    for (uint32_t i = 0; clock && i < h->n_foreseen; i++)
        if (is_same_place(&h->foreseen[i], d)) {
            h->root->happened[i / 64] |= UINT64_C(1) << i % 64;
            if (h->foreseen[i].value == d->value)
                keep_promises(h, i, d, clock);
        }
    struct past *p = dh_run_arena_take(&h->hb.locations.arena, sizeof *p);
    if (!p)
        return;
    *p = (struct past){.next = h->root->past, .write = *d};
    h->root->past = p;
}

static void store(void *self, const struct dh_memory_access *a, uint64_t value)
{
    struct foreseen_write d = {.address = a->address,
                               .value = value,
                               .thread = a->thread,
                               .site = a->site,
                               .occurrence = a->occurrence,
                               .size = a->size};
    if (a->order == DH_ORDER_NONE && a->occurrence != UINT32_MAX) {
        dh_clocks_join_external(&((struct hbmm *)self)->hb.clocks, a->thread, a->clock, a->clocks);
        record_write(self, &d);
    }
    dh_hb_model_store(self, a, value);
}

/* ---- the end ---- */

static void foresee(struct hbmm *h, const struct foreseen_write *d)
{
    for (uint32_t i = 0; i < h->n_foreseen; i++)
        if (is_same_place(&h->foreseen[i], d) && h->foreseen[i].value == d->value)
            return;
    if (h->n_foreseen == FORESEEN) {
        h->hb.locations.arena.memory->lost.removed++;
        return;
    }
    h->root->happened[h->n_foreseen / 64] |= UINT64_C(1) << h->n_foreseen % 64;
    h->foreseen[h->n_foreseen++] = *d;
    if (!h->hb.locations.arena.memory->by_passes)
        h->n_offered = h->n_foreseen;
}

static bool next_pass(void *self)
{
    struct hbmm *h = self;
    bool any = h->n_offered < h->n_foreseen;
    h->n_offered = h->n_foreseen;
    return any;
}

/* Not offered to loads, which take it by its number: its address is not known. */
static uint32_t foresee_written(void *self, const struct dh_candidate *c)
{
    struct hbmm *h = self;
    if (h->n_foreseen == FORESEEN)
        return UINT32_MAX;
    h->foreseen[h->n_foreseen] =
        (struct foreseen_write){.value = c->value, .thread = c->thread, .site = c->site, .occurrence = c->occurrence};
    return FUTURE | h->n_foreseen++;
}

static bool is_justified(void *self)
{
    struct hbmm *h = self;
    if (h->root->is_broken)
        return false;
    for (const struct promise *p = h->root->promises; p; p = p->next)
        if (!p->is_kept)
            return false;
    for (const struct past *p = h->root->past; p; p = p->next)
        foresee(h, &p->write);
    return true;
}

const struct dh_memory_model dh_memory_hbmm = {
    .name = "hbmm",
    .summary = "as hb, and writes to come that earlier runs have shown",
    .start = start,
    .begin = begin_run,
    .fork = dh_hb_model_fork,
    .join = dh_hb_model_join,
    .acquire = dh_hb_model_acquire,
    .release = dh_hb_model_release,
    .atomic = dh_hb_model_atomic,
    .load = load,
    .took = took,
    .store = store,
    .update = dh_hb_model_update,
    .fence = dh_hb_model_fence,
    .is_justified = is_justified,
    .foresee = foresee_written,
    .next_pass = next_pass,
    DH_MODEL_OF_LOCATIONS,
};
