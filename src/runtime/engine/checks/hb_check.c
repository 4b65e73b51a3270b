#include "runtime/engine/checks/hb_check.h"

#include "base/hash.h"
#include "event/site.h"
#include "runtime/core/thread_state.h"
#include "runtime/engine/adversary/adversary.h"
#include "runtime/engine/checks/access_contexts.h"
#include "runtime/engine/hook_removal.h"
#include "search/schedule_races.h"

enum { EXTENSIONS = 256, UNPROTECTED = 64, CHECKED = 1 << 13, RACY = 1 << 10, GRANULE_SHIFT = 3 };

/* What outlives schedules: in lasting memory. */
struct known_races {
    uint32_t extensions[EXTENSIONS]; /* places that become visible after the schedule */
    unsigned n_extensions, n_unprotected;
    /* Granules with a race: other places that access them become visible, too, since of several accesses to the same
     * bytes in one step only one is reported. */
    uint64_t racy[RACY];
    unsigned n_racy;
    /* Granules that signal handlers accessed, and whether they wrote: who else does is to be interrupted there. */
    struct handled {
        uint64_t granule;
        bool written;
    } handled[RACY];
    unsigned n_handled;
    bool is_waited_for; /* one of the extensions: schedules without it are cut */
};

static struct hb_check {
    struct dh_search search; /* for its memory only */
    struct dh_schedule_races *hb;
    bool checks; /* else only the adversary needs the order */
    struct known_races *known;
    /* Accesses of racy granules that were checked in this step: the answer would be the same, as no other task runs
     * meanwhile. Of others shadow_known.h knows. */
    struct checked {
        uint64_t address;
        uint32_t place, turn;
        uint32_t what; /* size and flags */
    } checked[CHECKED];
} *check;

static void *memory(struct dh_search *search, size_t n)
{
    (void)search;
    return dh_keep_alloc(n);
}

bool dh_hb_check_init(void)
{
    check = dh_keep_alloc(sizeof *check);
    if (!check || !(check->known = dh_keep_lasting(sizeof *check->known)))
        return false;
    check->checks = !(dh_engine->flags & DH_ENGINE_NO_ORDER);
    dh_engine->sees_invisible = check->checks || dh_engine->control->job.model[0];
    if (!check->checks)
        return true;
    check->search = (struct dh_search){.seed = 1, .memory = memory};
    check->hb = dh_schedule_races_new(&check->search);
    if (check->hb && dh_engine->flags & DH_ENGINE_UNPROTECTED && !dh_schedule_races_want_unprotected(check->hb))
        return false;
    if (check->hb && !dh_engine->control->job.model[0])
        dh_engine->known = dh_schedule_races_known(check->hb);
    return check->hb;
}

void dh_hb_check_begin(void)
{
    if (check->hb)
        dh_schedule_races_begin(check->hb);
    dh_engine->order_pending = false;
}

static void extend(uint32_t place)
{
    for (unsigned i = 0; i < check->known->n_extensions; i++)
        if (check->known->extensions[i] == place)
            return;
    if (place >= dh_engine->n_visible)
        dh_engine->control->progress.uncovered |= DH_GAP_PLACES;
    else if (check->known->n_extensions < EXTENSIONS)
        check->known->extensions[check->known->n_extensions++] = place;
}

static struct dh_engine_party party_of(const struct dh_schedule_access *a)
{
    return (struct dh_engine_party){.thread = a->thread,
                                    .place = a->site,
                                    .occurrence = a->occurrence,
                                    .size = a->size,
                                    .object = a->address,
                                    .kind = a->frees                    ? DH_STEP_FREE
                                            : a->flags & DH_STEP_WRITES ? DH_STEP_WRITE
                                                                        : DH_STEP_READ,
                                    .flags = a->flags};
}

static uint64_t *racy_slot(uint64_t granule)
{
    uint64_t i = dh_hash_multiply(granule) >> (64 - 10);
    while (check->known->racy[i] && check->known->racy[i] != granule)
        i = (i + 1) % RACY;
    return &check->known->racy[i];
}

static void mark_racy(uint64_t address)
{
    uint64_t *slot = racy_slot(address >> GRANULE_SHIFT);
    if (*slot || check->known->n_racy >= RACY / 2)
        return;
    *slot = address >> GRANULE_SHIFT;
    check->known->n_racy++;
    dh_schedule_races_watch(check->hb, address);
}

static void extend_if_racy(const struct dh_step *s)
{
    if (!check->known->n_racy || !*racy_slot(s->object >> GRANULE_SHIFT))
        return;
    dh_schedule_races_watch(check->hb, s->object);
    if (!dh_engine->visible[s->site])
        extend(s->site);
}

