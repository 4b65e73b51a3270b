/* Elements of arrays are too many to look at all of them: those of some lines are looked at, fewer and fewer as they
 * cost too much. Lines that hold what a race was seen on stay for longest. */
#include "runtime/stale/element_sampling.h"

#include "runtime/stale/racy_elements.h"
#include "runtime/stale/state.h"

enum { LINE = 64, BITS = 12 /* of the address of a line: at most one of so many is looked at */, BITS_OF_WATCHED = 36 };

uint64_t __dh_stale_mask = UINT64_MAX, __dh_stale_want;

static dh_spin lock = DH_SPIN_INIT(DH_RANK_STALE_WATCH);

/* Not both at once: who sees one of them only looks at what it need not, or asks about what begins anew. */
static void set(uint64_t mask, uint64_t want)
{
    __atomic_store_n(&__dh_stale_mask, mask, __ATOMIC_RELAXED);
    __atomic_store_n(&__dh_stale_want, want, __ATOMIC_RELAXED);
}

void dh_stale_sample_all(void)
{
    set(0, 0);
}

/* Those that are looked at now. */
static unsigned watched_now(uintptr_t out[DH_RACY_ELEMENTS_MAX])
{
    unsigned all = dh_racy_elements_list(out), n = 0;
    for (unsigned i = 0; i < all; i++)
        if ((out[i] & __dh_stale_mask) == __dh_stale_want)
            out[n++] = out[i];
    return n;
}

static unsigned count_with(const uintptr_t *at, unsigned n, uint64_t bit)
{
    unsigned with = 0;
    for (unsigned i = 0; i < n; i++)
        with += (at[i] & bit) != 0;
    return with;
}

/* Another one in every run. */
static uint64_t chance(uint64_t number)
{
    uint64_t a = (dh_stale_control->job.seed + 1) * 0x9e3779b97f4a7c15u + number * 0xbf58476d1ce4e5b9u;
    return (a ^ a >> 31) * 0x94d049bb133111ebu >> 20;
}

/* One more bit counts: the one that keeps most of what is watched; of equals whichever comes. 0: there is none. */
static uint64_t choose(const uintptr_t *at, unsigned n, uint64_t *value)
{
    uint64_t mask = __dh_stale_mask, best = 0, most = 0;
    for (unsigned i = 0; i < (n ? BITS_OF_WATCHED : BITS); i++) {
        uint64_t bit = (uint64_t)LINE << i;
        unsigned with = count_with(at, n, bit), without = n - with, kept = with > without ? with : without;
        uint64_t worth = (uint64_t)kept << 32 | (i < BITS) << 24 | chance(i + (uint64_t)mask % 31) % (1 << 24);
        if (mask & bit || worth <= most)
            continue;
        most = worth;
        best = bit;
        *value = with > without || (with == without && chance(bit) & 1) ? bit : 0;
    }
    return best;
}

void dh_stale_sample_less(void)
{
    uintptr_t at[DH_RACY_ELEMENTS_MAX];
    uint64_t value = 0;
    dh_spin_lock(&lock);
    if (__dh_stale_mask != UINT64_MAX) {
        uint64_t bit = choose(at, watched_now(at), &value);
        set(bit ? __dh_stale_mask | bit : UINT64_MAX, bit ? __dh_stale_want | value : 0);
    }
    dh_spin_unlock(&lock);
}

/* What was allocated only now takes the place of others, of which nothing was watched so far. What was known may not be
 * true of what comes in anew. */
void dh_stale_resample(void)
{
    uintptr_t at[DH_RACY_ELEMENTS_MAX];
    uint64_t mask = __dh_stale_mask;
    if (!mask || mask == UINT64_MAX)
        return;
    dh_spin_lock(&lock);
    mask = __dh_stale_mask;
    unsigned n = mask == UINT64_MAX || watched_now(at) ? 0 : dh_racy_elements_list(at);
    if (n) {
        set(UINT64_MAX, 0);
        dh_stale_forget_all();
        set(mask, at[n - 1] & mask);
    }
    dh_spin_unlock(&lock);
}

void dh_stale_sampling_forked(void)
{
    dh_spin_forked(&lock);
}
