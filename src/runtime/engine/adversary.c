#include "runtime/engine/adversary.h"

#include "memory/heuristics.h"
#include "runtime/bytes.h"
#include "runtime/engine/ordering.h"
#include "runtime/engine/raw.h"
#include "search/step.h"

enum { PIECES = 16, WAYS_MOST = 32, TRACKED_BITS = 14, GRANULE_SHIFT = 3, WORD = 8, THREADS = 256, LOADED = 8 };
#define TURNS (1u << 31) /* beside the number of a place: what is counted are its accesses, not its steps */

/* A piece of the access that is being made. */
struct part {
    struct dh_piece piece;
    uint64_t held; /* by memory, before it */
    uint32_t took; /* of what it reads: index to give to the model */
    bool reads, writes;
};

/* What fences of a thread are about, of atomics that are not adversarial. */
struct fences {
    uint64_t loaded[LOADED]; /* addresses of relaxed loads, for an acquire fence to come */
    unsigned n;
    bool released; /* there was a release fence */
};

static struct adversary {
    struct dh_memory memory;
    const struct dh_memory_model *model;
    void *self;
    struct dh_picker *picker;
    bool buffers;          /* the model keeps stores back: a thread must see its own */
    bool orders;           /* it knows what is ordered by itself, and must be told of all that orders */
    struct fences *fences; /* of each thread that it knows of */
    /* Granules of eight bytes that were accessed at adversarial places in this schedule. */
    struct tracked {
        uint64_t granule;
        uint64_t schedule;
        uint32_t first; /* task that accessed it */
        bool shared;    /* another did, too */
    } tracked[1 << TRACKED_BITS];
    unsigned n_tracked;
    struct dh_adversary_state state;
    uint64_t schedule; /* number, from 1 */

    struct dh_step step; /* the access that is being made */
    struct part parts[PIECES];
    unsigned n_parts; /* 0: the model has no say in it */

    struct dh_candidate candidates[DH_MEMORY_CANDIDATES];
    struct dh_engine_stale_read stale[DH_ENGINE_STALE_READS];
    uint32_t n_stale;
} *adversary;

struct dh_adversary_state *dh_adversary_state;

/* ---- memory ---- */

static void *memory(struct dh_memory *m, size_t n)
{
    (void)m;
    return dh_keep_alloc(n);
}

static uint64_t peek(struct dh_memory *m, uint64_t address, unsigned size)
{
    uint64_t value = 0;
    (void)m;
    dh_bytes_copy(&value, (const void *)(uintptr_t)address, size);
    return value;
}

/* What does not change may lie where nobody can write. */
static void poke(struct dh_memory *m, uint64_t address, unsigned size, uint64_t value)
{
    if (peek(m, address, size) != value)
        dh_bytes_copy((void *)(uintptr_t)address, &value, size);
}

bool dh_adversary_init(void)
{
    const struct dh_engine_job *job = &dh_engine->control->job;
    char name[sizeof job->heuristic + 1];
    if (!job->model[0])
        return true;
    adversary = dh_keep_alloc(sizeof *adversary);
    if (!adversary)
        return false;
    dh_text_copy(name, sizeof name, job->model);
    adversary->model = dh_memory_model_by_name(name);
    if (!adversary->model)
        dh_engine_cannot("no memory model '%s'", name);
    adversary->memory = (struct dh_memory){.threads = job->threads ? job->threads : THREADS,
                                           .clocks_given = dh_text_equal(name, "hb"),
                                           .memory = memory,
                                           .peek = peek,
                                           .poke = poke};
    adversary->self = adversary->model->start(&adversary->memory);
    adversary->buffers = adversary->model->enabled_steps != NULL;
    adversary->orders = !adversary->memory.clocks_given;
    adversary->fences = dh_keep_alloc(adversary->memory.threads * sizeof *adversary->fences);
    dh_text_copy(name, sizeof name, job->heuristic);
    enum dh_heuristic heuristic = name[0] ? dh_heuristic_by_name(name) : DH_HEURISTIC_random;
    if (heuristic == DH_HEURISTIC_COUNT)
        dh_engine_cannot("no heuristic '%s'", name);
    adversary->picker = dh_picker_new(&adversary->memory, heuristic, job->fairness);
    dh_adversary_state = &adversary->state;
    return adversary->self && adversary->picker && adversary->fences;
}

