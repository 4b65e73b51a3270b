/* RC11: C and C++ atomics with fences, release sequences and plain accesses after Lahav, Vafeiadis, Kang, Hur, Dreyer,
 * Repairing Sequential Consistency in C/C++11, PLDI 2017, with the release sequences of C++20 (P0982: a thread's own
 * later store begins another one), as the race detector has them. A load answers an earlier write, so load buffering is
 * excluded as it is by RC11's "no thin air". Plain accesses that race are taken as they are ordered, not as undefined.
 *
 * The modification order is not decided when a store happens, but as late as a load makes a difference: of each
 * location it is known which writes certainly precede which (c11_order.h). A load may answer a write if some order is
 * left then: one that coherence and atomicity allow, and in which seq_cst has no cycle (c11_log.h). `rank` is one such
 * order; real memory goes by it. When a run is too long to decide that, loads answer the newest, which is always
 * allowed: a run can go on as if it were sequentially consistent. */
#include "memory/c11_psc.h"
#include "memory/location_model.h"

enum { SPARE = 2 }; /* room beyond the history: for a write that has come and one that is tried */

struct c11 {
    struct dh_locations locations; /* first: location_model.h. Clocks of a write: each thread's first epoch that read or
                                      wrote it; its message */
    struct dh_clocks clocks;
    struct dh_c11_scratch *work;
    struct root {
        bool is_narrow;  /* loads answer the newest from now on */
        bool log_failed; /* events are missing: it is if anything seq_cst happens */
        struct dh_c11_log log;
    } *root;
};

static void begin_run(void *self)
{
    struct c11 *c = self;
    dh_locations_begin(&c->locations);
    dh_clocks_begin(&c->clocks, &c->locations.arena, c->locations.arena.memory->threads, false);
    dh_clocks_of(&c->clocks, 0);
    c->root = dh_run_arena_take(&c->locations.arena, sizeof *c->root);
}

static void *start(struct dh_memory *memory)
{
    struct c11 *c = memory->memory(memory, sizeof *c);
    uint32_t history = memory->history ? memory->history : DH_MEMORY_HISTORY;
    if (!c || !(c->work = memory->memory(memory, sizeof *c->work)))
        return NULL;
    history = history > DH_MEMORY_HISTORY_MOST - SPARE ? DH_MEMORY_HISTORY_MOST - SPARE : history;
    dh_locations_init(&c->locations, memory, history + SPARE, 2 * memory->threads);
    begin_run(c);
    return c->root && c->clocks.root && c->clocks.root->bucket ? c : NULL;
}

/* ---- the log ---- */

static void give_up_log(struct c11 *c)
{
    struct dh_c11_log *log = &c->root->log;
    for (uint32_t i = 0; i < log->count; i++) {
        if (log->event[i]->read)
            log->event[i]->read->is_logged = false;
        if (log->event[i]->wrote)
            log->event[i]->wrote->is_logged = false;
    }
    c->root->is_narrow |= log->has_sc;
    c->root->log_failed = true;
    log->count = 0;
    log->has_sc = false;
}

static bool is_logging(const struct c11 *c)
{
    return !c->root->log_failed;
}

/* What a thread does now, at its present epoch. */
static bool log_event(struct c11 *c, const struct dh_c11_event *event)
{
    struct root *r = c->root;
    uint32_t *clock = dh_clocks_of(&c->clocks, event->thread);
    if (!clock)
        return false;
    if (!is_logging(c)) {
        r->is_narrow |= event->is_sc;
        return false;
    }
    struct dh_c11_event e = *event;
    e.epoch = clock[e.thread];
    if (dh_c11_log_add(&r->log, &c->locations.arena, &e, clock))
        return true;
    r->is_narrow |= e.is_sc;
    give_up_log(c);
    return false;
}

/* Synchronisation counts as an event between accesses; before the first of them it does not matter. */
static void log_sync(struct c11 *c, uint32_t thread, bool is_sc)
{
    if (c->root->log.count || is_sc)
        log_event(c, &(struct dh_c11_event){.thread = thread, .is_sc = is_sc});
}

