/* Barriers: all arrivals of a round come before all departures of that round, and of no other. Rounds use two objects
 * in turn. While no more threads are inside than the barrier counts, the round of an arrival is known from the number
 * of arrivals before it: a thread can only be in a later round if one of this round has left. Where more threads than
 * that meet, rounds cannot be distinguished from outside, and the barrier becomes one object for all of them. */
#include "runtime/interpose/interpose.h"
#include "runtime/platform/address_map.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"

struct rounds {
    uint32_t count;
    _Atomic uint64_t arrived, left; /* ever; inside are arrived - left */
    _Atomic uint64_t concluded;     /* have acquired from the round, and are about to leave */
    _Atomic bool crowded;
    char round[2]; /* names of objects */
};

struct barrier {
    struct dh_map_node node;
    _Atomic(struct rounds *) rounds;
};

static struct dh_address_map barriers = {.record = sizeof(struct barrier)};

static struct rounds *find(const pthread_barrier_t *b)
{
    struct barrier *known = dh_map_find(&barriers, (uintptr_t)b);
    return known ? atomic_load(&known->rounds) : NULL;
}

/* A barrier may be destroyed and made anew while threads are on their way out: those keep the old rounds. */
static void begin_anew(struct barrier *b, unsigned count)
{
    struct rounds *r = atomic_load(&b->rounds);
    if (!r || r->arrived != r->left)
        r = dh_alloc_forever(sizeof *r);
    if (r) {
        dh_bytes_zero(r, sizeof *r);
        r->count = count;
        dh_sync_forget(&r->round[0], DH_SYNC_BARRIER);
        dh_sync_forget(&r->round[1], DH_SYNC_BARRIER);
    }
    atomic_store(&b->rounds, r);
}

static int dh_interposed_pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count)
{
    dh_interpose_ready();
    int result = dh_real.pthread_barrier_init(b, attr, count);
    struct barrier *known = result == 0 ? dh_map_get(&barriers, (uintptr_t)b) : NULL;
    if (known)
        begin_anew(known, count);
    return result;
}
DH_INTERPOSE(pthread_barrier_init);

/* Answers the object of the round. */
static char *arrive(struct rounds *r)
{
    uint64_t n = atomic_fetch_add(&r->arrived, 1);
    if (n + 1 - atomic_load(&r->left) > r->count)
        atomic_store(&r->crowded, true);
    char *round = &r->round[n / r->count % 2];
    dh_sync_release_join(round, DH_SYNC_BARRIER);
    if (atomic_load(&r->crowded))
        dh_sync_release_join(round == r->round ? r->round + 1 : r->round, DH_SYNC_BARRIER);
    return round;
}

/* The last one to leave clears the object: until it is gone, nobody can arrive in the round that uses it next. */
static void leave(struct rounds *r, const char *round)
{
    dh_sync_acquire(round, DH_SYNC_BARRIER);
    if (atomic_load(&r->crowded))
        dh_sync_acquire(round == r->round ? r->round + 1 : r->round, DH_SYNC_BARRIER);
    else if ((atomic_fetch_add(&r->concluded, 1) + 1) % r->count == 0)
        dh_sync_forget(round, DH_SYNC_BARRIER);
    atomic_fetch_add(&r->left, 1);
}

/* Behind count and rounds, glibc keeps whether other processes use it. */
static bool is_private(const pthread_barrier_t *b)
{
    return ((const int *)b)[3] == 0;
}

/* One that was not made in this process, or without memory for its rounds. */
static int wait_unknown(pthread_barrier_t *b)
{
    dh_sync_release_join(b, DH_SYNC_BARRIER);
    int result = DH_WAIT_FOR(b, DH_SYNC_BARRIER, 0, 0, NULL, dh_real.pthread_barrier_wait(b));
    dh_sync_acquire(b, DH_SYNC_BARRIER);
    return result;
}

static int dh_interposed_pthread_barrier_wait(pthread_barrier_t *b)
{
    dh_interpose_ready();
    DH_BY_ENGINE(pthread_barrier_wait, (b));
    struct rounds *r = find(b);
    if (!r)
        return wait_unknown(b);
    char *round = arrive(r);
    uintptr_t watched = is_private(b) ? (uintptr_t)b : 0;
    int result = DH_WAIT_FOR(b, DH_SYNC_BARRIER, 0, watched, DH_CALL_SLOT, dh_real.pthread_barrier_wait(b));
    leave(r, round);
    return result;
}
DH_INTERPOSE(pthread_barrier_wait);
