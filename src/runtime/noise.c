#include "runtime/noise.h"

#include "event/mark.h"
#include "event/noise.h"
#include "runtime/options.h"
#include "runtime/print.h"
#include "runtime/raw_syscall.h"
#include "runtime/thread_state.h"

#include <stdatomic.h>
#include <time.h>

bool dh_noise_on, dh_noise_by_pair;
static struct dh_noise noise;

/* ---- chance ---- */

static __thread uint64_t stream;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* splitmix64 */
static uint64_t next_random(void)
{
    if (!stream)
        stream = mix((uint64_t)dh_options.seed * 0x9e3779b97f4a7c15u + __dh_thread.index + 1) | 1;
    return mix(stream += 0x9e3779b97f4a7c15u);
}

static bool happens(unsigned per_mille)
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

static void make(const struct dh_noise_clause *c)
{
    atomic_fetch_add_explicit(&n_delays, 1, memory_order_relaxed);
    switch (c->how) {
    case DH_NOISE_SLEEP:
        sleep_for(c->nanoseconds);
        yield(); /* the paper's heuristics sleep, then yield */
        break;
    case DH_NOISE_YIELD:
        yield();
        break;
    default:
        wait_for(c->nanoseconds);
    }
}

/* ---- where conflicting accesses did not meet yet ---- */

/* Two places that touched the same memory from two threads, one of them writing, are a pair; it is open until the two
 * were inside at the same time. Every time that its memory changed hands is worth a try or two, up to a point: what
 * locks keep apart never meets. All of it is lossy: entries that share a slot replace each other, and threads do not
 * wait for one another. */
enum { PAIRS = 1 << 12, PLACES = 1 << 12, TRIES = 256, DELAY = 100000, CHANCE = 500, ALLOWANCE = 30000000 };

static struct pair {
    uint64_t places; /* lower << 32 | higher */
    uint16_t times;
    bool met;
} pairs[PAIRS];

static struct wish {
    uint32_t place, tries;
} wishes[PLACES];

static struct wish *wish_of(uint32_t place)
{
    return &wishes[mix(place) % PLACES];
}

static void wish(uint32_t place)
{
    struct wish *w = wish_of(place);
    if (w->place != place)
        *w = (struct wish){.place = place};
    w->tries++;
}

static struct pair *pair_of(uint32_t one, uint32_t other)
{
    uint64_t places = (uint64_t)(one < other ? one : other) << 32 | (one < other ? other : one);
    struct pair *p = &pairs[mix(places) % PAIRS];
    if (p->places != places)
        *p = (struct pair){.places = places};
    return p;
}

void dh_noise_pair(uint32_t one, uint32_t other)
{
    struct pair *p = pair_of(one, other);
    if (p->met || p->times >= TRIES)
        return;
    p->times++;
    wish(one);
    wish(other);
}

void dh_noise_met(uint32_t one, uint32_t other)
{
    pair_of(one, other)->met = true;
}

/* Time is counted in cycles: only its shares matter. */
static __thread uint64_t began, spent;

/* Short runs have an allowance beside their share. Who holds a lock meets others less likely, so it tries less. */
static void spend(const struct dh_noise_clause *c, uint32_t place, bool locked)
{
    struct wish *w = wish_of(place);
    if (w->place != place || !w->tries)
        return;
    uint64_t start = __builtin_ia32_rdtsc();
    if (!began)
        began = start;
    uint64_t budget = (start - began) / 100 * c->percent + ALLOWANCE;
    if (spent > budget || !happens(locked ? CHANCE / 250 : CHANCE))
        return;
    w->tries--;
    atomic_fetch_add_explicit(&n_delays, 1, memory_order_relaxed);
    sleep_for((uint32_t)(next_random() % DELAY));
    spent += __builtin_ia32_rdtsc() - start;
}

/* ---- where ---- */

void dh_noise_at_access(uint32_t mark, uint32_t place, bool locked)
{
    for (unsigned i = 0; i < noise.n; i++) {
        const struct dh_noise_clause *c = &noise.clause[i];
        if (c->kind == DH_NOISE_AUTO)
            spend(c, place, locked);
        bool here = c->kind == DH_NOISE_RANDOM || ((c->kind == DH_NOISE_VARIABLE || c->kind == DH_NOISE_LOCATION) &&
                                                   dh_mark_noise(mark) >> c->group & 1);
        if (here && happens(c->frequency)) {
            make(c);
            return;
        }
    }
}

void dh_noise_at_sync(void)
{
    for (unsigned i = 0; i < noise.n; i++) {
        const struct dh_noise_clause *c = &noise.clause[i];
        if ((c->kind == DH_NOISE_RANDOM || c->kind == DH_NOISE_SYNC) && happens(c->frequency)) {
            make(c);
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
        dh_noise_by_pair |= noise.clause[i].kind == DH_NOISE_AUTO;
}
