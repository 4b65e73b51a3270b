#include "runtime/engine/checks/access_contexts.h"

#include "base/hash.h"
#include "runtime/platform/bytes.h"

enum { ACCESSES = 1 << 9, HELD = 128, GRANULE_SHIFT = 3, GRANULES_MOST = 64 };

/* The latest access of a thread at a place to eight bytes; one that hashes to the same entry takes it over. */
struct context {
    uint64_t granule;
    uint32_t thread, place;
    bool is_known;
    uint64_t callers[DH_ENGINE_FRAMES];
    struct dh_engine_lock locks[DH_ENGINE_LOCKS];
};

struct held {
    uint32_t thread;
    struct dh_engine_lock lock;
};

static struct {
    struct context accesses[ACCESSES];
    struct held held[HELD]; /* in the order they were acquired */
    uint32_t n_held;
    /* The step that is executed, if it may acquire a lock: whether it did is known later. */
    bool is_pending;
    struct held pending;
} *contexts;

bool dh_access_contexts_init(void)
{
    if (!(dh_engine->flags & DH_ENGINE_CONTEXTS))
        return true;
    contexts = dh_keep_alloc(sizeof *contexts);
    return contexts;
}

/* ---- locks ---- */

static void release(uint32_t thread, uint64_t object)
{
    for (uint32_t i = contexts->n_held; i-- > 0;) {
        struct held *h = &contexts->held[i];
        if (h->thread != thread || h->lock.object != object)
            continue;
        contexts->n_held--;
        for (; i < contexts->n_held; i++)
            contexts->held[i] = contexts->held[i + 1];
        return;
    }
}

/* The step that was executed last has come to its end. */
static void settle(void)
{
    const struct dh_engine *e = dh_engine;
    if (!contexts->is_pending)
        return;
    contexts->is_pending = false;
    if (!(e->executed.flags & DH_STEP_FAILED) && contexts->n_held < HELD)
        contexts->held[contexts->n_held++] = contexts->pending;
}

static void begin_acquiring(uint32_t thread, const struct dh_step *step, uint64_t object)
{
    contexts->is_pending = true;
    contexts->pending = (struct held){
        .thread = thread,
        .lock = {.object = object, .place = step->site, .is_shared = (step->flags & DH_STEP_SHARED) != 0}};
    dh_call_stack_copy(thread, contexts->pending.lock.callers);
}

static void copy_held(uint32_t thread, struct dh_engine_lock out[DH_ENGINE_LOCKS])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < contexts->n_held && n < DH_ENGINE_LOCKS; i++)
        if (contexts->held[i].thread == thread)
            out[n++] = contexts->held[i].lock;
    for (; n < DH_ENGINE_LOCKS; n++)
        out[n] = (struct dh_engine_lock){0};
}

/* ---- accesses ---- */

static struct context *entry_of(uint32_t thread, uint32_t place, uint64_t granule)
{
    uint64_t hash = dh_hash_multiply(granule ^ (uint64_t)place << 40 ^ (uint64_t)thread << 56);
    return &contexts->accesses[hash >> (64 - 9)];
}

static bool is_of_target(uint32_t place)
{
    const uint32_t *pair = dh_engine->control->job.target_place;
    return place == pair[0] || place == pair[1];
}

static void note_granule(uint32_t thread, uint32_t place, uint64_t granule)
{
    struct context *c = entry_of(thread, place, granule);
    *c = (struct context){.granule = granule, .thread = thread, .place = place, .is_known = true};
    dh_call_stack_copy(thread, c->callers);
    copy_held(thread, c->locks);
}

static void note(uint32_t thread, uint32_t place, uint64_t address, uint32_t size)
{
    uint64_t first = address >> GRANULE_SHIFT, last = (address + (size ? size - 1 : 0)) >> GRANULE_SHIFT;
    last = last - first < GRANULES_MOST ? last : first + GRANULES_MOST - 1;
    for (uint64_t g = first; g <= last; g++)
        note_granule(thread, place, g);
}

static void note_access(uint32_t thread, const struct dh_step *s)
{
    if (!is_of_target(s->site))
        return;
    note(thread, s->site, s->object, s->size);
    if (s->kind == DH_STEP_COPY && s->flags & DH_STEP_RANGE)
        note(thread, s->site, s->second, s->size);
}

void dh_access_contexts_note(const struct dh_step *access)
{
    if (!contexts)
        return;
    settle();
    note_access(dh_engine->current->index, access);
}

void dh_access_contexts_begin_step(uint32_t thread, const struct dh_step *step)
{
    if (!contexts)
        return;
    settle();
    switch (step->kind) {
    case DH_STEP_READ:
    case DH_STEP_WRITE:
    case DH_STEP_RMW:
    case DH_STEP_COPY:
    case DH_STEP_FREE:
        note_access(thread, step);
        break;
    case DH_STEP_LOCK:
        begin_acquiring(thread, step, step->object);
        break;
    case DH_STEP_WAKE:
        if (step->second)
            begin_acquiring(thread, step, step->second);
        break;
    case DH_STEP_UNLOCK:
        release(thread, step->object);
        break;
    case DH_STEP_WAIT:
        release(thread, step->second);
        break;
    default:
        break;
    }
}

/* ---- findings ---- */

static void fill_unordered(struct dh_engine_found *f, uint32_t i)
{
    const struct dh_engine_party *p = &f->parties[i];
    const struct context *c = entry_of(p->thread, p->place, p->object >> GRANULE_SHIFT);
    if (!c->is_known || c->thread != p->thread || c->place != p->place || c->granule != p->object >> GRANULE_SHIFT)
        return;
    dh_bytes_copy(f->callers[i], c->callers, sizeof c->callers);
    dh_bytes_copy(f->locks[i], c->locks, sizeof c->locks);
}

void dh_access_contexts_fill(struct dh_engine_found *f)
{
    if (!contexts)
        return;
    settle();
    for (uint32_t i = 0; i < f->n_parties && i < DH_ENGINE_PAIR; i++)
        if (f->kind == DH_ENGINE_UNORDERED)
            fill_unordered(f, i);
        else if (f->kind == DH_ENGINE_RACE)
            copy_held(f->parties[i].thread, f->locks[i]);
}
