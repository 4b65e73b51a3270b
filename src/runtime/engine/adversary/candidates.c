/* Candidate values of a load, by the memory model, and which one the heuristic picks. */
#include "base/hash.h"
#include "runtime/engine/adversary/internal.h"
#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/stale/racy_elements.h"

enum { ALTERNATIVES_MOST = 32 };
#define ACCESSES (1u << 31) /* accesses at a place are counted apart from its steps */

/* ---- samples and pieces ---- */

bool dh_adversary_is_sampled(uint64_t at, unsigned rate)
{
    uint64_t hash = dh_hash_multiply(at >> GRANULE_SHIFT);
    return !(hash >> 20 & ((1u << rate) - 1)) || (dh_racy_elements_wanted && dh_racy_elements_has(at));
}

/* A single task cannot read stale values; and addresses that it allocates after the end of the others differ with
 * serial threads. */
bool dh_adversary_is_alone(void)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if (&dh_engine->tasks[i] != dh_engine->current && !dh_engine->actors[i].ended)
            return false;
    return true;
}

bool dh_adversary_samples(const struct dh_step *s)
{
    uint8_t marks = dh_adversarial_memory ? dh_adversary_marks(s->site) : 0;
    unsigned rate = marks >> DH_ENGINE_RATE_SHIFT;
    if (!rate || s->flags & DH_STEP_ATOMIC) /* atomics order, all of them */
        return true;
    if (dh_adversary_is_alone())
        return false;
    dh_adversarial_memory->inexact = true;
    if (marks & DH_ENGINE_BY_ADDRESS)
        return dh_adversary_is_sampled(s->object, rate);
    uint32_t number = dh_occurrence_counts_next(dh_engine->current->index, s->site | ACCESSES);
    return !((number + s->site) & ((1u << rate) - 1));
}

bool dh_adversary_serves(const struct dh_step *s)
{
    return dh_adversarial_memory && (dh_adversary_is_load(s) || s->kind == DH_STEP_RMW) &&
           dh_adversary_marks(s->site) & DH_ENGINE_STALE;
}

/* Splits words of eight bytes into halves. */
static unsigned tear(struct dh_access_piece *pieces, unsigned n)
{
    unsigned wide = 0;
    for (unsigned i = 0; i < n; i++)
        wide += pieces[i].size == WORD;
    if (n + wide > PIECES)
        return n;
    for (unsigned from = n, to = n + wide; from-- > 0;) {
        struct dh_access_piece p = pieces[from];
        if (p.size == WORD)
            pieces[--to] = (struct dh_access_piece){p.address + WORD / 2, WORD / 2};
        pieces[--to] = (struct dh_access_piece){p.address, p.size == WORD ? WORD / 2 : p.size};
    }
    return n + wide;
}

unsigned dh_adversary_pieces(const struct dh_step *s, uint64_t at, struct dh_access_piece pieces[PIECES])
{
    if (!s->size || s->size > PIECES * WORD / 2)
        return 0;
    unsigned n = dh_adversarial_memory->model->pieces(dh_adversarial_memory->self, at, s->size, pieces, PIECES);
    bool tears = dh_adversary_marks(s->site) & DH_ENGINE_TEARS && !(s->flags & DH_STEP_ATOMIC);
    return tears ? tear(pieces, n) : n;
}

struct dh_memory_access dh_adversary_access(const struct dh_step *s, uint32_t thread, const struct dh_access_piece *p)
{
    struct dh_memory_access a = {.thread = thread,
                                 .site = s->site,
                                 .occurrence = s->occurrence,
                                 .size = p->size,
                                 .order = s->flags & DH_STEP_ATOMIC ? s->order : DH_ORDER_NONE,
                                 .updates = s->kind == DH_STEP_RMW,
                                 .address = p->address};
    return a;
}

/* A compare-exchange that fails is a load, which has more candidates; whether it fails is known afterwards. */
static unsigned add_loadable(const struct dh_step *s, struct dh_memory_access *a, unsigned n)
{
    struct dh_candidate *list = dh_adversarial_memory->candidates, more[DH_MEMORY_CANDIDATES];
    a->updates = false;
    a->order = dh_adversary_order(s, false);
    unsigned all = dh_adversarial_memory->model->load(dh_adversarial_memory->self, a, more, DH_MEMORY_CANDIDATES);
    for (unsigned i = 0; i < all && n < DH_MEMORY_CANDIDATES; i++) {
        unsigned k = 0;
        while (k < n && list[k].index != more[i].index)
            k++;
        if (k == n && !more[i].is_future)
            list[n++] = more[i];
    }
    return n;
}