static void thread_forks(void *self, uint32_t parent, uint32_t child)
{
    struct c11 *c = self;
    dh_clocks_tick(&c->clocks, parent);
    log_sync(c, parent, false);
    dh_clocks_fork(&c->clocks, parent, child);
    log_sync(c, child, false);
    dh_clocks_tick(&c->clocks, child);
}

static void thread_joins(void *self, uint32_t thread, uint32_t ended)
{
    struct c11 *c = self;
    dh_clocks_tick(&c->clocks, ended);
    log_sync(c, ended, false);
    dh_clocks_tick(&c->clocks, thread);
    dh_clocks_join(&c->clocks, thread, ended);
    log_sync(c, thread, false);
}

static void acquire(void *self, uint32_t thread, uint64_t object)
{
    struct c11 *c = self;
    dh_clocks_tick(&c->clocks, thread);
    dh_clocks_acquire(&c->clocks, thread, object);
    log_sync(c, thread, false);
}

static void release(void *self, uint32_t thread, uint64_t object)
{
    struct c11 *c = self;
    dh_clocks_tick(&c->clocks, thread);
    log_sync(c, thread, false);
    dh_clocks_release(&c->clocks, thread, object);
}

/* Its load is before the event in the log, its store after it. */
static void atomic(void *self, uint32_t thread, uint64_t object, enum dh_order order, bool reads, bool writes)
{
    struct c11 *c = self;
    dh_clocks_tick(&c->clocks, thread);
    if (reads)
        dh_clocks_atomic(&c->clocks, thread, object, order, true, false);
    log_sync(c, thread, false);
    if (writes)
        dh_clocks_atomic(&c->clocks, thread, object, order, reads, true);
}

static void fence(void *self, uint32_t thread, enum dh_order order)
{
    struct c11 *c = self;
    dh_clocks_tick(&c->clocks, thread);
    if (dh_order_acquires(order))
        dh_clocks_fence(&c->clocks, thread, DH_ORDER_ACQUIRE);
    log_sync(c, thread, order == DH_ORDER_SEQ_CST);
    if (dh_order_releases(order))
        dh_clocks_fence(&c->clocks, thread, DH_ORDER_RELEASE);
}

/* ---- locations ---- */

static void forget(void *self, uint64_t address, uint64_t size)
{
    struct c11 *c = self;
    const struct dh_c11_log *log = &c->root->log;
    for (uint32_t i = 0; i < log->count; i++) {
        const struct dh_location *at = log->event[i]->at;
        if (at && at->address < address + size && address < at->address + at->size) {
            give_up_log(c);
            break;
        }
    }
    dh_locations_forget(&c->locations, address, size);
}

static unsigned pieces(void *self, uint64_t address, uint64_t size, struct dh_access_piece *out, unsigned room)
{
    struct c11 *c = self;
    if (c->root->log.count && dh_locations_would_split(&c->locations, address, size))
        give_up_log(c);
    return dh_locations_pieces(&c->locations, address, size, out, room);
}

static struct dh_location *locate(struct c11 *c, const struct dh_memory_access *a)
{
    struct dh_memory *m = c->locations.arena.memory;
    if (c->root->log.count && dh_locations_differ(&c->locations, a->address, a->size))
        give_up_log(c);
    struct dh_location *at = dh_location_find(&c->locations, a->address, a->size);
    if (at && dh_location_newest(at)->value != m->peek(m, a->address, a->size))
        forget(c, a->address, a->size);
    return dh_location_get(&c->locations, a->address, a->size);
}

/* Was it written or read by something that happens before a thread with this clock? */
static bool is_known(const struct c11 *c, const struct dh_memory_write *w, const uint32_t *clock)
{
    if (w->thread == DH_MEMORY_INITIAL || w->is_known)
        return true;
    for (uint32_t t = 0; t < c->clocks.n; t++)
        if (w->clocks[t] && w->clocks[t] <= clock[t])
            return true;
    return false;
}

static uint64_t known_of(const struct c11 *c, const struct dh_location *at, const uint32_t *clock)
{
    uint64_t known = 0;
    for (uint32_t i = 0; i < at->count; i++)
        if (is_known(c, at->write[i], clock))
            known |= UINT64_C(1) << i;
    return known;
}

