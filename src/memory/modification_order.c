#include "memory/modification_order.h"

static uint64_t bit(uint32_t i)
{
    return UINT64_C(1) << i;
}

static uint64_t chain_of(const struct dh_location *at, uint32_t i)
{
    uint64_t set = 0;
    for (uint32_t k = 0; k < at->count; k++)
        if (at->write[k]->head == at->write[i]->head)
            set |= bit(k);
    return set;
}

void dh_mo_add(struct dh_location *at, uint32_t i, uint32_t j)
{
    if (dh_mo_is_before(at, i, j))
        return;
    uint64_t first = chain_of(at, i), second = chain_of(at, j);
    uint64_t before = first | at->write[at->write[i]->head]->before;
    for (uint32_t k = 0; k < at->count; k++)
        if (second & (bit(k) | at->write[k]->before))
            at->write[k]->before |= before;
}

void dh_mo_chain(struct dh_location *at, uint32_t i)
{
    uint32_t last = at->count - 1;
    struct dh_memory_write *read = at->write[i], *w = at->write[last];
    read->is_updated = true;
    w->head = read->head;
    w->before = read->before | bit(i);
    for (uint32_t k = 0; k < last; k++)
        if (at->write[k]->before & bit(i))
            at->write[k]->before |= bit(last);
}

/* Of those that nothing left precedes, the lowest in rank; but an update of the one just placed comes next. */
static uint32_t next_of(const struct dh_location *at, uint64_t placed, uint32_t last)
{
    uint32_t best = UINT32_MAX;
    if (last < at->count && at->write[last]->is_updated)
        for (uint32_t k = last + 1; k < at->count; k++)
            if (at->write[k]->head == at->write[last]->head)
                return k;
    for (uint32_t k = 0; k < at->count; k++)
        if (!(placed & bit(k)) && !(at->write[k]->before & ~placed) &&
            (best == UINT32_MAX || at->write[k]->rank < at->write[best]->rank))
            best = k;
    return best;
}

void dh_mo_linearise(struct dh_location *at)
{
    uint64_t placed = 0;
    uint32_t last = UINT32_MAX;
    for (uint32_t n = 0; n < at->count; n++) {
        last = next_of(at, placed, last);
        at->write[last]->trial = (uint8_t)n;
        placed |= bit(last);
    }
}

static uint64_t without(uint64_t set, uint32_t index)
{
    uint64_t low = set & (bit(index) - 1);
    return low | (set >> index >> 1) << index;
}

void dh_mo_drop(struct dh_locations *l, struct dh_location *at, uint32_t index)
{
    uint8_t rank = at->write[index]->rank, head = at->write[index]->head, heir = UINT8_MAX;
    for (uint32_t k = 0; k < at->count; k++) {
        struct dh_memory_write *w = at->write[k];
        w->before = without(w->before, index);
        w->rank -= w->rank > rank;
        if (head == index && w->head == head && k != index) {
            heir = heir == UINT8_MAX ? (uint8_t)k : heir;
            w->head = heir;
        }
    }
    for (uint32_t k = 0; k < at->count; k++)
        at->write[k]->head -= at->write[k]->head > index;
    dh_location_drop(l, at, index);
}
