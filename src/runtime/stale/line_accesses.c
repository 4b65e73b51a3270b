/* An access to one cache line under the shard's lock: its pieces, the candidate values of a load, the log. */
#include "runtime/stale/shard.h"

#include "memory/heuristics.h"

enum {
    PIECES = DH_STALE_LINE,
    OWN_STORES = 48, /* stores by one thread alone that make a granule its own */
    OWN_STORES_OF_ELEMENTS = 8,
};

static bool is_own(struct dh_stale_shard *s, const struct dh_stale_line_access *k, bool stores)
{
    unsigned most = dh_stale_control->job.flags & DH_STALE_ALL ? UINT16_MAX
                    : k->what & DH_STALE_ELEMENT               ? OWN_STORES_OF_ELEMENTS
                                                               : OWN_STORES;
    bool own = true;
    dh_stale_mark_line(k->at);
    for (uint64_t at = k->at / DH_STALE_WORD; at <= (k->at + k->size - 1) / DH_STALE_WORD; at++)
        own = dh_stale_granule_access(s, at * DH_STALE_WORD, k->t->index, stores, most) && own;
    return own;
}

static struct dh_memory_access access_of(const struct dh_stale_line_access *k, const struct dh_access_piece *p,
                                         bool updates)
{
    return (struct dh_memory_access){.thread = k->t->slot,
                                     .site = k->place,
                                     .occurrence = k->t->index, /* the thread, for the report */
                                     .size = p->size,
                                     .order = (uint8_t)(k->what >> 8),
                                     .updates = updates,
                                     .address = p->address,
                                     .clock = k->t->clock.at,
                                     .clocks = k->t->clock.n};
}

static bool tears(const struct dh_stale_line_access *k)
{
    return k->what & DH_STALE_MAY_TEAR && dh_stale_control->job.flags & DH_STALE_TEAR;
}

/* Tears words into halves, where the access may tear. */
static unsigned tear(struct dh_access_piece pieces[PIECES], unsigned n)
{
    unsigned wide = 0;
    for (unsigned i = 0; i < n; i++)
        wide += pieces[i].size == DH_STALE_WORD;
    for (unsigned from = n, to = n + wide; from-- > 0;) {
        struct dh_access_piece p = pieces[from];
        if (p.size == DH_STALE_WORD)
            pieces[--to] = (struct dh_access_piece){p.address + DH_STALE_WORD / 2, DH_STALE_WORD / 2};
        pieces[--to] = (struct dh_access_piece){p.address, p.size == DH_STALE_WORD ? DH_STALE_WORD / 2 : p.size};
    }
    return n + wide;
}

static unsigned pieces_of(struct dh_stale_shard *s, const struct dh_stale_line_access *k,
                          struct dh_access_piece pieces[PIECES])
{
    unsigned n = dh_model_pieces(s->model, k->at, k->size, pieces, PIECES);
    return tears(k) ? tear(pieces, n) : n;
}

/* A location whose memory uninstrumented code changed begins anew in the model; logged here. */
static void log_initial(struct dh_stale_shard *s, const struct dh_stale_line_access *k, const struct dh_access_piece *p)
{
    const struct dh_hb_model *h = s->model;
    const struct dh_location *at = dh_location_find((struct dh_locations *)&h->locations, p->address, p->size);
    uint64_t now = dh_stale_peek(p->address, p->size);
    if (at && dh_location_newest(at)->value == now)
        return;
    if (at)
        atomic_fetch_add_explicit(&dh_stale_control->untold, 1, memory_order_relaxed);
    dh_stale_log(k->t->index, DH_STALE_LOG_BEGIN, p->address, p->size, now);
}

static struct dh_engine_write write_of(const struct dh_candidate *c)
{
    bool initial = c->thread == DH_MEMORY_INITIAL;
    return (struct dh_engine_write){.thread = initial ? DH_MEMORY_INITIAL : c->occurrence,
                                    .place = initial ? UINT32_MAX : c->site,
                                    .value = c->value};
}

static bool may_be_stale(uint32_t place)
{
    const struct dh_stale_job *job = &dh_stale_control->job;
    for (uint32_t i = 0; i < job->n_only && i < DH_STALE_ONLY; i++)
        if (job->only[i] == place)
            return true;
    return !job->n_only;
}