/* Coherence: what comes before something known cannot be read. */
static uint64_t hidden_by(const struct dh_location *at, uint64_t known)
{
    uint64_t hidden = 0;
    for (uint32_t i = 0; i < at->count; i++)
        if (known >> i & 1)
            hidden |= at->write[i]->before;
    return hidden;
}

/* Everything known comes before write i, or is it. */
static void order_known(const struct c11 *c, struct dh_location *at, uint32_t i, const uint32_t *clock)
{
    uint64_t known = known_of(c, at, clock) & ~at->write[i]->before;
    for (uint32_t k = 0; k < at->count; k++)
        if (known >> k & 1 && at->write[k]->head != at->write[i]->head)
            dh_mo_add(at, k, i);
}

/* ---- loads ---- */

static struct dh_c11_event event_of(const struct dh_memory_access *a, struct dh_location *at,
                                    struct dh_memory_write *read, struct dh_memory_write *wrote)
{
    return (struct dh_c11_event){
        .thread = a->thread, .is_sc = a->order == DH_ORDER_SEQ_CST, .at = at, .read = read, .wrote = wrote};
}

struct kept {
    uint64_t before[DH_MEMORY_HISTORY_MOST];
};

static void keep(const struct dh_location *at, struct kept *k)
{
    for (uint32_t i = 0; i < at->count; i++)
        k->before[i] = at->write[i]->before;
}

static void put_back(struct dh_location *at, const struct kept *k)
{
    for (uint32_t i = 0; i < at->count; i++)
        at->write[i]->before = k->before[i];
}

/* Adds the write of an update of i, to look what becomes of it. */
static struct dh_memory_write *begin_update(struct c11 *c, struct dh_location *at, const struct dh_memory_access *a,
                                            uint32_t i, uint64_t value)
{
    struct dh_memory_write *w = dh_location_push(&c->locations, at, a, value);
    if (w) {
        w->rank = (uint8_t)(at->count - 1);
        dh_mo_chain(at, i);
    }
    return w;
}

static void end_update(struct c11 *c, struct dh_location *at, uint32_t i, uint32_t newest)
{
    at->write[i]->is_updated = false;
    dh_location_drop(&c->locations, at, at->count - 1);
    c->locations.root->sequence--;
    at->newest = newest;
}

/* Is there an order left for seq_cst if the load answers write i? Nothing is changed. What the load would learn by
 * acquiring does not matter to that: it is the last event, so psc leaves it by rb or mo only, to writes that come after
 * what it read, and those come after whatever it would learn of at this location anyway. */
static bool leaves_an_order(struct c11 *c, const struct dh_memory_access *a, struct dh_location *at, uint32_t i,
                            const uint32_t *clock)
{
    struct dh_c11_log *log = &c->root->log;
    struct dh_memory_write *read = at->write[i], *wrote = NULL;
    uint32_t newest = at->newest;
    struct kept kept;
    keep(at, &kept);
    if (a->updates && !(wrote = begin_update(c, at, a, i, 0)))
        return false;
    order_known(c, at, i, clock);
    struct dh_c11_event e = event_of(a, at, read, wrote);
    e.epoch = UINT32_MAX;
    bool has_sc = log->has_sc, is_logged = dh_c11_log_add(log, &c->locations.arena, &e, clock);
    bool is_left = is_logged && dh_c11_log_solve(log, c->work);
    c->locations.arena.memory->lost.narrowed += is_logged && c->work->gave_up && !is_left;
    log->count -= is_logged;
    log->has_sc = has_sc;
    if (wrote)
        end_update(c, at, i, newest);
    put_back(at, &kept);
    return is_left;
}

static bool may_answer(struct c11 *c, const struct dh_memory_access *a, struct dh_location *at, uint32_t i,
                       const uint32_t *clock)
{
    if (a->updates && at->write[i]->is_updated)
        return false;
    bool concerns_sc = c->root->log.has_sc || a->order == DH_ORDER_SEQ_CST;
    return i == at->newest || !concerns_sc || leaves_an_order(c, a, at, i, clock);
}

static uint32_t of_rank(const struct dh_location *at, uint32_t rank)
{
    uint32_t i = 0;
    while (at->write[i]->rank != rank)
        i++;
    return i;
}