void dh_adversary_begin(void)
{
    if (!adversary)
        return;
    adversary->schedule++;
    adversary->n_tracked = 0;
    adversary->state.low = UINTPTR_MAX;
    adversary->state.high = 0;
    adversary->state.making = false;
    adversary->n_stale = 0;
    for (uint32_t i = 0; i < adversary->memory.threads; i++)
        adversary->fences[i] = (struct fences){0};
    adversary->model->begin(adversary->self);
    dh_picker_begin(adversary->picker, dh_engine->control->job.seed + adversary->schedule);
}

/* ---- what is tracked ---- */

static struct tracked *slot_of(uint64_t granule)
{
    uint64_t i = granule * 0x9e3779b97f4a7c15u >> (64 - TRACKED_BITS);
    while (adversary->tracked[i].schedule == adversary->schedule && adversary->tracked[i].granule != granule)
        i = (i + 1) & ((1u << TRACKED_BITS) - 1);
    return &adversary->tracked[i];
}

static bool is_tracked(uint64_t at, uint64_t size)
{
    if (at >= adversary->state.high || at + size <= adversary->state.low)
        return false;
    uint64_t from = at > adversary->state.low ? at : adversary->state.low;
    uint64_t to = at + size < adversary->state.high ? at + size : adversary->state.high;
    for (uint64_t g = from >> GRANULE_SHIFT; g <= (to - 1) >> GRANULE_SHIFT; g++)
        if (slot_of(g)->schedule == adversary->schedule)
            return true;
    return false;
}

static void note_shared(struct tracked *t, uint32_t by)
{
    if (t->shared || t->first == by)
        return;
    t->shared = true;
    dh_engine->control->progress.shared++;
}

static bool track(uint64_t at, uint64_t size, uint32_t by)
{
    for (uint64_t g = at >> GRANULE_SHIFT; g <= (at + size - 1) >> GRANULE_SHIFT; g++) {
        struct tracked *t = slot_of(g);
        if (t->schedule == adversary->schedule) {
            note_shared(t, by);
            continue;
        }
        if (adversary->n_tracked >= 3u << (TRACKED_BITS - 2))
            return false;
        *t = (struct tracked){.granule = g, .schedule = adversary->schedule, .first = by};
        adversary->n_tracked++;
        if (adversary->n_tracked > dh_engine->control->progress.locations)
            dh_engine->control->progress.locations = adversary->n_tracked;
    }
    adversary->state.low = at < adversary->state.low ? at : adversary->state.low;
    adversary->state.high = at + size > adversary->state.high ? at + size : adversary->state.high;
    return true;
}

void dh_adversary_forget(uintptr_t at, size_t size)
{
    if (!adversary || !size || at >= adversary->state.high || at + size <= adversary->state.low)
        return;
    uintptr_t from = at > adversary->state.low ? at : adversary->state.low;
    uintptr_t to = at + size < adversary->state.high ? at + size : adversary->state.high;
    adversary->model->forget(adversary->self, from, to - from);
}

/* ---- one access in pieces ---- */

static uint8_t marks_of(uint32_t place)
{
    return place < dh_engine->control->adversary_size ? dh_engine_adversary(dh_engine->control)[place] : 0;
}

static bool is_sampled_address(uint64_t at, unsigned rate)
{
    uint64_t hash = (at >> GRANULE_SHIFT) * 0x9e3779b97f4a7c15u;
    return !(hash >> 20 & ((1u << rate) - 1));
}

/* Nobody else is there to disagree with; and where things lie that one thread allocates for itself behind the end of
 * the others is another place with kernel threads. */
static bool is_alone(void)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (&dh_engine->tasks[i] != dh_engine->current && !dh_engine->actors[i].ended)
            return false;
    return true;
}

