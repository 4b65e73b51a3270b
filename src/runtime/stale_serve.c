/* Loads and stores of chosen places. A shard holds the locations of some lines of memory: a model, and a lock under
 * which a store is told and made. So what memory holds is the newest write, for everyone who does not ask. */
#include "runtime/stale_state.h"

#include "memory/hb.h"
#include "memory/heuristics.h"
#include "runtime/alloc.h"
#include "runtime/bytes.h"
#include "runtime/native_atomics.h"
#include "runtime/real.h"
#include "runtime/sync_table.h"

enum {
    SHARDS = 16,
    LINE = 64,
    WORD = 8,
    PIECES = LINE,
    KNOWN = 1 << 11, /* granules of a shard, three quarters of which may be in use */
    OWN_STORES = 48, /* by one thread alone that make it its own */
    OWN_STORES_OF_ELEMENTS = 8,
    FILTER = 1 << 16,  /* lines, by their lowest bits, of which some had a location */
    FOR_NOTHING = 512, /* loads at a place that each thread is served whatever they cost */
    LONGEST = 1 << 16, /* row of loads that is passed over */
    SHARE = 32,        /* one cycle in so many may be spent here */
    SHARE_OF_ELEMENTS = 6,
    INTERRUPTED = 200000, /* cycles that only a thread takes that did not run meanwhile */
    AWAY = 300000,        /* at most so many cycles without an access were the thread's own, */
    AWAY_OF_ELEMENTS = 3000000
};
/* Cycles to begin with. */
#define CREDIT ((int64_t)20000000)
#define CREDIT_OF_ELEMENTS ((int64_t)150000000)

/* Eight bytes of memory. What one thread alone stores again and again is its own until another comes: it has no past
 * then. */
struct granule {
    uint64_t at;
    uint32_t first; /* thread that accessed it */
    uint16_t stores;
    bool shared; /* another did, too */
};

static struct shard {
    dh_spin lock;
    struct dh_memory memory;
    void *model;
    struct dh_picker *picker;
    uint32_t generation; /* of the threads that it knows */
    uint64_t nobody;     /* a location that nobody accesses */
    uint64_t removed;    /* as was told */
    struct granule *known;
    uint32_t n_known;
    struct dh_candidate candidates[DH_MEMORY_CANDIDATES];
} *shards;

static uint64_t filter[FILTER / 64];
static bool has_lines; /* some */

/* ---- memory ---- */

static void *memory(struct dh_memory *m, size_t n)
{
    (void)m;
    return dh_alloc_forever(n);
}

static uint64_t peek_at(uint64_t address, unsigned size)
{
    const volatile void *at = (const volatile void *)(uintptr_t)address;
    return size == 8   ? *(const volatile uint64_t *)at
           : size == 4 ? *(const volatile uint32_t *)at
           : size == 2 ? *(const volatile uint16_t *)at
                       : *(const volatile uint8_t *)at;
}

static uint64_t peek(struct dh_memory *m, uint64_t address, unsigned size)
{
    (void)m;
    return peek_at(address, size);
}

/* Who tells the store makes it, when all pieces are told. */
static void poke(struct dh_memory *m, uint64_t address, unsigned size, uint64_t value)
{
    (void)m, (void)address, (void)size, (void)value;
}

static void put(uintptr_t at, const void *value, size_t size)
{
    if (size == 8 && !(at & 7))
        __atomic_store_n((uint64_t *)at, *(const uint64_t *)value, __ATOMIC_RELEASE);
    else if (size == 4 && !(at & 3))
        __atomic_store_n((uint32_t *)at, *(const uint32_t *)value, __ATOMIC_RELEASE);
    else if (size == 2 && !(at & 1))
        __atomic_store_n((uint16_t *)at, *(const uint16_t *)value, __ATOMIC_RELEASE);
    else
        dh_bytes_copy((void *)at, value, size);
}

static void get(void *value, uintptr_t at, size_t size)
{
    if (size == 8 && !(at & 7))
        *(uint64_t *)value = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
    else if (size == 4 && !(at & 3))
        *(uint32_t *)value = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
    else if (size == 2 && !(at & 1))
        *(uint16_t *)value = __atomic_load_n((const uint16_t *)at, __ATOMIC_ACQUIRE);
    else
        dh_bytes_copy(value, (const void *)at, size);
}