static bool is_narrow(const struct c11 *c, const struct dh_memory_access *a)
{
    const struct root *r = c->root;
    return r->is_narrow || (a->order == DH_ORDER_SEQ_CST && (r->log_failed || r->log.count == DH_C11_EVENTS)) ||
           (r->log.has_sc && r->log.count == DH_C11_EVENTS);
}

static unsigned load(void *self, const struct dh_memory_access *a, struct dh_candidate *out, unsigned room)
{
    struct c11 *c = self;
    struct dh_location *at = locate(c, a);
    const uint32_t *clock = dh_clocks_of(&c->clocks, a->thread);
    bool narrow = at && is_narrow(c, a);
    c->locations.arena.memory->lost.narrowed += narrow && at->count > 1;
    if (!at || !clock || narrow)
        return dh_model_load_newest(&c->locations, a, out, room);
    uint64_t hidden = hidden_by(at, known_of(c, at, clock));
    unsigned n = 0;
    for (uint32_t rank = at->count; rank-- > 0 && n < room;) {
        uint32_t i = of_rank(at, rank);
        if (!(hidden >> i & 1) && may_answer(c, a, at, i, clock))
            out[n++] = dh_candidate_of(at->write[i], i);
    }
    return n;
}

/* ---- what was done ---- */

static void touch(struct dh_memory_write *w, uint32_t thread, uint32_t epoch)
{
    if (!w->clocks[thread])
        w->clocks[thread] = epoch;
}

static void adopt_rank(struct c11 *c, struct dh_location *at)
{
    struct dh_memory *m = c->locations.arena.memory;
    uint32_t newest = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        at->write[i]->rank = at->write[i]->trial;
        if (at->write[i]->rank == at->count - 1)
            newest = i;
    }
    if (newest != at->newest)
        m->poke(m, at->address, at->size, at->write[newest]->value);
    at->newest = newest;
}

/* After more became certain: an order that agrees becomes the one that memory goes by. */
static void settle(struct c11 *c, struct dh_location *at)
{
    struct dh_c11_log *log = &c->root->log;
    if (!log->has_sc) {
        dh_mo_linearise(at);
        adopt_rank(c, at);
        return;
    }
    dh_c11_log_solve(log, c->work);
    for (uint32_t i = 0; i < log->count; i++)
        if (log->event[i]->begins)
            adopt_rank(c, log->event[i]->at);
}

static void log_access(struct c11 *c, const struct dh_memory_access *a, struct dh_location *at,
                       struct dh_memory_write *read, struct dh_memory_write *wrote)
{
    struct dh_c11_event e = event_of(a, at, read, wrote);
    if (!log_event(c, &e))
        return;
    if (read)
        read->is_logged = true;
    if (wrote)
        wrote->is_logged = true;
}

/* The order that memory goes by does not change by reading the newest, which everything precedes in it. */
static void took(void *self, const struct dh_memory_access *a, unsigned index)
{
    struct c11 *c = self;
    struct dh_location *at = dh_location_find(&c->locations, a->address, a->size);
    uint32_t *clock = dh_clocks_of(&c->clocks, a->thread);
    if (!at || index >= at->count || !clock)
        return;
    struct dh_memory_write *w = at->write[index];
    dh_clocks_tick(&c->clocks, a->thread);
    order_known(c, at, index, clock);
    touch(w, a->thread, clock[a->thread]);
    if (w->has_message)
        dh_clocks_receive(&c->clocks, a->thread, a->order, w->clocks + c->clocks.n);
    log_access(c, a, at, w, NULL);
    if (index != at->newest)
        settle(c, at);
}

/* Writes that no thread can read any more: each knows one that comes after. */
static uint64_t over(const struct c11 *c, const struct dh_location *at)
{
    const struct dh_clocks_root *r = c->clocks.root;
    uint64_t set = UINT64_MAX;
    for (uint32_t t = 0; t < r->threads; t++)
        if (r->thread[t] && !r->thread[t]->has_ended)
            set &= hidden_by(at, known_of(c, at, r->thread[t]->hb.clock.at));
    return set;
}

/* Drops a write that a thread could still read or know: from now on the order of `rank` is certain around it, and
 * threads that knew it know the next one. */