/* ---- accesses of signal handlers ---- */

static struct handled *handled_slot(uint64_t granule)
{
    uint64_t i = dh_hash_multiply(granule) >> (64 - 10);
    while (check->known->handled[i].granule && check->known->handled[i].granule != granule)
        i = (i + 1) % RACY;
    return &check->known->handled[i];
}

static bool is_on_stack(const struct dh_task *t, uint64_t address)
{
    return (address >= __dh_thread.stack_low && address < __dh_thread.stack_high) ||
           address - t->alternate_stack < t->alternate_size;
}

static void note_handled(const struct dh_step *s)
{
    struct handled *h = handled_slot(s->object >> GRANULE_SHIFT);
    if (!h->granule && check->known->n_handled >= RACY / 2)
        return;
    check->known->n_handled += !h->granule;
    dh_hb_check_forget_self(dh_engine);
    h->granule = s->object >> GRANULE_SHIFT;
    h->written |= s->flags & DH_STEP_WRITES;
}

/* A handler and what it interrupts are one thread: their order is not unordered, but it is a choice. */
static void check_handled(const struct dh_step *s)
{
    const struct dh_task *t = dh_engine->current;
    if (t->handlers && !is_on_stack(t, s->object))
        note_handled(s);
    if (t->handlers || !check->known->n_handled || !s->site)
        return;
    const struct handled *h = handled_slot(s->object >> GRANULE_SHIFT);
    if (!h->granule || !(h->written || s->flags & DH_STEP_WRITES))
        return;
    if (!(dh_engine->flags & DH_ENGINE_EXTEND))
        dh_engine->control->progress.uncovered |= DH_GAP_PLACES;
    else if (s->site >= dh_engine->n_visible || !dh_engine->visible[s->site])
        extend(s->site);
}

/* The other order of invisible accesses is not tried. */
static void mark_uncovered(const struct dh_schedule_access *a)
{
    const struct dh_engine *e = dh_engine;
    if (a->site >= e->n_visible || !(e->visible[a->site] || e->flags & DH_ENGINE_ALL_VISIBLE))
        e->control->progress.uncovered |= DH_GAP_PLACES;
}

static void report_race(const struct dh_schedule_race *race)
{
    dh_engine->unordered_races++;
    if (dh_adversary_is_on()) {
        mark_uncovered(&race->first);
        mark_uncovered(&race->second);
    }
    if (dh_engine->flags & DH_ENGINE_EXTEND)
        mark_racy(race->second.address);
    if (!race->is_new)
        return;
    struct dh_engine_party parties[2] = {party_of(&race->first), party_of(&race->second)};
    dh_found_ends_record(DH_ENGINE_UNORDERED, parties, 2);
    if (dh_engine->flags & DH_ENGINE_EXTEND) {
        /* Place 0 is the program's first site, and stands for the ends of threads, which free their memory
         * (quarantine.c), and for what has no place: it is visible for all of them. */
        extend(race->first.site);
        extend(race->second.site);
    }
}

/* Places where other schedules may show a race become visible, up to a number: there are many where none can. */
static void extend_unprotected(void)
{
    uint32_t sites[2];
    if (!(dh_engine->flags & DH_ENGINE_UNPROTECTED) || !dh_schedule_races_take_unprotected(check->hb, sites))
        return;
    for (unsigned i = 0; i < 2; i++)
        if (sites[i] < dh_engine->n_visible && !dh_engine->visible[sites[i]] &&
            check->known->n_unprotected < UNPROTECTED) {
            unsigned before = check->known->n_extensions;
            extend(sites[i]);
            check->known->n_unprotected += check->known->n_extensions - before;
        }
}

void dh_hb_check_executed(void)
{
    struct dh_engine *e = dh_engine;
    struct dh_schedule_race race;
    if (!e->order_pending || !e->sees_invisible)
        return;
    e->order_pending = false;
    dh_adversary_executed(e->executing, &e->executed);
    if (!check->hb)
        return;
    struct dh_step s = e->executed;
    if (e->tasks[e->executing].handlers && s.kind >= DH_STEP_READ && s.kind <= DH_STEP_COPY)
        note_handled(&s);
    if (s.flags & DH_STEP_ATOMIC && dh_adversary_was_stale()) /* it did not synchronise with the latest write */
        s.order = DH_ORDER_RELAXED;
    if (dh_schedule_races_step(check->hb, e->executing, &s, &race))
        report_race(&race);
    extend_unprotected();
}

