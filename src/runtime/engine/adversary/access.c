/* Around an access of a task: puts the picked value into memory before it, restores memory after it and gives the model
 * what was read and written. */
#include "runtime/engine/adversary/internal.h"

static struct dh_engine_write write_of(const struct dh_candidate *c)
{
    return (struct dh_engine_write){
        .thread = c->thread, .place = c->thread == DH_MEMORY_INITIAL ? UINT32_MAX : c->site, .value = c->value};
}

/* Joins the values of pieces. */
static void add_piece_to_read(struct dh_engine_stale_read *r, const struct dh_candidate *got,
                              const struct dh_access_piece *p, bool is_first)
{
    unsigned shift = (unsigned)(p->address - r->object) * 8;
    const struct dh_candidate *newest = &dh_adversarial_memory->candidates[0];
    bool older = got != newest;
    uint64_t value = r->got.value, last = r->newest.value;
    if (is_first || (older && r->got.thread == r->newest.thread && r->got.place == r->newest.place))
        r->got = write_of(got);
    if (is_first)
        r->newest = write_of(newest);
    if (shift < 64) {
        value = (is_first ? 0 : value) | got->value << shift;
        last = (is_first ? 0 : last) | newest->value << shift;
    }
    r->got.value = value;
    r->newest.value = last;
}

/* A store in another thread's buffer is newer than memory and not visible. */
static bool missed_buffered_store(struct dh_engine_stale_read *r, const struct dh_step *s,
                                  const struct dh_adversary_piece *p)
{
    struct dh_memory_access a = dh_adversary_access(s, r->thread, &p->piece);
    struct dh_candidate newer;
    if (!dh_adversarial_memory->buffers || dh_adversarial_memory->candidates[0].thread == r->thread ||
        !dh_adversarial_memory->model->waiting(dh_adversarial_memory->self, &a, &newer) ||
        newer.value == dh_adversarial_memory->candidates[0].value)
        return false;
    r->got = write_of(&dh_adversarial_memory->candidates[0]);
    r->newest = write_of(&newer);
    return true;
}

/* The trace has the number of the write among the future ones that this schedule read: in another run the candidates
 * differ. */
static void record_foreseen(const struct dh_candidate *c)
{
    uint32_t i = 0;
    struct dh_engine_foreseen f = {
        .thread = c->thread, .place = c->site, .occurrence = c->occurrence, .value = c->value};
    while (i < dh_adversarial_memory->n_foreseen && (dh_adversarial_memory->foreseen[i].thread != f.thread ||
                                                     dh_adversarial_memory->foreseen[i].place != f.place ||
                                                     dh_adversarial_memory->foreseen[i].occurrence != f.occurrence ||
                                                     dh_adversarial_memory->foreseen[i].value != f.value))
        i++;
    if (i == dh_adversarial_memory->n_foreseen)
        dh_adversarial_memory->foreseen[dh_adversarial_memory->n_foreseen++] = f;
    dh_engine->trace[dh_engine->depth - 1].alternative = (uint16_t)(DH_ENGINE_FUTURE | i);
}

/* Index of the candidate; a future write of the witness is added to them. */
static unsigned candidate_for(uint32_t *alternative, unsigned values)
{
    const struct dh_engine_control *c = dh_engine->control;
    uint32_t i = *alternative & ~(uint32_t)DH_ENGINE_FUTURE;
    unsigned picked = *alternative % values;
    if (!(*alternative & DH_ENGINE_FUTURE)) {
        *alternative /= values;
        return picked;
    }
    *alternative = 0;
    if (i >= c->n_foreseen || i >= DH_ENGINE_FORESEEN || values == DH_MEMORY_CANDIDATES)
        return 0;
    dh_adversarial_memory->candidates[values] =
        (struct dh_candidate){.value = c->foreseen[i].value,
                              .thread = c->foreseen[i].thread,
                              .site = c->foreseen[i].place,
                              .occurrence = c->foreseen[i].occurrence,
                              .index = (uint16_t)dh_adversarial_memory->witness_index[i],
                              .is_future = true};
    return values;
}

static void record_stale_read(struct dh_engine_stale_read *read, unsigned alternatives)
{
    dh_engine->control->progress.stale_loads++;
    read->candidates = (uint16_t)alternatives;
    if (dh_adversarial_memory->n_stale < DH_ENGINE_STALE_READS)
        dh_adversarial_memory->stale[dh_adversarial_memory->n_stale] = *read;
    dh_adversarial_memory->n_stale++;
}

