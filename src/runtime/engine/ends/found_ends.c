/* Ends that were found, as records in the control region: each kind at each set of places once, with the schedule that
 * leads there. */
#include "runtime/engine/engine.h"

#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/checks/access_contexts.h"
#include "runtime/engine/ends/outcome.h"
#include "runtime/engine/schedule/start_point.h"
#include "runtime/engine/schedule/undisturbed.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/platform/bytes.h"

enum { SIGNATURES = 1 << 14 };

static struct kept {
    uint64_t signatures[SIGNATURES]; /* hash set in KEEP memory; 0: free */
    uint32_t n, fewest_stale;
    char text[DH_ENGINE_TEXT];
} *kept;

void dh_found_ends_init(void)
{
    kept = dh_keep_lasting(sizeof *kept);
    if (!kept)
        dh_engine_cannot("no memory");
    kept->fewest_stale = UINT32_MAX;
}

void dh_found_ends_set_text(const char *text)
{
    dh_text_copy(kept->text, sizeof kept->text, text);
}

static bool is_new(uint64_t signature)
{
    uint32_t i = (uint32_t)(signature >> 32) & (SIGNATURES - 1);
    while (kept->signatures[i] && kept->signatures[i] != signature)
        i = (i + 1) & (SIGNATURES - 1);
    if (kept->signatures[i] || kept->n >= SIGNATURES / 2)
        return false;
    kept->signatures[i] = signature;
    kept->n++;
    return true;
}

static bool has_value(const struct dh_step *s)
{
    return (s->kind == DH_STEP_READ || s->kind == DH_STEP_WRITE || s->kind == DH_STEP_RMW) && s->size <= 8 &&
           !(s->flags & DH_STEP_RANGE);
}

static struct dh_engine_party party_of(uint32_t index)
{
    const struct dh_step *s = &dh_engine->actors[index].step;
    return (struct dh_engine_party){.thread = index,
                                    .place = s->site,
                                    .occurrence = s->occurrence,
                                    .size = s->size,
                                    .object = s->object,
                                    .second = has_value(s) ? dh_access_value_read(s->object, s->size) : s->second,
                                    .kind = s->kind,
                                    .order = s->order,
                                    .flags = s->flags};
}

/* A thread that came to no place of its own before it failed, or that waits in code which is not instrumented, in the
 * function that it began with: its caller is ours. */
static void name_routine(struct dh_engine_found *f, uint32_t party)
{
    const struct dh_task *t = &dh_engine->tasks[f->parties[party].thread];
    uintptr_t routine = t->index ? (uintptr_t)t->routine.posix : 0;
    if (routine && !f->parties[party].place && !f->callers[party][1])
        f->callers[party][0] = routine + 1; /* as a return address */
}

static void name_routines(struct dh_engine_found *f)
{
    bool failed = f->kind == DH_ENGINE_ASSERTION || f->kind == DH_ENGINE_CRASH || f->kind == DH_ENGINE_FREED;
    bool stuck = f->kind == DH_ENGINE_DEADLOCK || f->kind == DH_ENGINE_LOST_WAKE || f->kind == DH_ENGINE_HANG;
    for (uint32_t i = 0; i < f->n_parties && i < DH_ENGINE_PARTIES; i++)
        if ((failed && f->n_parties == 1) || (stuck && f->parties[i].kind == DH_STEP_IO))
            name_routine(f, i);
}

static void fill(struct dh_engine_found *f, enum dh_engine_end kind, const struct dh_engine_party *parties, uint32_t n)
{
    struct dh_engine *e = dh_engine;
    f->kind = (uint16_t)kind;
    f->n_parties = (uint16_t)n;
    f->schedule = e->control->progress.schedules + 1;
    f->seed = e->control->job.seed;
    f->signal = e->signal;
    f->status = e->status;
    f->address = e->fault_address;
    dh_call_stack_set_images(f);
    f->n_decisions = dh_engine_entries(e);
    f->threads = e->n_tasks;
    f->visible_added = e->control->progress.visible_added;
    f->spared = e->control->progress.n_spared;
    f->n_stale = dh_adversary_stale(f->stale);
    f->n_foreseen = dh_adversary_foreseen(f->foreseen);
    f->outcome = dh_outcome_now();
    f->time_ns = dh_clock_monotonic_ns() - e->control->progress.begun_ns;
    dh_text_copy(f->text, sizeof f->text, kind == DH_ENGINE_RACE || kind == DH_ENGINE_UNORDERED ? "" : kept->text);
    for (uint32_t i = 0; i < n && i < DH_ENGINE_PARTIES; i++)
        f->parties[i] = parties[i];
    for (uint32_t i = 0; kind != DH_ENGINE_UNORDERED && i < n && i < DH_ENGINE_PARTIES; i++)
        dh_call_stack_copy(parties[i].thread, f->callers[i]); /* of an unordered pair, one thread has gone on */
    dh_access_contexts_fill(f);
    name_routines(f);
    if (e->undisturbed)
        e->trace[0] = dh_undisturbed_entry(e);
    dh_bytes_copy(f->decisions, e->trace, f->n_decisions * sizeof *e->trace);
    f->n_values = e->values ? f->n_decisions : 0;
    if (e->values)
        dh_bytes_copy(&f->decisions[f->n_decisions], e->values, f->n_decisions * sizeof *e->values);
}