bool dh_adversary_samples(const struct dh_step *s)
{
    uint8_t marks = adversary ? marks_of(s->site) : 0;
    unsigned rate = marks >> DH_ENGINE_RATE_SHIFT;
    if (!rate || s->flags & DH_STEP_ATOMIC) /* atomics order, all of them */
        return true;
    if (is_alone())
        return false;
    if (marks & DH_ENGINE_BY_ADDRESS)
        return is_sampled_address(s->object, rate);
    uint32_t turn = dh_occurrences_next(dh_engine->current->index, s->site | TURNS);
    return !((turn + s->site) & ((1u << rate) - 1));
}

static bool is_load(const struct dh_step *s)
{
    return s->kind == DH_STEP_READ || (s->kind == DH_STEP_COPY && s->flags & DH_STEP_RANGE);
}

bool dh_adversary_serves(const struct dh_step *s)
{
    return adversary && (is_load(s) || s->kind == DH_STEP_RMW) && marks_of(s->site) & DH_ENGINE_STALE;
}

/* Where a load reads. */
static uint64_t source_of(const struct dh_step *s)
{
    return s->kind == DH_STEP_COPY ? s->second : s->object;
}

/* Halves of words, where they may come apart. */
static unsigned tear(struct dh_piece *pieces, unsigned n)
{
    unsigned wide = 0;
    for (unsigned i = 0; i < n; i++)
        wide += pieces[i].size == WORD;
    if (n + wide > PIECES)
        return n;
    for (unsigned from = n, to = n + wide; from-- > 0;) {
        struct dh_piece p = pieces[from];
        if (p.size == WORD)
            pieces[--to] = (struct dh_piece){p.address + WORD / 2, WORD / 2};
        pieces[--to] = (struct dh_piece){p.address, p.size == WORD ? WORD / 2 : p.size};
    }
    return n + wide;
}

/* 0: too many to be told one by one. */
static unsigned pieces_of(const struct dh_step *s, uint64_t at, struct dh_piece pieces[PIECES])
{
    if (!s->size || s->size > PIECES * WORD / 2)
        return 0;
    unsigned n = adversary->model->pieces(adversary->self, at, s->size, pieces, PIECES);
    bool tears = marks_of(s->site) & DH_ENGINE_TEARS && !(s->flags & DH_STEP_ATOMIC);
    return tears ? tear(pieces, n) : n;
}

static struct dh_access access_of(const struct dh_step *s, uint32_t thread, const struct dh_piece *p)
{
    struct dh_access a = {.thread = thread,
                          .site = s->site,
                          .occurrence = s->occurrence,
                          .size = p->size,
                          .order = s->flags & DH_STEP_ATOMIC ? s->order : DH_ORDER_NONE,
                          .updates = s->kind == DH_STEP_RMW,
                          .address = p->address};
    a.clock = dh_ordering_clock(thread, &a.clocks);
    return a;
}

/* Values of one piece, the newest first: never none. */
static unsigned values_of(const struct dh_step *s, uint32_t thread, const struct dh_piece *p)
{
    struct dh_access a = access_of(s, thread, p);
    unsigned n = adversary->model->load(adversary->self, &a, adversary->candidates,
                                        sizeof adversary->candidates / sizeof *adversary->candidates);
    if (n)
        return n;
    adversary->candidates[0] =
        (struct dh_candidate){.value = peek(&adversary->memory, p->address, p->size), .thread = DH_MEMORY_INITIAL};
    return 1;
}

/* ---- choices ---- */

/* Asked for a parked task: its pointer may be wild, which is for the task itself to find out. */
static bool is_readable(uint64_t at, uint32_t size)
{
    char ignored[PIECES * WORD];
    struct {
        uint64_t at, n;
    } here = {(uint64_t)(uintptr_t)ignored, size}, there = {at, size};
    if (size > sizeof ignored)
        return false;
    return is_tracked(at, size) || dh_raw(SYS_process_vm_readv, dh_raw(SYS_getpid, 0, 0, 0, 0, 0, 0), (long)&here, 1,
                                          (long)&there, 1, 0) == (long)size;
}