/* Future writes are for loads of one piece only. */
unsigned dh_adversary_values(const struct dh_step *s, uint32_t thread, const struct dh_access_piece *p)
{
    struct dh_memory_access a = dh_adversary_access(s, thread, p);
    unsigned n = dh_adversarial_memory->model->load(dh_adversarial_memory->self, &a, dh_adversarial_memory->candidates,
                                                    DH_MEMORY_CANDIDATES);
    bool whole =
        p->size == s->size && s->kind == DH_STEP_READ && dh_adversarial_memory->n_foreseen < DH_ENGINE_FORESEEN;
    for (; n && dh_adversarial_memory->candidates[n - 1].is_future && !whole; n--)
        dh_adversarial_memory->inexact = true;
    dh_adversarial_memory->n_updatable = n;
    if (n && s->flags & DH_STEP_COMPARES && !dh_engine->heuristic_picks)
        n = add_loadable(s, &a, n);
    if (n)
        return n;
    dh_adversarial_memory->candidates[0] = (struct dh_candidate){
        .value = dh_adversary_peek(&dh_adversarial_memory->memory, p->address, p->size), .thread = DH_MEMORY_INITIAL};
    return 1;
}

/* ---- alternatives ---- */

/* Of a parked task: its pointer may be wild, on which the task itself shall crash. */
static bool is_readable(uint64_t at, uint32_t size)
{
    char ignored[PIECES * WORD];
    struct {
        uint64_t at, n;
    } here = {(uint64_t)(uintptr_t)ignored, size}, there = {at, size};
    if (size > sizeof ignored)
        return false;
    return dh_adversary_is_tracked(at, size) ||
           dh_kernel_call(SYS_process_vm_readv, dh_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0), (long)&here, 1,
                          (long)&there, 1, 0) == (long)size;
}

unsigned dh_adversary_limit(unsigned n, unsigned so_far)
{
    unsigned most = ALTERNATIVES_MOST / so_far;
    dh_adversarial_memory->inexact |= n > most;
    return n < most ? n : most;
}

struct dh_stale_streak *dh_adversary_stale_streak(uint32_t task, uint32_t place)
{
    struct dh_stale_streak *p = &dh_adversarial_memory->streaks[(task * 31 + place) % STREAKS];
    if (p->schedule != dh_adversarial_memory->schedule || p->task != task || p->place != place)
        *p = (struct dh_stale_streak){.schedule = dh_adversarial_memory->schedule, .task = task, .place = place};
    return p;
}

/* Fairness, as of the heuristics: after some stale reads in a row the newest value. */
static bool needs_newest(uint32_t task, uint32_t place)
{
    uint32_t fairness = dh_engine->control->job.fairness;
    return dh_engine->control->job.mode == DH_ENGINE_EXPLORE &&
           dh_adversary_stale_streak(task, place)->stale >= (fairness ? fairness : DH_FAIR_AFTER);
}

uint32_t dh_adversary_alternatives(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    struct dh_access_piece pieces[PIECES];
    uint64_t at = dh_adversary_source(s);
    if (needs_newest(t->index, s->site)) {
        dh_adversarial_memory->inexact = true;
        return 1;
    }
    unsigned alternatives = 1, n = is_readable(at, s->size) && dh_adversary_track(at, s->size, t->index)
                                       ? dh_adversary_pieces(s, at, pieces)
                                       : 0;
    for (unsigned i = 0; i < n; i++)
        alternatives *= dh_adversary_limit(dh_adversary_values(s, t->index, &pieces[i]), alternatives);
    return alternatives >= 32 ? UINT32_MAX : (1u << alternatives) - 1;
}

uint32_t dh_adversary_pick(uint32_t task, const struct dh_step *s)
{
    struct dh_access_piece pieces[PIECES];
    uint64_t at = dh_adversary_source(s);
    if (dh_adversary_marks(s->site) >> DH_ENGINE_RATE_SHIFT == DH_ENGINE_RATE_NEWEST)
        return 0;
    unsigned alternatives = 1, picked = 0,
             n = is_readable(at, s->size) && dh_adversary_track(at, s->size, task) ? dh_adversary_pieces(s, at, pieces)
                                                                                   : 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned values = dh_adversary_limit(dh_adversary_values(s, task, &pieces[i]), alternatives);
        if (values > 1) {
            struct dh_memory_access a = dh_adversary_access(s, task, &pieces[i]);
            picked += alternatives *
                      dh_picker_pick(dh_adversarial_memory->picker, &a, dh_adversarial_memory->candidates, values);
        }
        alternatives *= values;
    }
    return picked;
}
