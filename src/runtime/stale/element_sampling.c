/* Sampling of array elements, which are too many to serve all: some cache lines are, fewer and fewer as they cost too
 * much. Lines with racy elements remain longest. */
#include "runtime/stale/element_sampling.h"

#include "base/random.h"
#include "runtime/stale/racy_elements.h"
#include "runtime/stale/state.h"

enum { LINE = 64, BITS = 12 /* of a line's address: in the end one line of 2^BITS is sampled */, BITS_WITH_RACY = 36 };

uint64_t __dh_stale_mask = UINT64_MAX, __dh_stale_want;

static dh_spin lock = DH_SPIN_INIT(DH_RANK_STALE_WATCH);

/* Not atomically: a thread that sees one of them samples what it need not, or a location that begins anew. */
static void set_sample(uint64_t mask, uint64_t want)
{
    __atomic_store_n(&__dh_stale_mask, mask, __ATOMIC_RELAXED);
    __atomic_store_n(&__dh_stale_want, want, __ATOMIC_RELAXED);
}

void dh_stale_sample_all(void)
{
    set_sample(0, 0);
}

/* The racy elements that are sampled now. */
static unsigned sampled_racy(uintptr_t out[DH_RACY_ELEMENTS_MAX])
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

/* Differs by the seed of the run. */
static uint64_t random_of(uint64_t number)
{
    uint64_t a = (dh_stale_control->job.seed + 1) * DH_SPLITMIX_STEP + number * 0xbf58476d1ce4e5b9u;
    return (a ^ a >> 31) * 0x94d049bb133111ebu >> 20;
}

/* Chooses one more bit for the mask: the one that keeps most racy elements, ties at random. 0: there is none. */
static uint64_t choose(const uintptr_t *at, unsigned n, uint64_t *value)
{
    uint64_t mask = __dh_stale_mask, best = 0, most = 0;
    for (unsigned i = 0; i < (n ? BITS_WITH_RACY : BITS); i++) {
        uint64_t bit = (uint64_t)LINE << i;
        unsigned with = count_with(at, n, bit), without = n - with, kept = with > without ? with : without;
        uint64_t worth = (uint64_t)kept << 32 | (i < BITS) << 24 | random_of(i + (uint64_t)mask % 31) % (1 << 24);
        if (mask & bit || worth <= most)
            continue;
        most = worth;
        best = bit;
        *value = with > without || (with == without && random_of(bit) & 1) ? bit : 0;
    }
    return best;
}

void dh_stale_sample_less(void)
{
    uintptr_t at[DH_RACY_ELEMENTS_MAX];
    uint64_t value = 0;
    dh_spin_lock(&lock);
    if (__dh_stale_mask != UINT64_MAX) {
        uint64_t bit = choose(at, sampled_racy(at), &value);
        set_sample(bit ? __dh_stale_mask | bit : UINT64_MAX, bit ? __dh_stale_want | value : 0);
    }
    dh_spin_unlock(&lock);
}

/* If no racy element is sampled, one that was just allocated replaces the sample. Values of the new sample are not
 * known: all are forgotten. */
void dh_stale_resample(void)
{
    uintptr_t at[DH_RACY_ELEMENTS_MAX];
    uint64_t mask = __dh_stale_mask;
    if (!mask || mask == UINT64_MAX)
        return;
    dh_spin_lock(&lock);
    mask = __dh_stale_mask;
    unsigned n = mask == UINT64_MAX || sampled_racy(at) ? 0 : dh_racy_elements_list(at);
    if (n) {
        set_sample(UINT64_MAX, 0);
        dh_stale_forget_all();
        set_sample(mask, at[n - 1] & mask);
    }
    dh_spin_unlock(&lock);
}

void dh_stale_sampling_forked(void)
{
    dh_spin_forked(&lock);
}