static void serve(const struct dh_step *s, uint32_t thread, uint32_t alternative)
{
    struct dh_engine_progress *progress = &dh_engine->control->progress;
    struct dh_engine_stale_read read = {.decision = dh_engine->depth ? dh_engine->depth - 1 : 0,
                                        .thread = thread,
                                        .place = s->site,
                                        .size = (uint16_t)s->size,
                                        .object = dh_adversary_source(s)};
    unsigned alternatives = 1, stale = 0;
    bool waits = false;
    for (unsigned i = 0; i < dh_adversarial_memory->n_pieces; i++) {
        struct dh_adversary_piece *p = &dh_adversarial_memory->pieces[i];
        if (!p->reads)
            continue;
        unsigned values = dh_adversary_limit(dh_adversary_values(s, thread, &p->piece), alternatives),
                 picked = candidate_for(&alternative, values);
        const struct dh_candidate *c = &dh_adversarial_memory->candidates[picked];
        alternatives *= values;
        p->candidate = c->index;
        p->only_loads = picked >= dh_adversarial_memory->n_updatable;
        stale += picked != 0;
        add_piece_to_read(&read, c, &p->piece, i == 0);
        waits |= missed_buffered_store(&read, s, p);
        if (c->is_future)
            record_foreseen(c);
        read.is_future |= c->is_future;
        dh_adversary_poke(&dh_adversarial_memory->memory, p->piece.address, p->piece.size, c->value);
    }
    bool serves = dh_adversary_serves(s);
    progress->loads += serves;
    progress->open_loads += (alternatives > 1 || waits) && serves;
    read.is_torn = stale && stale < dh_adversarial_memory->n_pieces && dh_adversarial_memory->n_pieces > 1 &&
                   s->kind == DH_STEP_READ;
    dh_adversarial_memory->had_choice = alternatives > 1;
    dh_adversarial_memory->was_stale = stale;
    struct dh_stale_streak *streak = dh_adversary_stale_streak(thread, s->site);
    streak->stale = stale ? streak->stale + 1 : 0;
    if (stale || waits)
        record_stale_read(&read, waits ? 2 : alternatives);
}