/* How many ways each piece has when all of them together may have WAYS_MOST. */
static unsigned limit(unsigned n, unsigned so_far)
{
    unsigned most = WAYS_MOST / so_far;
    return n < most ? n : most;
}

uint32_t dh_adversary_ways(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    struct dh_piece pieces[PIECES];
    uint64_t at = source_of(s);
    unsigned ways = 1, n = is_readable(at, s->size) && track(at, s->size, t->index) ? pieces_of(s, at, pieces) : 0;
    for (unsigned i = 0; i < n; i++)
        ways *= limit(values_of(s, t->index, &pieces[i]), ways);
    return ways >= 32 ? UINT32_MAX : (1u << ways) - 1;
}

uint32_t dh_adversary_pick(uint32_t task, const struct dh_step *s)
{
    struct dh_piece pieces[PIECES];
    uint64_t at = source_of(s);
    unsigned ways = 1, picked = 0,
             n = is_readable(at, s->size) && track(at, s->size, task) ? pieces_of(s, at, pieces) : 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned values = limit(values_of(s, task, &pieces[i]), ways);
        if (values > 1) {
            struct dh_access a = access_of(s, task, &pieces[i]);
            picked += ways * dh_picker_pick(adversary->picker, &a, adversary->candidates, values);
        }
        ways *= values;
    }
    return picked;
}

/* ---- around the access ---- */

static struct dh_engine_write write_of(const struct dh_candidate *c)
{
    return (struct dh_engine_write){
        .thread = c->thread, .place = c->thread == DH_MEMORY_INITIAL ? UINT32_MAX : c->site, .value = c->value};
}