/* The value of one piece; *open is set if there were several candidates. */
static uint64_t serve(struct dh_stale_shard *s, const struct dh_stale_line_access *k, const struct dh_access_piece *p,
                      struct dh_engine_stale_read *read, bool *open)
{
    struct dh_memory_access a = access_of(k, p, false);
    log_initial(s, k, p);
    unsigned n = dh_hb_model_load(s->model, &a, s->candidates, DH_MEMORY_CANDIDATES);
    if (!n)
        return dh_stale_peek(p->address, p->size);
    unsigned i = n > 1 && may_be_stale(k->place) ? dh_picker_pick(s->picker, &a, s->candidates, n) : 0;
    const struct dh_candidate *c = &s->candidates[i];
    dh_hb_model_took(s->model, &a, c->index);
    *open |= n > 1;
    if (c->value != s->candidates[0].value && !read->candidates)
        *read = (struct dh_engine_stale_read){.thread = k->t->index,
                                              .place = k->place,
                                              .size = p->size,
                                              .candidates = (uint16_t)n,
                                              .object = p->address,
                                              .got = write_of(c),
                                              .newest = write_of(&s->candidates[0]),
                                              .is_torn = tears(k) && p->size != k->size};
    dh_stale_log(k->t->index, DH_STALE_LOG_LOAD, p->address, p->size, c->value);
    return c->value;
}

static void record_stale_read(const struct dh_engine_stale_read *read)
{
    struct dh_stale_control *c = dh_stale_control;
    uint32_t i = atomic_fetch_add(&c->n_stale, 1);
    if (i < DH_ENGINE_STALE_READS) {
        c->stale[i] = *read;
        c->stale[i].decision = i;
    }
}

void dh_stale_load_line(struct dh_stale_shard *s, const struct dh_stale_line_access *k, void *value,
                        struct dh_engine_stale_read *read)
{
    struct dh_access_piece pieces[PIECES];
    bool open = false;
    dh_stale_count(&k->t->counts->loads, 1);
    if (is_own(s, k, false)) {
        dh_stale_get(value, k->at, k->size);
        return;
    }
    unsigned n = pieces_of(s, k, pieces);
    for (unsigned i = 0; i < n; i++) {
        uint64_t v = serve(s, k, &pieces[i], read, &open);
        dh_bytes_copy((char *)value + (pieces[i].address - k->at), &v, pieces[i].size);
    }
    if (open)
        dh_stale_count(&k->t->counts->open, 1);
    if (!read->candidates)
        return;
    dh_stale_count(&k->t->counts->stale, 1);
    record_stale_read(read);
}

static void count_buffered(struct dh_stale_shard *s, const struct dh_access_piece *p)
{
    const struct dh_hb_model *h = s->model;
    const struct dh_location *at = dh_location_find((struct dh_locations *)&h->locations, p->address, p->size);
    uint64_t most = atomic_load_explicit(&dh_stale_control->buffer_most, memory_order_relaxed);
    if (at && at->count > most)
        atomic_store_explicit(&dh_stale_control->buffer_most, at->count, memory_order_relaxed);
}

/* Threads that share a slot share a clock in the model, which gives a write its epoch: the writer's clock catches up
 * with it.
 */
static void catch_up_clock(struct dh_stale_shard *s, struct dh_stale_thread *t)
{
    struct dh_hb_model *h = s->model;
    const uint32_t *known = dh_clocks_of(&h->clocks, t->slot);
    if (known && known[t->slot] > t->clock.at[t->slot])
        t->clock.at[t->slot] = known[t->slot];
}

void dh_stale_store_line(struct dh_stale_shard *s, const struct dh_stale_line_access *k, const void *value)
{
    struct dh_access_piece pieces[PIECES];
    k->t->dirty = true;
    dh_stale_count(&k->t->counts->stores, 1);
    if (is_own(s, k, true))
        return;
    catch_up_clock(s, k->t);
    unsigned n = pieces_of(s, k, pieces);
    for (unsigned i = 0; i < n; i++) {
        struct dh_memory_access a = access_of(k, &pieces[i], false);
        uint64_t v = 0;
        dh_bytes_copy(&v, (const char *)value + (pieces[i].address - k->at), pieces[i].size);
        log_initial(s, k, &pieces[i]);
        dh_hb_model_store(s->model, &a, v);
        dh_stale_log(k->t->index, DH_STALE_LOG_STORE, a.address, a.size, v);
        count_buffered(s, &pieces[i]);
    }
}