static void add_pieces(const struct dh_step *s, uint64_t at, bool reads, bool writes)
{
    struct dh_access_piece pieces[PIECES];
    unsigned n = dh_adversary_pieces(s, at, pieces);
    if (!n || dh_adversarial_memory->n_pieces + n > PIECES) {
        dh_adversarial_memory->inexact = true;
        if (writes)
            dh_adversary_forget(at, s->size);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        dh_adversarial_memory->pieces[dh_adversarial_memory->n_pieces++] = (struct dh_adversary_piece){
            .piece = pieces[i],
            .held = dh_adversary_peek(&dh_adversarial_memory->memory, pieces[i].address, pieces[i].size),
            .reads = reads,
            .writes = writes};
}

bool dh_adversary_chooses(const struct dh_step *s, uint64_t at)
{
    uint8_t marks = dh_adversary_marks(s->site);
    return marks & DH_ENGINE_STALE &&
           (!(marks & DH_ENGINE_BY_ADDRESS) || dh_adversary_is_sampled(at, marks >> DH_ENGINE_RATE_SHIFT));
}

/* A place that is not adversarial and accesses the same bytes. */
static void mark_met(const struct dh_step *s, uint64_t at)
{
    uint64_t g = at >> GRANULE_SHIFT;
    struct dh_engine_control *c = dh_engine->control;
    if (s->size > WORD || s->site >= c->adversary_size || dh_engine_adversary(c)[s->site])
        return;
    struct dh_tracked_granule *t = dh_adversary_granule(g);
    if (t->schedule == dh_adversarial_memory->schedule && t->bytes & dh_adversary_bytes(g, at, s->size))
        dh_engine_adversary(c)[s->site] = DH_ENGINE_MET;
}

bool dh_adversary_concerns(const struct dh_step *s, uint64_t at)
{
    if (!s->size)
        return false;
    if (dh_adversary_chooses(s, at))
        return dh_adversary_track(at, s->size, dh_engine->current->index);
    if (!dh_adversary_is_tracked(at, s->size))
        return false;
    mark_met(s, at);
    return true;
}

void dh_adversary_before(const struct dh_step *s, uint32_t alternative)
{
    bool loads = dh_adversary_is_load(s) || s->kind == DH_STEP_RMW, stores = s->flags & DH_STEP_WRITES;
    if (!dh_adversarial_memory)
        return;
    dh_adversarial_memory->n_pieces = 0;
    dh_adversarial_memory->had_choice = dh_adversarial_memory->was_stale = false;
    dh_adversarial_memory->step = *s;
    bool serves_all = dh_adversarial_memory->buffers || s->flags & DH_STEP_ATOMIC;
    if (loads && dh_adversary_concerns(s, dh_adversary_source(s)) &&
        (serves_all || dh_adversary_marks(s->site) & DH_ENGINE_STALE))
        add_pieces(s, dh_adversary_source(s), true, s->kind == DH_STEP_RMW);
    if (dh_adversarial_memory->n_pieces)
        serve(s, dh_engine->current->index, alternative);
    if (stores && s->kind != DH_STEP_RMW && dh_adversary_concerns(s, s->object))
        add_pieces(s, s->object, false, true);
    dh_adversarial_memory->bounds.access_pending = dh_adversarial_memory->n_pieces;
}

/* A failed compare-exchange is a load. */
static bool wrote(const struct dh_adversary_piece *p)
{
    return p->writes && !(p->reads && !(dh_engine->executed.flags & DH_STEP_WRITES));
}

/* Only stores that are visible steps are buffered. */
static unsigned order_of_store(const struct dh_step *s, unsigned order)
{
    if (!dh_adversarial_memory->buffers)
        return order;
    if (!(s->flags & DH_STEP_BUFFERED))
        return DH_ORDER_SEQ_CST;
    return order == DH_ORDER_SEQ_CST ? DH_ORDER_RELEASE : order; /* dh_adversary_after flushes */
}

static void update_model(const struct dh_step *s, uint32_t thread, const struct dh_adversary_piece *p)
{
    struct dh_memory_access a = dh_adversary_access(s, thread, &p->piece);
    uint64_t value = dh_adversary_peek(&dh_adversarial_memory->memory, p->piece.address, p->piece.size);
    dh_adversary_poke(&dh_adversarial_memory->memory, p->piece.address, p->piece.size, p->held);
    if (p->reads && wrote(p)) {
        dh_adversarial_memory->model->update(dh_adversarial_memory->self, &a, p->candidate, value);
    } else if (p->reads) {
        a.updates = false;
        a.order = s->flags & DH_STEP_COMPARES ? dh_adversary_order(s, false) : a.order;
        dh_adversarial_memory->model->took(dh_adversarial_memory->self, &a, p->candidate);
    } else {
        a.order = (uint8_t)order_of_store(s, a.order);
        dh_adversarial_memory->model->store(dh_adversarial_memory->self, &a, value);
    }
}

void dh_adversary_after(void)
{
    if (!dh_adversarial_memory || !dh_adversarial_memory->bounds.access_pending)
        return;
    dh_adversarial_memory->bounds.access_pending = false;
    uint32_t thread = dh_engine->current->index;
    for (unsigned i = 0; i < dh_adversarial_memory->n_pieces; i++) {
        if (dh_adversarial_memory->pieces[i].only_loads && wrote(&dh_adversarial_memory->pieces[i]))
            dh_engine_end_schedule(DH_ENGINE_CUT);
        update_model(&dh_adversarial_memory->step, thread, &dh_adversarial_memory->pieces[i]);
    }
    if (!dh_adversarial_memory->buffers)
        return;
    dh_drains_update();
    if (dh_adversarial_memory->step.flags & DH_STEP_BUFFERED && dh_adversarial_memory->step.order == DH_ORDER_SEQ_CST)
        dh_drains_flush(dh_adversarial_memory->step.site);
}

void dh_adversary_access_unscheduled(void)
{
    dh_adversarial_memory->inexact |=
        dh_adversarial_memory->n_pieces && (dh_adversarial_memory->had_choice || !dh_adversary_is_alone());
}

bool dh_adversary_was_stale(void)
{
    return dh_adversarial_memory && dh_adversarial_memory->was_stale;
}