/* ---- shards ---- */

static struct shard *shard_of(uint64_t address)
{
    return &shards[(address / LINE * 0x9e3779b97f4a7c15u >> 60) % SHARDS];
}

static bool start_shard(struct shard *s, uint32_t slots, unsigned number)
{
    const struct dh_stale_job *job = &dh_stale_control->job;
    s->memory =
        (struct dh_memory){.threads = slots, .clocks_given = true, .memory = memory, .peek = peek, .poke = poke};
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

/* A write is forgotten when it is hidden from every thread that there is, so all of them must be known. */
static void learn_threads(struct shard *s)
{
    struct dh_stale_registry *r = &dh_stale_registry;
    if (__builtin_expect(s->generation == atomic_load_explicit(&r->generation, memory_order_acquire), 1))
        return;
    dh_spin_lock(&r->lock);
    for (uint32_t i = 0; i < r->slots; i++) {
        const struct dh_stale_slot *slot = &r->slot[i];
        struct dh_access a = {.thread = i,
                              .size = WORD,
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

static void begin_anew(struct shard *s, unsigned number)
{
    dh_hb_model_begin(s->model);
    dh_picker_begin(s->picker, dh_stale_control->job.seed * SHARDS + number);
    s->generation = 0;
    dh_bytes_zero(s->known, KNOWN * sizeof *s->known);
    s->n_known = 0;
}

/* Where there is no more room, nothing has a past. */
static struct shard *lock_shard(uint64_t address)
{
    struct shard *s = shard_of(address);
    dh_spin_lock(&s->lock);
    if (__builtin_expect(s->n_known >= KNOWN / 4 * 3, 0))
        begin_anew(s, (unsigned)(s - shards));
    learn_threads(s);
    return s;
}

/* What somebody else was about to change is not whole; and the one thread that is left has nobody to disagree with. */
void dh_stale_serve_forked(void)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        begin_anew(&shards[i], i);
        atomic_flag_clear(&shards[i].lock);
    }
}

static void unlock_shard(struct shard *s)
{
    if (s->memory.lost.removed != s->removed) {
        atomic_fetch_add_explicit(&dh_stale_control->removed, s->memory.lost.removed - s->removed,
                                  memory_order_relaxed);
        s->removed = s->memory.lost.removed;
    }
    dh_spin_unlock(&s->lock);
}

/* ---- what is known ---- */

static void note_line(uint64_t address)
{
    uint64_t line = address / LINE % FILTER, *word = &filter[line / 64], bit = (uint64_t)1 << line % 64;
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

/* Is it that thread's own? */
static bool note_granule(struct shard *s, uint64_t at, uint32_t thread, unsigned stores, unsigned most)
{
    uint64_t i = at * 0x9e3779b97f4a7c15u >> 32;
    struct granule *g = &s->known[i % KNOWN];
    for (; g->at && g->at != at; g = &s->known[i % KNOWN])
        i++;
    if (!g->at) {
        s->n_known++;
        *g = (struct granule){.at = at, .first = thread};
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
        dh_model_forget(s->model, at, WORD);
    }
    return true;
}

static void forget_line(uint64_t from, uint64_t to)
{
    struct shard *s = shard_of(from);
    dh_spin_lock(&s->lock);
    dh_model_forget(s->model, from, to - from);
    dh_spin_unlock(&s->lock);
}

static void forget_lines(uint64_t from, uint64_t end)
{
    for (uint64_t line = from / LINE; line <= (end - 1) / LINE; line++)
        if (may_have(line))
            forget_line(line * LINE > from ? line * LINE : from, (line + 1) * LINE < end ? (line + 1) * LINE : end);
}

/* More than the filter tells apart. */
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
    if (size / LINE < FILTER)
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
        begin_anew(&shards[i], i);
        dh_spin_unlock(&shards[i].lock);
    }
}

void dh_stale_freed(const void *at)
{
    size_t size = dh_real.malloc_usable_size ? dh_real.malloc_usable_size((void *)at) : 0;
    const struct dh_stale_thread *t = __dh_thread.stale;
    dh_stale_forget(at, size);
    if (!t || t->busy || __dh_stale_over)
        return;
    dh_stale_log(t->index, DH_STALE_LOG_CLEAR, (uint64_t)(uintptr_t)at, 0, size);
    dh_sync_remove((uintptr_t)at, size);
}

/* ---- one line ---- */

/* An access of bytes in one line, by a thread that is known. */
struct asked {
    struct dh_stale_thread *t;
    uint64_t at;
    unsigned size;
    uint32_t what, place;
};

static bool is_own(struct shard *s, const struct asked *k, bool stores)
{
    unsigned most = dh_stale_control->job.flags & DH_STALE_ALL ? UINT16_MAX
                    : k->what & DH_STALE_ELEMENT               ? OWN_STORES_OF_ELEMENTS
                                                               : OWN_STORES;
    bool own = true;
    note_line(k->at);
    for (uint64_t at = k->at / WORD; at <= (k->at + k->size - 1) / WORD; at++)
        own = note_granule(s, at * WORD, k->t->index, stores, most) && own;
    return own;
}

static struct dh_access access_of(const struct asked *k, const struct dh_piece *p, bool updates)
{
    return (struct dh_access){.thread = k->t->slot,
                              .site = k->place,
                              .occurrence = k->t->index, /* who it was, for the report */
                              .size = p->size,
                              .order = (uint8_t)(k->what >> 8),
                              .updates = updates,
                              .address = p->address,
                              .clock = k->t->clock.at,
                              .clocks = k->t->clock.n};
}

static bool tears(const struct asked *k)
{
    return k->what & DH_STALE_MAY_TEAR && dh_stale_control->job.flags & DH_STALE_TEAR;
}

/* Words in halves, where they may come apart. */
static unsigned tear(struct dh_piece pieces[PIECES], unsigned n)
{
    unsigned wide = 0;
    for (unsigned i = 0; i < n; i++)
        wide += pieces[i].size == WORD;
    for (unsigned from = n, to = n + wide; from-- > 0;) {
        struct dh_piece p = pieces[from];
        if (p.size == WORD)
            pieces[--to] = (struct dh_piece){p.address + WORD / 2, WORD / 2};
        pieces[--to] = (struct dh_piece){p.address, p.size == WORD ? WORD / 2 : p.size};
    }
    return n + wide;
}

static unsigned pieces_of(struct shard *s, const struct asked *k, struct dh_piece pieces[PIECES])
{
    unsigned n = dh_model_pieces(s->model, k->at, k->size, pieces, PIECES);
    return tears(k) ? tear(pieces, n) : n;
}

/* Locations whose memory somebody else changed begin anew: the model sees to it. Here it is told. */
static void note_beginning(struct shard *s, const struct asked *k, const struct dh_piece *p)
{
    const struct dh_hb_model *h = s->model;
    const struct dh_location *at = dh_location_find((struct dh_locations *)&h->locations, p->address, p->size);
    uint64_t now = peek_at(p->address, p->size);
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

/* One piece is served: its value, and whether there was another. */
static uint64_t serve(struct shard *s, const struct asked *k, const struct dh_piece *p,
                      struct dh_engine_stale_read *read, bool *open)
{
    struct dh_access a = access_of(k, p, false);
    note_beginning(s, k, p);
    unsigned n = dh_hb_model_load(s->model, &a, s->candidates, DH_MEMORY_CANDIDATES);
    if (!n)
        return peek_at(p->address, p->size);
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

static void keep_stale(const struct dh_engine_stale_read *read)
{
    struct dh_stale_control *c = dh_stale_control;
    uint32_t i = atomic_fetch_add(&c->n_stale, 1);
    if (i < DH_ENGINE_STALE_READS) {
        c->stale[i] = *read;
        c->stale[i].decision = i;
    }
}

/* Inside the lock. */
static void load_line(struct shard *s, const struct asked *k, void *value, struct dh_engine_stale_read *read)
{
    struct dh_piece pieces[PIECES];
    bool open = false;
    dh_stale_count(&k->t->counts->loads, 1);
    if (is_own(s, k, false)) {
        get(value, k->at, k->size);
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
    keep_stale(read);
}

static void note_buffer(struct shard *s, const struct dh_piece *p)
{
    const struct dh_hb_model *h = s->model;
    const struct dh_location *at = dh_location_find((struct dh_locations *)&h->locations, p->address, p->size);
    uint64_t most = atomic_load_explicit(&dh_stale_control->buffer_most, memory_order_relaxed);
    if (at && at->count > most)
        atomic_store_explicit(&dh_stale_control->buffer_most, at->count, memory_order_relaxed);
}

/* The model has one clock for those who share a slot, and a write the epoch that it says: whoever writes is there, too.
 */
static void keep_up(struct shard *s, struct dh_stale_thread *t)
{
    struct dh_hb_model *h = s->model;
    const uint32_t *known = dh_clocks_of(&h->clocks, t->slot);
    if (known && known[t->slot] > t->clock.at[t->slot])
        t->clock.at[t->slot] = known[t->slot];
}

/* Inside the lock. Told first: the model compares what memory holds with what it was told last. */
static void tell_line(struct shard *s, const struct asked *k, const void *value)
{
    struct dh_piece pieces[PIECES];
    k->t->dirty = true;
    dh_stale_count(&k->t->counts->stores, 1);
    if (is_own(s, k, true))
        return;
    keep_up(s, k->t);
    unsigned n = pieces_of(s, k, pieces);
    for (unsigned i = 0; i < n; i++) {
        struct dh_access a = access_of(k, &pieces[i], false);
        uint64_t v = 0;
        dh_bytes_copy(&v, (const char *)value + (pieces[i].address - k->at), pieces[i].size);
        note_beginning(s, k, &pieces[i]);
        dh_hb_model_store(s->model, &a, v);
        dh_stale_log(k->t->index, DH_STALE_LOG_STORE, a.address, a.size, v);
        note_buffer(s, &pieces[i]);
    }
}

/* ---- what it may cost ---- */

static uint64_t cycles(void)
{
    return __builtin_ia32_rdtsc();
}

/* Every place has some loads for nothing; what is more must be paid by what was spent elsewhere. */
static uint64_t begin_paying(struct dh_stale_thread *t, uint32_t what)
{
    uint64_t now = cycles(), share = what & DH_STALE_ELEMENT ? SHARE_OF_ELEMENTS : SHARE,
             away = what & DH_STALE_ELEMENT ? AWAY_OF_ELEMENTS : AWAY;
    int64_t most = what & DH_STALE_ELEMENT ? CREDIT_OF_ELEMENTS : CREDIT;
    if (!t->last)
        t->credit = most;
    else if (now > t->last) /* who was away for long was not running */
        t->credit += (int64_t)((now - t->last < away ? now - t->last : away) / share);
    t->credit = t->credit < most ? t->credit : most;
    return now;
}

static void pay(struct dh_stale_thread *t, uint64_t began)
{
    t->last = cycles();
    uint64_t spent = t->last - began;
    t->credit -= (int64_t)(spent < INTERRUPTED ? spent : INTERRUPTED);
}

/* How many loads of the place are passed over now. */
static void choose_row(struct dh_stale_thread *t, uint32_t place)
{
    struct dh_stale_site *at = &t->sites[place % DH_STALE_SITES];
    if (at->given < FOR_NOTHING || dh_stale_control->job.flags & DH_STALE_ALL) {
        at->given += at->given < FOR_NOTHING;
        return;
    }
    if (t->credit < 0)
        at->length = at->length * 2 + 1 < LONGEST ? at->length * 2 + 1 : LONGEST;
    else
        at->length /= 2;
    __dh_thread.stale_skip[place % DH_STALE_SITES] = at->length + 1;
    dh_stale_count(&t->counts->passed, at->length);
}

/* Stores cannot be passed over. Where they cost too much, fewer elements are looked at; in the end nothing is. */
static void look_at_less(struct dh_stale_thread *t, uint32_t what)
{
    if (t->credit > -CREDIT / 8 || dh_stale_control->job.flags & DH_STALE_ALL)
        return;
    if (!(what & DH_STALE_ELEMENT)) {
        if (t->credit < -CREDIT)
            __atomic_store_n(&__dh_stale_over, 1, __ATOMIC_RELAXED);
        return;
    }
    t->credit = 0;
    dh_stale_watch_less();
}

/* ---- accesses ---- */

static bool is_left_out(uint64_t at, uint32_t what)
{
    return __atomic_load_n(&__dh_stale_over, __ATOMIC_RELAXED) ||
           (what & DH_STALE_ELEMENT && (at & __atomic_load_n(&__dh_stale_mask, __ATOMIC_RELAXED)) !=
                                           __atomic_load_n(&__dh_stale_want, __ATOMIC_RELAXED));
}

/* The next one asks, too, unless nothing is served any more. */
static void ask_again(uint32_t place)
{
    __dh_thread.stale_skip[place % DH_STALE_SITES] = dh_stale_on && !__dh_stale_over;
}

static bool enter(struct dh_stale_thread *t)
{
    if (!dh_stale_on || !t || t->busy)
        return false;
    t->busy = DH_STALE_ACCESSES;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static void leave(struct dh_stale_thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = DH_STALE_IDLE;
}

static unsigned in_line(uint64_t at, size_t size)
{
    size_t room = LINE - at % LINE;
    return (unsigned)(size < room ? size : room);
}

/* A bad address faults here, where nothing is locked. */
static void touch(uint64_t at, size_t size)
{
    (void)*(const volatile char *)(uintptr_t)at;
    (void)*(const volatile char *)(uintptr_t)(at + size - 1);
}

static void touch_to_write(uint64_t at, size_t size)
{
    __atomic_fetch_or((char *)(uintptr_t)at, 0, __ATOMIC_RELAXED);
    if (at / LINE != (at + size - 1) / LINE)
        __atomic_fetch_or((char *)(uintptr_t)(at + size - 1), 0, __ATOMIC_RELAXED);
}

void dh_stale_load(const void *addr, void *value, size_t size, uint32_t what, uint32_t place)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint64_t at = (uint64_t)(uintptr_t)addr, end = at + size;
    if (!size)
        return;
    touch(at, size);
    ask_again(place);
    if (is_left_out(at, what) || !enter(t)) {
        get(value, at, size);
        return;
    }
    uint64_t began = begin_paying(t, what);
    for (unsigned n; at < end; at += n) {
        n = in_line(at, end - at);
        struct asked k = {t, at, n, what, place};
        struct dh_engine_stale_read read = {0};
        struct shard *s = lock_shard(at);
        load_line(s, &k, (char *)value + (at - (uint64_t)(uintptr_t)addr), &read);
        unlock_shard(s);
    }
    pay(t, began);
    choose_row(t, place);
    leave(t);
}

/* Nobody knows when it happened: whatever was known is no more. */
static void store_untold(uint64_t at, const void *value, size_t size)
{
    put(at, value, size);
    if (dh_stale_on)
        dh_stale_forget((const void *)(uintptr_t)at, size);
}

void dh_stale_store(void *addr, const void *value, size_t size, uint32_t what, uint32_t place)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint64_t at = (uint64_t)(uintptr_t)addr, end = at + size;
    if (!size)
        return;
    if (is_left_out(at, what)) {
        put(at, value, size);
        return;
    }
    touch_to_write(at, size);
    if (!enter(t)) {
        store_untold(at, value, size);
        return;
    }
    uint64_t began = begin_paying(t, what);
    for (unsigned n; at < end; at += n) {
        n = in_line(at, end - at);
        const char *from = (const char *)value + (at - (uint64_t)(uintptr_t)addr);
        struct asked k = {t, at, n, what, place};
        struct shard *s = lock_shard(at);
        tell_line(s, &k, from);
        put(at, from, n);
        unlock_shard(s);
    }
    pay(t, began);
    look_at_less(t, what);
    leave(t);
}

/* ---- atomics ---- */

static uint64_t native_load(const void *addr, unsigned size)
{
    return size == 8   ? dh_native_load8(addr)
           : size == 4 ? dh_native_load4(addr)
           : size == 2 ? dh_native_load2(addr)
                       : dh_native_load1(addr);
}

static void native_store(void *addr, uint64_t value, unsigned size, uint32_t what)
{
    if (size == 8)
        dh_native_store8(addr, value, what);
    else if (size == 4)
        dh_native_store4(addr, (uint32_t)value, what);
    else if (size == 2)
        dh_native_store2(addr, (uint16_t)value, what);
    else
        dh_native_store1(addr, (uint8_t)value, what);
}

/* Answers what was there. */
static uint64_t native_cas(void *addr, uint64_t expected, uint64_t desired, unsigned size)
{
    return size == 8   ? dh_native_cas8(addr, expected, desired)
           : size == 4 ? dh_native_cas4(addr, (uint32_t)expected, (uint32_t)desired)
           : size == 2 ? dh_native_cas2(addr, (uint16_t)expected, (uint16_t)desired)
                       : dh_native_cas1(addr, (uint8_t)expected, (uint8_t)desired);
}

static uint64_t combine(uint64_t old, uint64_t operand, uint32_t rmw, unsigned size)
{
    return size == 8   ? dh_native_combine8(old, operand, rmw)
           : size == 4 ? dh_native_combine4((uint32_t)old, (uint32_t)operand, rmw)
           : size == 2 ? dh_native_combine2((uint16_t)old, (uint16_t)operand, rmw)
                       : dh_native_combine1((uint8_t)old, (uint8_t)operand, rmw);
}

/* A chosen atomic under way: its object is locked, and the shard. Without a shard it is made like any other. */
struct making {
    struct dh_atomic_op op;
    struct asked k;
    struct shard *s;
    uint64_t began;
};

static void begin_making(struct making *m, const void *addr, uint32_t what, uint32_t place)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    uint64_t at = (uint64_t)(uintptr_t)addr;
    bool served = dh_stale_on && t && !t->busy && !is_left_out(at, what);
    touch(at, 1);
    *m = (struct making){.op = {.addr = at, .what = what & DH_STALE_WHAT, .place = place}};
    m->k = (struct asked){t, at, m->op.what >> 16, m->op.what, place};
    if (served)
        m->began = begin_paying(t, what);
    dh_atomic_enter(&m->op);
    if (served && m->op.object)
        m->s = lock_shard(at);
}

static void end_making(struct making *m, bool wrote)
{
    struct dh_stale_thread *t = m->k.t;
    if (m->s)
        unlock_shard(m->s);
    dh_atomic_leave(&m->op, wrote);
    if (m->s)
        pay(t, m->began);
}

/* A value that was there before anybody wrote carries nothing; but what began anew may have been written by somebody.
 */
static bool carries_nothing(const struct dh_engine_stale_read *r)
{
    return r->candidates && r->got.place == UINT32_MAX && !atomic_load(&dh_stale_control->untold);
}

uint64_t dh_stale_atomic_load(const void *addr, uint32_t what, uint32_t place)
{
    struct making m;
    struct dh_engine_stale_read read = {0};
    uint64_t value = 0;
    begin_making(&m, addr, what, place);
    if (m.s) {
        load_line(m.s, &m.k, &value, &read);
        if (carries_nothing(&read))
            m.op.what &= ~0xFF00u;
    } else
        value = native_load(addr, m.k.size);
    end_making(&m, false);
    return value;
}

void dh_stale_atomic_store(void *addr, uint64_t value, uint32_t what, uint32_t place)
{
    struct making m;
    begin_making(&m, addr, what, place);
    if (m.s)
        tell_line(m.s, &m.k, &value);
    native_store(addr, value, m.k.size, m.op.what);
    end_making(&m, true);
}

/* Reads the newest. Somebody who does not ask may come between: then the model sees that memory is not what it was
 * told, and it is tried again. */
static uint64_t update(struct making *m, uint64_t old, uint64_t value)
{
    if (m->s)
        tell_line(m->s, &m->k, &value);
    return native_cas((void *)(uintptr_t)m->k.at, old, value, m->k.size);
}

uint64_t dh_stale_atomic_rmw(void *addr, uint64_t operand, uint32_t what, uint32_t rmw, uint32_t place)
{
    struct making m;
    begin_making(&m, addr, what, place);
    uint64_t old = native_load(addr, m.k.size), seen;
    while ((seen = update(&m, old, combine(old, operand, rmw, m.k.size))) != old)
        old = seen;
    end_making(&m, true);
    return old;
}

uint64_t dh_stale_atomic_cas(void *addr, uint64_t expected, uint64_t desired, uint32_t what, uint32_t failure,
                             uint32_t place)
{
    struct making m;
    begin_making(&m, addr, what, place);
    uint64_t old = native_load(addr, m.k.size);
    if (old == expected)
        old = update(&m, old, desired);
    if (old != expected)
        m.op.what = (m.op.what & ~0xFF00u) | failure << 8;
    end_making(&m, old == expected);
    return old;
}