static void drop(struct c11 *c, struct dh_location *at, uint32_t i)
{
    struct dh_memory_write *w = at->write[i];
    uint32_t next = of_rank(at, w->rank + 1u);
    for (uint32_t k = 0; k < at->count; k++)
        if (at->write[k]->rank <= w->rank && at->write[k]->head != at->write[next]->head)
            dh_mo_add(at, k, next);
    for (uint32_t t = 0; t < c->clocks.n; t++) {
        uint32_t *touched = &at->write[next]->clocks[t], before = w->clocks[t];
        if (before && (!*touched || before < *touched))
            *touched = before;
    }
    at->write[next]->is_known |= w->is_known || w->thread == DH_MEMORY_INITIAL;
    dh_mo_drop(&c->locations, at, i);
}

/* After a write has come: no more than are to be kept, and never the newest, which has the highest rank. */
static void collect(struct c11 *c, struct dh_location *at)
{
    uint32_t most = c->locations.history - SPARE;
    if (at->count <= most)
        return;
    if (is_logging(c))
        give_up_log(c);
    uint64_t gone = over(c, at);
    for (uint32_t i = at->count; i-- > 0;)
        if (i != at->newest && gone >> i & 1)
            dh_mo_drop(&c->locations, at, i);
    for (; at->count > most; c->locations.arena.memory->lost.removed++)
        drop(c, at, of_rank(at, 0));
}

static void publish(struct c11 *c, const struct dh_memory_access *a, struct dh_memory_write *w,
                    const struct dh_memory_write *read)
{
    uint32_t n = c->clocks.n;
    if (read && read->has_message) {
        w->has_message = true;
        dh_entries_max(w->clocks + n, read->clocks + n, n);
    }
    w->has_message |= dh_clocks_send(&c->clocks, a->thread, a->order, w->clocks + n);
}

static void store(void *self, const struct dh_memory_access *a, uint64_t value)
{
    struct c11 *c = self;
    struct dh_memory *m = c->locations.arena.memory;
    struct dh_location *at = locate(c, a);
    uint32_t *clock = dh_clocks_of(&c->clocks, a->thread);
    struct dh_memory_write *w = at && clock ? dh_location_push(&c->locations, at, a, value) : NULL;
    if (!w) {
        forget(c, a->address, a->size);
        m->poke(m, a->address, a->size, value);
        return;
    }
    dh_clocks_tick(&c->clocks, a->thread);
    w->rank = (uint8_t)(at->count - 1);
    order_known(c, at, at->count - 1, clock);
    touch(w, a->thread, clock[a->thread]);
    log_access(c, a, at, NULL, w);
    publish(c, a, w, NULL);
    collect(c, at);
    m->poke(m, a->address, a->size, value);
}

static void update(void *self, const struct dh_memory_access *a, unsigned index, uint64_t value)
{
    struct c11 *c = self;
    struct dh_location *at = dh_location_find(&c->locations, a->address, a->size);
    uint32_t *clock = dh_clocks_of(&c->clocks, a->thread);
    struct dh_memory_write *read = at && index < at->count ? at->write[index] : NULL, *w;
    uint32_t newest = at ? at->newest : 0;
    if (!read || !clock || !(w = begin_update(c, at, a, index, value))) {
        store(self, a, value);
        return;
    }
    at->newest = newest;
    dh_clocks_tick(&c->clocks, a->thread);
    order_known(c, at, index, clock);
    touch(read, a->thread, clock[a->thread]);
    touch(w, a->thread, clock[a->thread]);
    if (read->has_message)
        dh_clocks_receive(&c->clocks, a->thread, a->order, read->clocks + c->clocks.n);
    log_access(c, a, at, read, w);
    publish(c, a, w, read);
    settle(c, at);
    collect(c, at);
}

const struct dh_memory_model dh_memory_c11 = {
    .name = "c11",
    .summary = "RC11: C and C++ atomics, fences and plain accesses, without load buffering",
    .start = start,
    .begin = begin_run,
    .fork = thread_forks,
    .join = thread_joins,
    .acquire = acquire,
    .release = release,
    .atomic = atomic,
    .orders_sc = true,
    .pieces = pieces,
    .load = load,
    .took = took,
    .store = store,
    .update = update,
    .fence = fence,
    .forget = forget,
    .snapshot_size = dh_model_snapshot_size,
    .snapshot = dh_model_snapshot,
    .restore = dh_model_restore,
};
