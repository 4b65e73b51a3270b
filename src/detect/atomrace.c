#include "detect/atomrace.h"

#define LOW_BITS ((1u << DH_ATOM_NUMBER_BITS) - 1)

void dh_atom_record_write(struct dh_atom_thread *me, const struct dh_atom_access *a)
{
    uint64_t number = me->number + 1;
    struct dh_atom_recorded_write *p = &me->past[number % DH_ATOM_RECORDED_WRITES];
    __atomic_store_n(&p->number, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    p->access = *a;
    __atomic_store_n(&p->number, number, __ATOMIC_RELEASE);
    me->number = number;
}

static bool overlaps(const struct dh_atom_access *a, const struct dh_atom_access *b)
{
    return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

/* The owner may be changing the entry: the copy counts if the number was there before and after. A word may be so old
 * that its number is reused; only a write with common bytes can be the one. */
bool dh_atom_find_write(const struct dh_atom_thread *other, uint64_t word, const struct dh_atom_access *by,
                        struct dh_atom_access *out)
{
    uint64_t low = word & LOW_BITS;
    const struct dh_atom_recorded_write *p = &other->past[low % DH_ATOM_RECORDED_WRITES];
    uint64_t number = __atomic_load_n(&p->number, __ATOMIC_ACQUIRE);
    if (!number || (number & LOW_BITS) != low)
        return false;
    *out = p->access;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&p->number, __ATOMIC_RELAXED) == number && overlaps(out, by);
}
