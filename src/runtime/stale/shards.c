/* The shards: locations by cache line, and forgetting their older values. Their tables are lock-protected and never
 * freed. */
#include "runtime/stale/shard.h"

#include "base/hash.h"
#include "memory/heuristics.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/alloc.h"
#include "runtime/race/sync_table.h"

enum {
    SHARDS = 16,
    KNOWN = 1 << 11,  /* granules of a shard's table, at most three quarters full */
    FILTER = 1 << 16, /* cache lines, by their lowest bits, that had a location */
};

/* Eight bytes of memory. A granule that one thread alone stores to often is its own until another accesses it: it has
 * no older values. */
struct dh_stale_granule {
    uint64_t at;
    uint32_t first; /* thread that accessed it */
    uint16_t stores;
    bool shared; /* another thread accessed it, too */
};

static struct dh_stale_shard *shards;
static uint64_t filter[FILTER / 64];
static bool has_lines; /* some */

static void *memory(struct dh_memory *m, size_t n)
{
    (void)m;
    return dh_alloc_forever(n);
}

static uint64_t peek(struct dh_memory *m, uint64_t address, unsigned size)
{
    (void)m;
    return dh_stale_peek(address, size);
}

/* The caller stores, when all pieces are in the model. */
static void poke(struct dh_memory *m, uint64_t address, unsigned size, uint64_t value)
{
    (void)m, (void)address, (void)size, (void)value;
}

static struct dh_stale_shard *shard_of(uint64_t address)
{
    return &shards[(dh_hash_multiply(address / DH_STALE_LINE) >> 60) % SHARDS];
}

static bool start_shard(struct dh_stale_shard *s, uint32_t slots, unsigned number)
{
    const struct dh_stale_job *job = &dh_stale_control->job;
    s->lock = (dh_spin)DH_SPIN_INIT(DH_RANK_STALE_SHARD);
    s->memory =
        (struct dh_memory){.threads = slots, .external_clocks = true, .memory = memory, .peek = peek, .poke = poke};
    s->model = dh_memory_model_by_name("hb")->start(&s->memory);
    s->picker = dh_picker_new(&s->memory, dh_heuristic_by_name(job->heuristic), job->fairness);
    s->known = dh_alloc_forever(KNOWN * sizeof *s->known);
    if (!s->model || !s->picker || !s->known)
        return false;
    dh_picker_begin(s->picker, job->seed * SHARDS + number);
    return true;
}

bool dh_stale_serve_start(void)
{
    uint32_t slots = dh_stale_control->job.slots ? dh_stale_control->job.slots : DH_STALE_SLOTS;
    slots = slots < DH_STALE_SLOTS_MOST ? slots : DH_STALE_SLOTS_MOST;
    shards = dh_alloc_forever(SHARDS * sizeof *shards);
    for (unsigned i = 0; shards && i < SHARDS; i++)
        if (!start_shard(&shards[i], slots, i))
            return false;
    return shards;
}

/* A value is removed when no thread can read it any more, so the model must know all threads. */
static void update_threads(struct dh_stale_shard *s)
{
    struct dh_stale_registry *r = &dh_stale_registry;
    if (__builtin_expect(s->generation == atomic_load_explicit(&r->generation, memory_order_acquire), 1))
        return;
    dh_spin_lock(&r->lock);
    for (uint32_t i = 0; i < r->slots; i++) {
        const struct dh_stale_slot *slot = &r->slot[i];
        struct dh_memory_access a = {.thread = i,
                                     .size = DH_STALE_WORD,
                                     .updates = true,
                                     .address = (uint64_t)(uintptr_t)&s->nobody,
                                     .clock = slot->birth.at,
                                     .clocks = slot->birth.n};
        if (slot->generation <= s->generation)
            continue;
        if (slot->users) {
            dh_hb_model_load(s->model, &a, s->candidates, 1);
            dh_hb_model_fork(s->model, i, i);
        } else
            dh_hb_model_join(s->model, i, i);
    }
    s->generation = r->generation;
    dh_spin_unlock(&r->lock);
}

static void reset_shard(struct dh_stale_shard *s, unsigned number)
{
    dh_hb_model_begin(s->model);
    dh_picker_begin(s->picker, dh_stale_control->job.seed * SHARDS + number);
    s->generation = 0;
    dh_bytes_zero(s->known, KNOWN * sizeof *s->known);
    s->n_known = 0;
}

