#include "runtime/noise.h"

#include "event/mark.h"
#include "event/noise.h"
#include "runtime/options.h"
#include "runtime/print.h"
#include "runtime/raw_syscall.h"
#include "runtime/thread_state.h"

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

static void make(const struct dh_noise_clause *c)
{
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

/* ---- where conflicting accesses were not seen in both orders ---- */

/* Of a pair one order is seen as soon as it conflicts at all; the other comes when the place that was first is late. So
 * places count the pairs in which they were always first. All of it is lossy: entries that share a slot replace each
 * other, and threads do not wait for one another. */
enum { PAIRS = 1 << 12, PLACES = 1 << 12, PATIENCE = 64, DELAY = 50000 };

static struct pair {
    uint64_t places; /* lower << 32 | higher */
    uint8_t seen;    /* 1: lower first, 2: higher first */
} pairs[PAIRS];

static struct wish {
    uint32_t place;
    int16_t open;   /* pairs in which it was always first */
    uint16_t tries; /* since the last that was new */
} wishes[PLACES];

static struct wish *wish_of(uint32_t place)
{
    return &wishes[mix(place) % PLACES];
}

static void wish(uint32_t place, int by)
{
    struct wish *w = wish_of(place);
    if (w->place != place)
        *w = (struct wish){.place = place};
    w->open = (int16_t)(w->open + by < 0 ? 0 : w->open + by);
    w->tries = 0;
}

void dh_noise_pair(uint32_t first, uint32_t second)
{
    uint32_t low = first < second ? first : second, high = first < second ? second : first;
    uint64_t places = (uint64_t)low << 32 | high;
    struct pair *p = &pairs[mix(places) % PAIRS];
    uint8_t order = first == low ? 1 : 2;
    if (first == second || (p->places == places && p->seen & order))
        return;
    bool other = p->places == places && p->seen;
    p->seen = (uint8_t)(other ? 3 : order);
    p->places = places;
    if (other)
        wish(second, -1);
    else
        wish(first, 1);
}

/* Time is counted in cycles: only its shares matter. */
static __thread uint64_t began, spent;

static void spend(const struct dh_noise_clause *c, uint32_t place)
{
    struct wish *w = wish_of(place);
    if (w->place != place || w->open <= 0 || w->tries >= PATIENCE)
        return;
    uint64_t start = __builtin_ia32_rdtsc();
    if (!began)
        began = start;
    if (spent * 100 > (start - began) * c->percent || !happens(250))
        return;
    w->tries++;
    sleep_for((uint32_t)(next_random() % DELAY));
    spent += __builtin_ia32_rdtsc() - start;
}

/* ---- where ---- */

void dh_noise_at_access(uint32_t mark, uint32_t place)
{
    for (unsigned i = 0; i < noise.n; i++) {
        const struct dh_noise_clause *c = &noise.clause[i];
        if (c->kind == DH_NOISE_AUTO)
            spend(c, place);
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
