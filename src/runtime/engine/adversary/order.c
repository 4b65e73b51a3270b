/* Happens-before for the model, from executed steps; and which operations flush store buffers. */
#include "runtime/core/thread_state.h"
#include "runtime/engine/adversary/internal.h"

/* ---- store buffers ---- */

/* Its own stack is not shared. */
static bool is_own(const struct dh_step *s)
{
    return s->object >= __dh_thread.stack_low && s->object < __dh_thread.stack_high;
}

/* A store to memory that the model does not know is not buffered: earlier ones must drain before it, unless the model
 * reorders stores. */
static bool must_not_pass(const struct dh_step *s)
{
    bool passes =
        dh_adversarial_memory->buffers_per_address && (!(s->flags & DH_STEP_ATOMIC) || s->order < DH_ORDER_RELEASE);
    if (!(s->flags & DH_STEP_WRITES) || passes || is_own(s))
        return false;
    dh_adversarial_memory->inexact = true;
    return true;
}

static bool synchronises(unsigned kind)
{
    return kind > DH_STEP_FENCE && kind != DH_STEP_SLEEP && kind != DH_STEP_YIELD && kind != DH_STEP_FREE &&
           kind != DH_STEP_BEGIN && kind != DH_STEP_FLUSH;
}

/* Is memory of it accessed in different sizes? Such stores are not buffered. */
static bool is_mixed(const struct dh_step *s)
{
    for (uint64_t g = s->object >> GRANULE_SHIFT; s->size && g <= (s->object + s->size - 1) >> GRANULE_SHIFT; g++)
        if (dh_adversary_granule(g)->schedule == dh_adversarial_memory->schedule && dh_adversary_granule(g)->mixed)
            return true;
    return false;
}

void dh_adversary_prepare(struct dh_step *s)
{
    if (!dh_adversarial_memory->buffers)
        return;
    uint32_t thread = dh_engine->current->index;
    bool waits = dh_adversary_concerns(s, s->object) && s->kind == DH_STEP_WRITE &&
                 thread < dh_adversarial_memory->memory.threads;
    bool mixed = is_mixed(s);
    dh_adversarial_memory->inexact |= mixed;
    if (waits && !mixed) {
        s->flags |= DH_STEP_BUFFERED;
        s->second = dh_step_buffer(thread, 0);
    } else if (mixed || s->kind == DH_STEP_RMW || must_not_pass(s))
        dh_drains_flush(s->site);
}

/* An invisible store has no drain, and no buffered one may come after it. */
void dh_adversary_flush(const struct dh_step *s)
{
    if (!dh_adversarial_memory || !dh_adversarial_memory->buffers || !dh_engine->current)
        return;
    bool concerned = s->flags & DH_STEP_WRITES && dh_adversary_is_tracked(s->object, s->size);
    if (synchronises(s->kind) || (s->kind == DH_STEP_FENCE && s->order == DH_ORDER_SEQ_CST) || concerned ||
        (s->kind <= DH_STEP_COPY && must_not_pass(s)))
        dh_drains_flush(s->site);
}

void dh_adversary_before_library(const void *at, size_t size)
{
    if (!dh_adversarial_memory->buffers || !dh_adversary_is_tracked((uintptr_t)at, size))
        return;
    dh_adversarial_memory->inexact = true;
    dh_drains_flush(0);
}

/* ---- happens-before ---- */

enum effect { NOTHING, ACQUIRES = 1, RELEASES = 2, OF_SECOND = 4, MEETS = ACQUIRES | RELEASES };

/* As in search/schedule_races.c. A barrier orders too much here when a thread leaves it late. */
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

/* Readers release to the next writer. */
#define READERS (1ull << 63)
#define ALL_SC 1ull /* no address of an object */

static void order(uint32_t task, const struct dh_step *s, uint8_t effect)
{
    const struct dh_memory_model *m = dh_adversarial_memory->model;
    uint64_t object = effect & OF_SECOND && s->second ? s->second : s->object;
    bool shared = s->flags & DH_STEP_SHARED;
    dh_adversarial_memory->inexact |= s->kind == DH_STEP_BARRIER;
    if (effect & RELEASES)
        m->release(dh_adversarial_memory->self, task, shared ? object ^ READERS : object);
    if (effect & ACQUIRES)
        m->acquire(dh_adversarial_memory->self, task, object);
    if (s->kind == DH_STEP_LOCK && !shared)
        m->acquire(dh_adversarial_memory->self, task, object ^ READERS);
}

/* seq_cst operations that the model does not see are totally ordered, fences included: more than C11 demands. */
static void order_sc(uint32_t task)
{
    if (!dh_adversarial_memory->model->orders_sc)
        return;
    if (dh_adversarial_memory->saw_other_atomics) {
        dh_adversarial_memory->inexact = true;
        dh_adversarial_memory->model->acquire(dh_adversarial_memory->self, task, ALL_SC);
    }
    dh_adversarial_memory->model->release(dh_adversarial_memory->self, task, ALL_SC);
}

static void order_atomic(uint32_t task, const struct dh_step *s)
{
    enum dh_order order = (enum dh_order)dh_adversary_order(s, s->flags & DH_STEP_WRITES);
    dh_adversarial_memory->saw_other_atomics = true;
    dh_adversarial_memory->model->atomic(dh_adversarial_memory->self, task, s->object, order, s->flags & DH_STEP_READS,
                                         s->flags & DH_STEP_WRITES);
    if (order == DH_ORDER_SEQ_CST)
        order_sc(task);
}

static void order_fence(uint32_t task, enum dh_order order)
{
    dh_adversarial_memory->model->fence(dh_adversarial_memory->self, task, order);
    if (order == DH_ORDER_SEQ_CST)
        order_sc(task);
}

/* An atomic access that the model does not serve: only its synchronisation counts. */
static bool is_unserved_atomic(uint32_t task, const struct dh_step *s)
{
    return s->flags & DH_STEP_ATOMIC && task < dh_adversarial_memory->memory.threads &&
           (!dh_adversary_chooses(s, s->object) || !dh_adversarial_memory->n_pieces);
}

void dh_adversary_executed(uint32_t task, const struct dh_step *s)
{
    if (!dh_adversarial_memory || s->flags & DH_STEP_FAILED || s->kind >= DH_STEP_COUNT)
        return;
    if (s->kind == DH_STEP_CREATE)
        dh_adversarial_memory->model->fork(dh_adversarial_memory->self, task, (uint32_t)s->object);
    else if (s->kind == DH_STEP_JOIN)
        dh_adversarial_memory->model->join(dh_adversarial_memory->self, task, (uint32_t)s->object);
    else if (s->kind == DH_STEP_FENCE)
        order_fence(task, (enum dh_order)s->order);
    else if (is_unserved_atomic(task, s))
        order_atomic(task, s);
    else if (effects[s->kind])
        order(task, s, effects[s->kind]);
}