/* Values of a word that came in pieces are put together. */
static void note_stale(struct dh_engine_stale_read *r, const struct dh_candidate *got, const struct dh_piece *p,
                       bool is_first)
{
    unsigned shift = (unsigned)(p->address - r->object) * 8;
    const struct dh_candidate *newest = &adversary->candidates[0];
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

static void serve(const struct dh_step *s, uint32_t thread, uint32_t alternative)
{
    struct dh_engine_progress *progress = &dh_engine->control->progress;
    struct dh_engine_stale_read read = {.decision = dh_engine->depth ? dh_engine->depth - 1 : 0,
                                        .thread = thread,
                                        .place = s->site,
                                        .size = (uint16_t)s->size,
                                        .object = source_of(s)};
    unsigned ways = 1, stale = 0;
    for (unsigned i = 0; i < adversary->n_parts; i++) {
        struct part *p = &adversary->parts[i];
        if (!p->reads)
            continue;
        unsigned values = limit(values_of(s, thread, &p->piece), ways), picked = alternative % values;
        const struct dh_candidate *c = &adversary->candidates[picked];
        alternative /= values;
        ways *= values;
        p->took = c->index;
        stale += picked != 0;
        note_stale(&read, c, &p->piece, i == 0);
        poke(&adversary->memory, p->piece.address, p->piece.size, c->value);
    }
    bool serves = dh_adversary_serves(s);
    progress->loads += serves;
    progress->open_loads += ways > 1 && serves;
    if (!stale)
        return;
    progress->stale_loads++;
    read.candidates = (uint16_t)ways;
    read.is_torn = stale < adversary->n_parts && adversary->n_parts > 1 && s->kind == DH_STEP_READ;
    if (adversary->n_stale < DH_ENGINE_STALE_READS)
        adversary->stale[adversary->n_stale] = read;
    adversary->n_stale++;
}

static void add_parts(const struct dh_step *s, uint64_t at, bool reads, bool writes)
{
    struct dh_piece pieces[PIECES];
    unsigned n = pieces_of(s, at, pieces);
    if (!n || adversary->n_parts + n > PIECES) {
        if (writes)
            dh_adversary_forget(at, s->size);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        adversary->parts[adversary->n_parts++] =
            (struct part){.piece = pieces[i],
                          .held = peek(&adversary->memory, pieces[i].address, pieces[i].size),
                          .reads = reads,
                          .writes = writes};
}

static bool is_adversarial(const struct dh_step *s, uint64_t at)
{
    uint8_t marks = marks_of(s->site);
    return marks & DH_ENGINE_STALE &&
           (!(marks & DH_ENGINE_BY_ADDRESS) || is_sampled_address(at, marks >> DH_ENGINE_RATE_SHIFT));
}

/* Does the model have a say in an access of these bytes at this place? What lies beside those that are adversarial is
 * told, too. */
static bool concerns(const struct dh_step *s, uint64_t at)
{
    if (!s->size)
        return false;
    return is_adversarial(s, at) ? track(at, s->size, dh_engine->current->index) : is_tracked(at, s->size);
}

void dh_adversary_before(const struct dh_step *s, uint32_t alternative)
{
    bool loads = is_load(s) || s->kind == DH_STEP_RMW, stores = s->flags & DH_STEP_WRITES;
    if (!adversary)
        return;
    adversary->n_parts = 0;
    adversary->step = *s;
    bool tells = adversary->buffers || (adversary->orders && s->flags & DH_STEP_ATOMIC);
    if (loads && concerns(s, source_of(s)) && (tells || marks_of(s->site) & DH_ENGINE_STALE))
        add_parts(s, source_of(s), true, s->kind == DH_STEP_RMW);
    if (adversary->n_parts)
        serve(s, dh_engine->current->index, alternative);
    if (stores && s->kind != DH_STEP_RMW && concerns(s, s->object))
        add_parts(s, s->object, false, true);
    adversary->state.making = adversary->n_parts;
}

/* A compare-exchange in vain is a load. */
static bool wrote(const struct part *p)
{
    return p->writes && !(p->reads && !(dh_engine->executed.flags & DH_STEP_WRITES));
}

static void tell(const struct dh_step *s, uint32_t thread, const struct part *p)
{
    struct dh_access a = access_of(s, thread, &p->piece);
    uint64_t value = peek(&adversary->memory, p->piece.address, p->piece.size);
    poke(&adversary->memory, p->piece.address, p->piece.size, p->held);
    if (p->reads && wrote(p))
        adversary->model->update(adversary->self, &a, p->took, value);
    else if (p->reads)
        adversary->model->took(adversary->self, &a, p->took);
    else
        adversary->model->store(adversary->self, &a, value);
}

void dh_adversary_after(void)
{
    if (!adversary || !adversary->state.making)
        return;
    adversary->state.making = false;
    uint32_t thread = dh_engine->current->index;
    for (unsigned i = 0; i < adversary->n_parts; i++)
        tell(&adversary->step, thread, &adversary->parts[i]);
}

/* ---- what orders ---- */

enum effect { NOTHING, ACQUIRES = 1, RELEASES = 2, OF_SECOND = 4, MEETS = ACQUIRES | RELEASES };

/* As search/hb.c has it. A barrier orders more here than it does, when somebody leaves late. */
static const uint8_t effects[DH_STEP_COUNT] = {
    [DH_STEP_LOCK] = ACQUIRES,
    [DH_STEP_UNLOCK] = RELEASES,
    [DH_STEP_WAIT] = RELEASES | OF_SECOND,
    [DH_STEP_WAKE] = ACQUIRES | OF_SECOND,
    [DH_STEP_SEM_WAIT] = ACQUIRES,
    [DH_STEP_SEM_POST] = RELEASES,
    [DH_STEP_BARRIER] = MEETS,
    [DH_STEP_ONCE] = ACQUIRES,
    [DH_STEP_ONCE_END] = RELEASES,
    [DH_STEP_FUTEX_WAIT] = ACQUIRES,
    [DH_STEP_FUTEX_WAKE] = RELEASES,
    [DH_STEP_IO] = MEETS,
};

/* Who held it as one of several is known to who takes it alone. */
#define READERS (1ull << 63)
#define ALL_FENCES 1ull /* no address of an object */

static void order(uint32_t task, const struct dh_step *s, uint8_t effect)
{
    const struct dh_memory_model *m = adversary->model;
    uint64_t object = effect & OF_SECOND && s->second ? s->second : s->object;
    bool shared = s->flags & DH_STEP_SHARED;
    if (effect & RELEASES)
        m->release(adversary->self, task, shared ? object ^ READERS : object);
    if (effect & ACQUIRES)
        m->acquire(adversary->self, task, object);
    if (s->kind == DH_STEP_LOCK && !shared)
        m->acquire(adversary->self, task, object ^ READERS);
}

static bool acquires(unsigned order)
{
    return order == DH_ORDER_ACQUIRE || order >= DH_ORDER_ACQ_REL;
}

static bool releases(unsigned order)
{
    return order >= DH_ORDER_RELEASE;
}

/* An acquire fence that comes takes what they found; whatever there is no room for is taken at once. */
static void note_loaded(uint32_t task, struct fences *f, uint64_t address)
{
    for (unsigned i = 0; i < f->n; i++)
        if (f->loaded[i] == address)
            return;
    if (f->n < LOADED)
        f->loaded[f->n++] = address;
    else
        adversary->model->acquire(adversary->self, task, address);
}

/* An atomic that is not adversarial orders like a lock by what its address hands on: never less than it does, but
 * what one store released is not taken back by the next, and with a release fence before it hands on all it knows. */
static void order_atomic(uint32_t task, const struct dh_step *s)
{
    const struct dh_memory_model *m = adversary->model;
    struct fences *f = &adversary->fences[task];
    if (s->flags & DH_STEP_READS && !adversary->buffers) {
        if (acquires(s->order))
            m->acquire(adversary->self, task, s->object);
        else
            note_loaded(task, f, s->object);
    }
    if (s->flags & DH_STEP_WRITES && (adversary->buffers || releases(s->order) || f->released))
        m->release(adversary->self, task, s->object);
}

/* Fences of seq_cst know of those before them: what atomics between them read is not the model's to see. */
static void order_fence(uint32_t task, enum dh_order order)
{
    const struct dh_memory_model *m = adversary->model;
    struct fences *f = task < adversary->memory.threads ? &adversary->fences[task] : NULL;
    m->fence(adversary->self, task, order);
    if (!f || !adversary->orders || adversary->buffers)
        return;
    for (unsigned i = 0; i < f->n && acquires(order); i++)
        m->acquire(adversary->self, task, f->loaded[i]);
    if (acquires(order))
        f->n = 0;
    f->released = f->released || releases(order);
    if (order == DH_ORDER_SEQ_CST) {
        m->acquire(adversary->self, task, ALL_FENCES);
        m->release(adversary->self, task, ALL_FENCES);
    }
}

/* Of those that are not adversarial the model may hear now and not before: that is not enough. */
static bool is_mere_atomic(uint32_t task, const struct dh_step *s)
{
    return s->flags & DH_STEP_ATOMIC && adversary->orders && task < adversary->memory.threads &&
           (!is_adversarial(s, s->object) || !adversary->n_parts);
}

void dh_adversary_executed(uint32_t task, const struct dh_step *s)
{
    if (!adversary || s->flags & DH_STEP_FAILED || s->kind >= DH_STEP_COUNT)
        return;
    if (s->kind == DH_STEP_CREATE)
        adversary->model->fork(adversary->self, task, (uint32_t)s->object);
    else if (s->kind == DH_STEP_JOIN)
        adversary->model->join(adversary->self, task, (uint32_t)s->object);
    else if (s->kind == DH_STEP_FENCE)
        order_fence(task, (enum dh_order)s->order);
    else if (is_mere_atomic(task, s))
        order_atomic(task, s);
    else if (effects[s->kind])
        order(task, s, effects[s->kind]);
}

/* ---- what came of it ---- */

uint32_t dh_adversary_stale(struct dh_engine_stale_read out[DH_ENGINE_STALE_READS])
{
    if (!adversary)
        return 0;
    for (uint32_t i = 0; i < adversary->n_stale && i < DH_ENGINE_STALE_READS; i++)
        out[i] = adversary->stale[i];
    return adversary->n_stale;
}

void dh_adversary_end(void)
{
    if (adversary)
        dh_engine->control->progress.stale_schedules += adversary->n_stale != 0;
}