/* Is it the goal of the job: its pair of places, if it has one, else anything but a suspicion? */
static bool is_goal(enum dh_engine_end kind, const struct dh_engine_party *parties)
{
    const uint32_t *pair = dh_engine->control->job.target_place;
    if (!pair[0] && !pair[1])
        return kind != DH_ENGINE_UNORDERED;
    return kind == DH_ENGINE_RACE && ((parties[0].place == pair[0] && parties[1].place == pair[1]) ||
                                      (parties[0].place == pair[1] && parties[1].place == pair[0]));
}

/* An end with fewer stale reads than all before is kept, too. */
static bool has_fewer(void)
{
    struct dh_engine_stale_read ignored[DH_ENGINE_STALE_READS];
    uint32_t n = dh_adversary_stale(ignored);
    if (!dh_adversary_is_on() || n >= kept->fewest_stale)
        return false;
    kept->fewest_stale = n;
    return true;
}

/* Each end once; with ONLY_TARGET one end only, by its latest schedule. */
static bool is_wanted(uint64_t signature)
{
    struct dh_engine_control *c = dh_engine->control;
    if (!(dh_engine->flags & DH_ENGINE_ONLY_TARGET))
        return has_fewer() || is_new(signature);
    if (signature != c->job.target_signature || dh_engine->search.reached)
        return false;
    dh_engine->search.reached = true;
    __atomic_store_n(&c->found_used, 0, __ATOMIC_RELEASE);
    return true;
}

/* Wrong results differ by their outcome. */
static uint64_t signature_of(enum dh_engine_end kind, const struct dh_engine_party *parties, uint32_t n)
{
    uint64_t signature = dh_engine_signature(kind, parties, n, kept->text);
    if (kind != DH_ENGINE_WRONG || dh_engine->flags & DH_ENGINE_ONLY_TARGET)
        return signature;
    struct dh_engine_outcome o = dh_outcome_now();
    return (signature ^ o.output ^ o.errors << 1 ^ (uint64_t)o.status << 32) | 1;
}

/* A replay has room for some ends with all their steps, and passes more than these on its way. What its schedule leads
 * to comes last: it gets the room of the others. */
static void make_room(uint64_t size)
{
    struct dh_engine *e = dh_engine;
    struct dh_engine_control *c = e->control;
    bool is_on_the_way = e->control->job.mode == DH_ENGINE_REPLAY && !(e->flags & DH_ENGINE_LOOSE) &&
                         dh_engine_entries(e) <= c->job.prefix_length;
    if (!is_on_the_way || size <= c->found_size - c->found_used)
        return;
    for (uint32_t i = 0; i < SIGNATURES; i++)
        kept->signatures[i] = 0;
    kept->n = 0;
    __atomic_store_n(&c->found_used, 0, __ATOMIC_RELEASE);
}

void dh_found_ends_record(enum dh_engine_end kind, const struct dh_engine_party *parties, uint32_t n)
{
    struct dh_engine_control *c = dh_engine->control;
    if (dh_engine->records && !dh_start_point_is_long(dh_engine))
        return;
    if (!(dh_engine->look_for & 1u << kind) || !is_wanted(signature_of(kind, parties, n)))
        return;
    uint64_t entry = sizeof *dh_engine->trace + (dh_engine->values ? sizeof *dh_engine->values : 0);
    uint64_t size = sizeof(struct dh_engine_found) + dh_engine_entries(dh_engine) * entry;
    size = (size + 7) & ~(uint64_t)7;
    make_room(size);
    if (size > c->found_size - c->found_used || size > UINT32_MAX) {
        c->progress.lost++;
        return;
    }
    struct dh_engine_found *f = (struct dh_engine_found *)((char *)c + c->found_at + c->found_used);
    f->size = (uint32_t)size;
    fill(f, kind, parties, n);
    dh_engine->goal_reached |= is_goal(kind, parties);
    __atomic_store_n(&c->found_used, c->found_used + size, __ATOMIC_RELEASE);
}

void dh_found_ends_record_tasks(enum dh_engine_end kind, const uint32_t *parties, uint32_t n)
{
    struct dh_engine_party steps[DH_ENGINE_PARTIES];
    n = n < DH_ENGINE_PARTIES ? n : DH_ENGINE_PARTIES;
    for (uint32_t i = 0; i < n; i++)
        steps[i] = party_of(parties[i]);
    dh_found_ends_record(kind, steps, n);
}