static bool is_checked(const struct dh_step *s)
{
    uint64_t hash = dh_hash_multiply(s->object + ((uint64_t)s->site << 32));
    struct checked *c = &check->checked[hash >> (64 - 13)];
    uint32_t what = s->size << 16 | s->flags;
    if (c->address == s->object && c->place == s->site && c->turn == dh_engine->turns && c->what == what)
        return true;
    *c = (struct checked){s->object, s->site, dh_engine->turns, what};
    return false;
}

/* Are there granules of which every access is checked? */
static bool has_watched(void)
{
    return dh_engine->unordered_races || check->known->n_racy;
}

/* From now on what the task does again before its next step is known. Not what handlers access: each is noted. */
static void know_self(void)
{
    struct dh_engine *e = dh_engine;
    if (e->known && !e->known->self && !check->known->n_handled)
        e->known->self = dh_schedule_races_self(check->hb, e->current->index);
}

void dh_hb_check_access(const struct dh_step *s)
{
    struct dh_schedule_race race;
    dh_access_contexts_note(s);
    if (!check->checks || (has_watched() && s->size <= 16 && s->kind <= DH_STEP_WRITE && is_checked(s)))
        return;
    dh_hb_check_executed();
    know_self();
    if (s->site < dh_engine->n_visible)
        extend_if_racy(s);
    if (dh_engine->current->handlers || check->known->n_handled)
        check_handled(s);
    struct dh_schedule_access a = {.thread = dh_engine->current->index,
                                   .site = s->site,
                                   .size = s->size,
                                   .address = s->object,
                                   .flags = (uint8_t)(s->flags & (DH_STEP_WRITES | DH_STEP_ATOMIC)),
                                   .frees = s->kind == DH_STEP_FREE};
    if (dh_schedule_access(check->hb, &a, &race))
        report_race(&race);
    extend_unprotected();
    if (s->kind != DH_STEP_COPY || !(s->flags & DH_STEP_RANGE))
        return;
    a.address = s->second;
    a.flags = 0;
    if (dh_schedule_access(check->hb, &a, &race))
        report_race(&race);
}

void dh_hb_check_fence(const struct dh_step *fence)
{
    struct dh_schedule_race race;
    dh_hb_check_executed();
    dh_hb_check_forget_self(dh_engine);
    dh_adversary_executed(dh_engine->current->index, fence);
    if (check->hb && dh_schedule_races_step(check->hb, dh_engine->current->index, fence, &race))
        report_race(&race);
}

void dh_hb_check_forget(uintptr_t at, size_t size)
{
    if (check->checks)
        dh_schedule_races_forget(check->hb, at, size);
}

void dh_hb_check_unmapped(uintptr_t at, size_t size)
{
    dh_hb_check_executed();
    dh_hb_check_forget(at, size);
    dh_adversary_forget(at, size);
}

void dh_hb_check_extend_at_once(uint32_t place)
{
    extend(place);
    check->known->is_waited_for = true;
}

bool dh_hb_check_must_extend(void)
{
    return check->known->is_waited_for;
}

uint8_t *dh_hb_check_note_shared(void)
{
    uint8_t *sites = check->checks ? dh_keep_lasting(dh_engine->n_visible) : NULL;
    if (sites)
        dh_schedule_races_note_shared(check->hb, sites, dh_engine->n_visible);
    return sites;
}

/* It came to be visible, and was too busy. */
static bool is_spared(uint32_t place)
{
    const struct dh_engine_progress *p = &dh_engine->control->progress;
    for (uint32_t i = 0; i < p->n_spared; i++)
        if (p->spared[i] == place)
            return true;
    return false;
}

static bool make_visible(uint32_t place)
{
    struct dh_engine_progress *p = &dh_engine->control->progress;
    if (dh_engine->visible[place])
        return false;
    if (p->visible_added == DH_ENGINE_ADDED || is_spared(place)) {
        p->uncovered |= DH_GAP_PLACES;
        return false;
    }
    dh_engine->visible[place] = 1;
    p->added[p->visible_added++] = place;
    return true;
}

bool dh_hb_check_extend_visible(void)
{
    bool any = false;
    for (unsigned i = 0; i < check->known->n_extensions; i++)
        any |= make_visible(check->known->extensions[i]);
    check->known->n_extensions = 0;
    check->known->is_waited_for = false;
    if (any)
        dh_hook_removal_put_back();
    return any;
}

bool dh_hb_check_has_extensions(void)
{
    for (unsigned i = 0; i < check->known->n_extensions; i++)
        if (!dh_engine->visible[check->known->extensions[i]] && !is_spared(check->known->extensions[i]))
            return true;
    return false;
}

void dh_hb_check_forget_extensions(void)
{
    check->known->n_extensions = check->known->n_racy = 0;
    for (unsigned i = 0; i < RACY; i++)
        check->known->racy[i] = 0;
}