/* A full table is cleared: no location has older values then. */
struct dh_stale_shard *dh_stale_lock_shard(uint64_t address)
{
    struct dh_stale_shard *s = shard_of(address);
    dh_spin_lock(&s->lock);
    if (__builtin_expect(s->n_known >= KNOWN / 4 * 3, 0))
        reset_shard(s, (unsigned)(s - shards));
    update_threads(s);
    return s;
}

/* Another thread may have been inside; and the only thread in the child has no older values to read. */
void dh_stale_serve_forked(void)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        reset_shard(&shards[i], i);
        dh_spin_forked(&shards[i].lock);
    }
}

void dh_stale_unlock_shard(struct dh_stale_shard *s)
{
    if (s->memory.lost.removed != s->removed) {
        atomic_fetch_add_explicit(&dh_stale_control->removed, s->memory.lost.removed - s->removed,
                                  memory_order_relaxed);
        s->removed = s->memory.lost.removed;
    }
    dh_spin_unlock(&s->lock);
}

void dh_stale_mark_line(uint64_t address)
{
    uint64_t line = address / DH_STALE_LINE % FILTER, *word = &filter[line / 64], bit = (uint64_t)1 << line % 64;
    if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit)
        return;
    __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    __atomic_store_n(&has_lines, true, __ATOMIC_RELAXED);
}

static bool may_have(uint64_t line)
{
    line %= FILTER;
    return __atomic_load_n(&filter[line / 64], __ATOMIC_RELAXED) >> line % 64 & 1;
}

bool dh_stale_granule_access(struct dh_stale_shard *s, uint64_t at, uint32_t thread, unsigned stores, unsigned most)
{
    uint64_t i = dh_hash_multiply(at) >> 32;
    struct dh_stale_granule *g = &s->known[i % KNOWN];
    for (; g->at && g->at != at; g = &s->known[i % KNOWN])
        i++;
    if (!g->at) {
        s->n_known++;
        *g = (struct dh_stale_granule){.at = at, .first = thread};
        atomic_fetch_add_explicit(&dh_stale_control->locations, 1, memory_order_relaxed);
    } else if (!g->shared && g->first != thread) {
        g->shared = true;
        atomic_fetch_add_explicit(&dh_stale_control->shared, 1, memory_order_relaxed);
    }
    if (g->shared)
        return false;
    if (g->stores < most) {
        g->stores = (uint16_t)(g->stores + (most < UINT16_MAX ? stores : 0));
        if (g->stores < most)
            return false;
        dh_model_forget(s->model, at, DH_STALE_WORD);
    }
    return true;
}

static void forget_line(uint64_t from, uint64_t to)
{
    struct dh_stale_shard *s = shard_of(from);
    dh_spin_lock(&s->lock);
    dh_model_forget(s->model, from, to - from);
    dh_spin_unlock(&s->lock);
}

static void forget_lines(uint64_t from, uint64_t end)
{
    for (uint64_t line = from / DH_STALE_LINE; line <= (end - 1) / DH_STALE_LINE; line++)
        if (may_have(line))
            forget_line(line * DH_STALE_LINE > from ? line * DH_STALE_LINE : from,
                        (line + 1) * DH_STALE_LINE < end ? (line + 1) * DH_STALE_LINE : end);
}

/* A range as large as the filter. */
static void forget_everywhere(uint64_t from, uint64_t end)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        dh_spin_lock(&shards[i].lock);
        dh_model_forget(shards[i].model, from, end - from);
        dh_spin_unlock(&shards[i].lock);
    }
}

void dh_stale_forget(const void *at, size_t size)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint64_t from = (uint64_t)(uintptr_t)at, end = from + size;
    if (!size || !__atomic_load_n(&has_lines, __ATOMIC_RELAXED) || (t && t->busy))
        return;
    if (t)
        t->busy = DH_STALE_ACCESSES;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (size / DH_STALE_LINE < FILTER)
        forget_lines(from, end);
    else
        forget_everywhere(from, end);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (t)
        t->busy = DH_STALE_IDLE;
}

void dh_stale_forget_all(void)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        dh_spin_lock(&shards[i].lock);
        reset_shard(&shards[i], i);
        dh_spin_unlock(&shards[i].lock);
    }
}

void dh_stale_forget_block(const void *at)
{
    size_t size = dh_real.malloc_usable_size ? dh_real.malloc_usable_size((void *)at) : 0;
    const struct dh_stale_thread *t = __dh_thread.stale;
    dh_stale_forget(at, size);
    if (!t || t->busy || __dh_stale_over)
        return;
    dh_stale_log(t->index, DH_STALE_LOG_CLEAR, (uint64_t)(uintptr_t)at, 0, size);
    dh_sync_objects_remove((uintptr_t)at, size);
}
