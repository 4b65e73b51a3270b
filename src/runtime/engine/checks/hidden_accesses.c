#include "runtime/engine/checks/hidden_accesses.h"

#include "base/hash.h"
#include "runtime/core/thread_state.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/hook_removal.h"

enum {
    ACCESSES = 4096, /* that are looked at */
    PLACES = 16,     /* where a thread that waits reads */
    COMPUTES = 32,   /* of 64 bits by address: those of a task that computes */
    FULL_FIRST = 2,  /* schedules in which the order of all accesses is checked, */
    FULL_EVERY = 16, /* and one of so many after those */
};
#define FIRST_NS 150000000ull /* without a step, before the first look; each later one after twice as long */

static struct sample {
    uint64_t next_ns;
    uint32_t turn; /* step after which the task goes on */
    uint32_t accesses;
    uint64_t touched;
    bool writes;
    unsigned n_reads;
    struct read {
        uint32_t place;
        bool changes;
        uint64_t object, value;
    } reads[PLACES];
} *sample;

static bool *fails; /* in lasting memory: a schedule that left accesses out failed */

static bool is_meant(const struct dh_engine *e)
{
    bool may_be = e->control->job.mode == DH_ENGINE_REPLAY || !e->carrier->is_kernel;
    return e->flags & DH_ENGINE_ONLY_VISIBLE && !(e->flags & DH_ENGINE_ALL_VISIBLE) && !e->control->job.model[0] &&
           may_be;
}

void dh_hidden_accesses_begin(void)
{
    struct dh_engine *e = dh_engine;
    if (!is_meant(e) || !(sample = dh_keep_alloc(sizeof *sample)))
        return;
    bool checks = !(e->flags & DH_ENGINE_NO_ORDER);
    e->shared = checks ? dh_hb_check_note_shared() : NULL;
    fails = dh_keep_lasting(sizeof *fails);
    if (!fails || (checks && !e->shared))
        return;
    e->is_full = true;
    e->hides = true;
    e->control->progress.hides = 1;
    if (!e->carrier->is_kernel)
        dh_hook_removal_begin();
}

/* Which memory is shared may differ by schedule. */
void dh_hidden_accesses_next(void)
{
    struct dh_engine *e = dh_engine;
    uint64_t number = e->control->progress.schedules;
    if (!e->shared)
        return;
    bool is_full = e->prepares || *fails || number < FULL_FIRST || number % FULL_EVERY == 0;
    if (is_full && !e->is_full)
        dh_hook_removal_put_back();
    e->is_full = is_full;
}

bool dh_hidden_accesses_hide_failure(void)
{
    const struct dh_engine *e = dh_engine;
    if (!e->shared || e->is_full)
        return false;
    return *fails = true;
}

void dh_hidden_accesses_end(void)
{
    dh_engine->hides = false;
}

/* ---- who waits? ---- */

static void start(struct dh_engine *e, uint64_t still_ns)
{
    *sample = (struct sample){.next_ns = 2 * still_ns, .turn = e->turns};
    e->samples_hidden = true;
    dh_hook_removal_suspend();
}

static void stop(struct dh_engine *e)
{
    e->samples_hidden = false;
    dh_hook_removal_again();
}

void dh_hidden_accesses_tick(uint64_t still_ns, uint64_t limit_ns)
{
    struct dh_engine *e = dh_engine;
    if (!e->hides || !e->current || still_ns < FIRST_NS) {
        if (sample)
            sample->next_ns = FIRST_NS;
        return;
    }
    if (still_ns > limit_ns / 4 * 3) {
        e->control->progress.hides_waiting = 1;
        dh_engine_finish(DH_ENGINE_SPENT);
    }
    if (!e->samples_hidden && still_ns >= sample->next_ns)
        start(e, still_ns);
}

static bool is_on_own_stack(uintptr_t address)
{
    return address >= __dh_thread.stack_low && address < __dh_thread.stack_high;
}

static uint64_t value_at(const void *addr, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size && i < sizeof value; i++)
        value |= (uint64_t)((const unsigned char *)addr)[i] << 8 * i;
    return value;
}

static void note_read(uint32_t place, uint64_t object, uint64_t value)
{
    unsigned i = 0;
    while (i < sample->n_reads && (sample->reads[i].place != place || sample->reads[i].object != object))
        i++;
    if (i == PLACES)
        return;
    if (i == sample->n_reads)
        sample->reads[sample->n_reads++] = (struct read){place, false, object, value};
    sample->reads[i].changes |= sample->reads[i].value != value;
}

static unsigned count_bits(uint64_t bits)
{
    unsigned n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

/* The places at which it waits become visible; how many. */
static unsigned extend_if_waiting(void)
{
    unsigned n = 0;
    if (sample->writes || count_bits(sample->touched) >= COMPUTES)
        return 0;
    for (unsigned i = 0; i < sample->n_reads; i++)
        if (!sample->reads[i].changes) {
            dh_hb_check_extend_at_once(sample->reads[i].place);
            n++;
        }
    return n;
}

void dh_hidden_accesses_sample(const void *addr, size_t size, bool writes, uint32_t place)
{
    struct dh_engine *e = dh_engine;
    uintptr_t object = (uintptr_t)addr;
    if (sample->turn != e->turns) {
        stop(e);
        return;
    }
    sample->touched |= 1ull << (dh_hash_multiply(object >> 3) >> 58);
    sample->writes |= writes && !is_on_own_stack(object); /* there may be variables of the loop */
    if (!writes)
        note_read(place, object, value_at(addr, size));
    if (++sample->accesses < ACCESSES)
        return;
    unsigned waits = extend_if_waiting();
    stop(e);
    if (waits)
        dh_engine_end_schedule(DH_ENGINE_CUT);
}
