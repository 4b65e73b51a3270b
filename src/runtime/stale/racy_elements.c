#include "runtime/stale/racy_elements.h"

#include "base/hash.h"
#include "runtime/platform/spin.h"

uint32_t dh_racy_elements_wanted;

static struct dh_engine_element elements[DH_ENGINE_ELEMENTS];
/* Their addresses, with that of the heap block. */
static struct found {
    uintptr_t at, block;
} found[DH_RACY_ELEMENTS_MAX];
static unsigned n_found;
/* A Bloom filter of their granules: most accesses are to others. */
enum { FILTER = 1024 };
static uint64_t filter[FILTER / 64];
static dh_spin lock = DH_SPIN_INIT(DH_RANK_RACY_ELEMENTS);

static unsigned bit_of(uintptr_t at)
{
    return (unsigned)(dh_hash_multiply(at / 8) >> 54) % FILTER;
}

static void add_address(uintptr_t at, uintptr_t block)
{
    if (n_found == DH_RACY_ELEMENTS_MAX)
        return;
    found[n_found++] = (struct found){at, block};
    filter[bit_of(at) / 64] |= (uint64_t)1 << bit_of(at) % 64;
}

void dh_racy_elements_start(const struct dh_engine_element *e, uint32_t n)
{
    extern const char __executable_start[];
    dh_racy_elements_wanted = n < DH_ENGINE_ELEMENTS ? n : DH_ENGINE_ELEMENTS;
    for (uint32_t i = 0; i < dh_racy_elements_wanted; i++) {
        elements[i] = e[i];
        if (!e[i].block)
            add_address((uintptr_t)__executable_start + (uintptr_t)e[i].offset, 0);
    }
}

static bool is_in(const struct dh_engine_element *e, size_t size)
{
    return e->block == DH_ENGINE_ANY_BLOCK ? e->offset < size : e->block == size;
}

void dh_racy_elements_allocated(const void *at, size_t size)
{
    for (uint32_t i = 0; i < dh_racy_elements_wanted; i++)
        if (elements[i].block && is_in(&elements[i], size)) {
            dh_spin_lock(&lock);
            add_address((uintptr_t)at + (uintptr_t)elements[i].offset, (uintptr_t)at);
            dh_spin_unlock(&lock);
        }
}

void dh_racy_elements_freed(const void *at)
{
    dh_spin_lock(&lock);
    for (unsigned i = 0; i < n_found;)
        if (at && found[i].block == (uintptr_t)at)
            found[i] = found[--n_found];
        else
            i++;
    dh_spin_unlock(&lock);
}

void dh_racy_elements_forked(void)
{
    dh_spin_forked(&lock);
}

bool dh_racy_elements_has(uintptr_t at)
{
    if (!(filter[bit_of(at) / 64] >> bit_of(at) % 64 & 1))
        return false;
    for (unsigned i = 0; i < n_found; i++)
        if (found[i].at / 8 == at / 8)
            return true;
    return false;
}

unsigned dh_racy_elements_list(uintptr_t out[DH_RACY_ELEMENTS_MAX])
{
    dh_spin_lock(&lock);
    unsigned n = n_found;
    for (unsigned i = 0; i < n; i++)
        out[i] = found[i].at;
    dh_spin_unlock(&lock);
    return n;
}
