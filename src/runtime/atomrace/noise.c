#include "runtime/atomrace/noise.h"

#include "base/random.h"
#include "event/noise.h"
#include "event/site_mark.h"
#include "runtime/core/options.h"
#include "runtime/core/thread_state.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

#include <stdatomic.h>
#include <time.h>

bool dh_noise_on, dh_noise_by_conflict;
static struct dh_noise noise;

/* ---- random numbers ---- */

static __thread uint64_t stream;

/* splitmix64 */
static uint64_t next_random(void)
{
    if (!stream)
        stream = dh_splitmix((uint64_t)dh_options.seed * DH_SPLITMIX_STEP + __dh_thread.index + 1) | 1;
    return dh_splitmix_next(&stream);
}

static bool draw(unsigned per_mille)
{
    return next_random() % 1000 < per_mille;
}

/* ---- delays ---- */

static uint64_t now(void)
{
    struct timespec t;
    dh_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void yield(void)
{
    dh_syscall3(SYS_sched_yield, 0, 0, 0);
}

/* Interrupted by a signal it is shorter, which noise may be. */
static void sleep_for(uint32_t nanoseconds)
{
    struct timespec t = {.tv_sec = nanoseconds / 1000000000u, .tv_nsec = nanoseconds % 1000000000u};
    dh_syscall3(SYS_nanosleep, (long)&t, 0, 0);
}

static void wait_for(uint32_t nanoseconds)
{
    for (uint64_t end = now() + nanoseconds; now() < end;)
        __builtin_ia32_pause();
}

static _Atomic uint32_t n_delays;

uint32_t dh_noise_count(void)
{
    return atomic_load_explicit(&n_delays, memory_order_relaxed);
}

static void make_noise(const struct dh_noise_clause *c, uint32_t times)
{
    uint64_t all = (uint64_t)c->nanoseconds * times;
    uint32_t nanoseconds = all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
    atomic_fetch_add_explicit(&n_delays, 1, memory_order_relaxed);
    switch (c->how) {
    case DH_NOISE_SLEEP:
        sleep_for(nanoseconds);
        yield(); /* the paper's heuristics sleep, then yield */
        break;
    case DH_NOISE_YIELD:
        yield();
        break;
    default:
        wait_for(nanoseconds);
    }
}

/* ---- rarely executed places ---- */

/* A place executed ten times among a million accesses would hardly ever be delayed at random, and too briefly for a
 * collision. So RANDOM reserves as much time as random delays are expected to take, and a place executed much less
 * often than the average gets a good part of the reserve. Counts are lossy: places that share an entry replace each
 * other. */
enum { COUNTS = 512, RARE = 4, PART = 3, MOST_TIMES = 64 };

struct count {
    uint32_t place, n;
};
static __thread struct count *counts;
static __thread uint64_t n_accesses, n_places, reserve; /* `reserve` in thousandths of a delay */

static uint32_t times_seen(uint32_t place)
{
    if (!counts) {
        counts = dh_alloc(COUNTS * sizeof *counts);
        for (unsigned i = 0; counts && i < COUNTS; i++)
            counts[i] = (struct count){0};
    }
    if (!counts)
        return UINT32_MAX;
    struct count *c = &counts[dh_splitmix(place) % COUNTS];
    if (!c->n || c->place != place) {
        *c = (struct count){.place = place};
        n_places++;
    }
    return ++c->n;
}

void dh_noise_thread_ends(void)
{
    if (counts)
        dh_free(counts, COUNTS * sizeof *counts);
    counts = NULL;
}

/* How many delays the access gets as a rarely executed one; 0: none. */
static uint32_t due_to_rare(uint32_t frequency, uint32_t place)
{
    uint32_t seen = times_seen(place);
    n_accesses++;
    reserve += frequency;
    bool rare = (uint64_t)seen * RARE * n_places < n_accesses;
    uint64_t part = rare ? reserve / (1000 * PART) : 0;
    uint32_t times = part < MOST_TIMES ? (uint32_t)part : MOST_TIMES;
    reserve -= times * UINT64_C(1000);
    return times;
}

static uint32_t due(const struct dh_noise_clause *c, uint32_t place)
{
    uint32_t times = due_to_rare(c->frequency, place);
    return times ? times : draw(c->frequency);
}

/* ---- conflicting accesses that have not collided yet ---- */

/* Two places that accessed the same memory in two threads, one of them writing, are a pair; it is open until they have
 * collided a few times. Each conflict adds a try or two, up to a limit: accesses under a common lock never collide.
 * Lossy: entries that share a slot replace each other, and there is no synchronisation. */
enum {
    PAIRS = 1 << 12,
    PLACES = 1 << 12,
    TRIES = 256,
    ENOUGH = 4,     /* collisions: sections that span both may need more than the first */
    DELAY = 100000, /* at first */
    DOUBLED = 4,    /* times, as long as there is no collision */
    CHANCE = 500,
    ALLOWANCE = 60000000,
    PART_OF_BUDGET = 8,
    PART_OF_RARE = 2,
    PART_OF_LOCKED = 4,
    RARE_FREQUENCY = 50,
    RARE_DELAY = 50000,
    CYCLES_A_NANOSECOND = 4, /* at most */
    SLACK = 100000           /* nanoseconds, of the kernel's timers */
};

static struct pair {
    uint64_t places; /* lower << 32 | higher */
    uint16_t times, met;
} pairs[PAIRS];

static struct goal {
    uint32_t place, tries, missed;
} goals[PLACES];

static struct goal *goal_of(uint32_t place)
{
    return &goals[dh_splitmix(place) % PLACES];
}

static void goal(uint32_t place)
{
    struct goal *w = goal_of(place);
    if (w->place != place)
        *w = (struct goal){.place = place};
    w->tries++;
}

static struct pair *pair_of(uint32_t one, uint32_t other)
{
    uint64_t places = (uint64_t)(one < other ? one : other) << 32 | (one < other ? other : one);
    struct pair *p = &pairs[dh_splitmix(places) % PAIRS];
    if (p->places != places)
        *p = (struct pair){.places = places};
    return p;
}

void dh_noise_conflict(uint32_t one, uint32_t other)
{
    struct pair *p = pair_of(one, other);
    if (p->met >= ENOUGH || p->times >= TRIES)
        return;
    p->times++;
    goal(one);
    goal(other);
}

void dh_noise_collision(uint32_t one, uint32_t other)
{
    struct pair *p = pair_of(one, other);
    p->met += p->met < ENOUGH;
}

/* Time in cycles: only shares matter. */
static __thread uint64_t began, spent;

/* A delay without a collision is longer the next time, within a part of the budget. */
static uint64_t longest(const struct goal *w, uint64_t left, bool locked)
{
    uint64_t wanted = (uint64_t)DELAY << (w->missed < DOUBLED ? w->missed : DOUBLED);
    uint64_t most = left / (PART_OF_BUDGET * CYCLES_A_NANOSECOND);
    wanted = wanted < most ? wanted : most;
    return locked || wanted < DELAY ? DELAY : wanted;
}

/* Short runs have an allowance beside their share. */
static uint64_t budget_of(const struct dh_noise_clause *c, uint64_t now_cycles)
{
    if (!began)
        began = now_cycles;
    return (now_cycles - began) / 100 * c->percent + ALLOWANCE;
}

static void delay(uint64_t nanoseconds, uint64_t start)
{
    atomic_fetch_add_explicit(&n_delays, 1, memory_order_relaxed);
    sleep_for((uint32_t)nanoseconds);
    /* Time spent waiting for a processor is not charged. */
    uint64_t took = __builtin_ia32_rdtsc() - start, most = (nanoseconds + SLACK) * CYCLES_A_NANOSECOND;
    spent += took < most ? took : most;
}

/* With a lock held a collision is less likely: fewer tries, and a part of the budget. `rare`: the least delay in
 * nanoseconds. */
static void spend(const struct dh_noise_clause *c, struct goal *w, uint64_t rare, bool locked)
{
    uint64_t start = __builtin_ia32_rdtsc(), budget = budget_of(c, start);
    if (spent > (locked ? budget / PART_OF_LOCKED : budget) || !draw(locked ? CHANCE / 250 : CHANCE))
        return;
    w->tries--;
    uint64_t by_chance = next_random() % longest(w, budget - spent, locked);
    delay(by_chance > rare ? by_chance : rare, start);
    w->missed++;
}

/* A short thread ends before others begin, and then no conflict is ever seen: at rarely executed places it waits for
 * them, within a part of the budget. */
static void spend_where_it_helps(const struct dh_noise_clause *c, uint32_t place, bool locked)
{
    struct goal *w = goal_of(place);
    uint64_t start = __builtin_ia32_rdtsc();
    bool may = !locked && spent <= budget_of(c, start) / PART_OF_RARE;
    uint64_t rare = (uint64_t)RARE_DELAY * due_to_rare(RARE_FREQUENCY, place);
    rare = may ? rare : 0;
    if (w->place == place && w->tries)
        spend(c, w, rare, locked);
    else if (rare)
        delay(rare, start);
}

/* ---- at accesses and synchronisation ---- */

void dh_noise_at_access(uint32_t mark, uint32_t place, bool locked)
{
    for (unsigned i = 0; i < noise.n; i++) {
        const struct dh_noise_clause *c = &noise.clause[i];
        if (c->kind == DH_NOISE_AUTO)
            spend_where_it_helps(c, place, locked);
        bool here =
            (c->kind == DH_NOISE_VARIABLE || c->kind == DH_NOISE_LOCATION) && dh_site_mark_noise(mark) >> c->group & 1;
        uint32_t times = c->kind == DH_NOISE_RANDOM ? due(c, place) : here && draw(c->frequency);
        if (times) {
            make_noise(c, times);
            return;
        }
    }
}

/* Threads created together run in lockstep; some of the first ones start late, so that others are done before. */
enum { LATE = 500, LATE_TIMES = 64, LATE_THREADS = 64, BEGINNING = 1000000 /* nanoseconds */ };
static __thread bool arrived;

static bool arrives(void)
{
    bool first = !arrived && __dh_thread.index && __dh_thread.index < LATE_THREADS;
    arrived = true;
    return first;
}

static uint32_t times_late(void)
{
    return arrives() && draw(LATE) ? 1 + (uint32_t)(next_random() % LATE_TIMES) : 0;
}

/* Once, from its allowance: threads created next begin meanwhile. */
static void wait_for_others(void)
{
    uint64_t start = __builtin_ia32_rdtsc();
    began = began ? began : start;
    delay(BEGINNING + next_random() % BEGINNING, start);
}

void dh_noise_at_sync(void)
{
    for (unsigned i = 0; i < noise.n; i++) {
        const struct dh_noise_clause *c = &noise.clause[i];
        if (c->kind == DH_NOISE_AUTO && arrives())
            wait_for_others();
        if (c->kind != DH_NOISE_RANDOM && c->kind != DH_NOISE_SYNC)
            continue;
        uint32_t late = times_late();
        if (late || draw(c->frequency)) {
            make_noise(c, late ? late : 1);
            return;
        }
    }
}

void dh_noise_start(void)
{
    struct dh_noise_error e;
    if (!dh_options.noise)
        return;
    if (!dh_noise_read(&noise, dh_options.noise, &e)) {
        dh_print_stderr("deadheat: noise=%s: column %u: %s; there will be none\n", dh_options.noise, e.column, e.text);
        return;
    }
    dh_noise_on = true;
    for (unsigned i = 0; i < noise.n; i++)
        dh_noise_by_conflict |= noise.clause[i].kind == DH_NOISE_AUTO;
}
