/* AtomRace's reports: collisions, heap blocks, and addresses where the source declares races benign. */
#include "runtime/atomrace/state.h"

#include "runtime/heal/heal.h"

#include "runtime/atomrace/atomrace.h"
#include "runtime/atomrace/noise.h"
#include "runtime/core/thread_state.h"
#include "runtime/race/internal.h"
#include "runtime/record/record.h"
#include "runtime/report/vector_state.h"

enum { BENIGN_MAX = 64 };

_Atomic uint32_t dh_atom_n_collisions;

static struct {
    uintptr_t addr;
    size_t size;
} benign[BENIGN_MAX];
static _Atomic uint32_t n_benign;

void dh_atom_add_benign(uintptr_t addr, size_t size)
{
    uint32_t i = dh_atom_enabled ? atomic_fetch_add(&n_benign, 1) : BENIGN_MAX;
    if (i >= BENIGN_MAX)
        return;
    benign[i].size = size;
    __atomic_store_n(&benign[i].addr, addr, __ATOMIC_RELEASE);
}

static bool is_benign(uintptr_t addr, uint32_t size)
{
    uint32_t n = atomic_load(&n_benign);
    for (uint32_t i = 0; i < n && i < BENIGN_MAX; i++) {
        uintptr_t from = __atomic_load_n(&benign[i].addr, __ATOMIC_ACQUIRE);
        if (from && addr >= from && addr + size <= from + benign[i].size)
            return true;
    }
    /* With more than fit, any may be. */
    return n > BENIGN_MAX;
}

void dh_atom_describe(struct dh_report_access *a, uint32_t thread, const struct dh_atom_access *from)
{
    uint32_t place = from->place;
    *a = (struct dh_report_access){.thread = thread, .addr = from->addr, .size = from->size, .context = from->context};
    a->flags = from->write ? DH_LOG_WRITE : 0;
    a->module = dh_module_of_place(&place);
    a->place = place;
}

void dh_atom_overlap(const struct dh_atom_access *a, const struct dh_atom_access *b, struct dh_report *r)
{
    uintptr_t from = a->addr > b->addr ? a->addr : b->addr;
    uintptr_t a_end = a->addr + a->size, b_end = b->addr + b->size, end = a_end < b_end ? a_end : b_end;
    r->addr = from < end ? from : a->addr;
    r->size = from < end ? (uint32_t)(end - from) : a->size;
}

/* Before the report, which is slow. */
static void heal(void)
{
    struct dh_vector_state saved;
    if (!dh_heal_is_auto())
        return;
    dh_vector_save(&saved);
    dh_heal_suspected();
    dh_atom_heal_read();
    dh_vector_restore(&saved);
}

/* Reporting is slow. If the access has not happened yet, other threads may collide with it meanwhile. */
void dh_atom_report(struct dh_report *r)
{
    struct dh_heap_block block;
    if (is_benign(r->addr, r->size))
        return;
    heal();
    if (dh_report_is_known(r))
        return;
    if (dh_race_on && dh_race_enter(__dh_thread.race)) {
        bool benign_there = dh_race_is_benign(r->addr, r->size);
        if (dh_heap_block_around(r->addr, &block))
            dh_report_set_block(r, &block);
        dh_race_leave(__dh_thread.race);
        if (benign_there)
            return;
    }
    struct dh_vector_state saved;
    dh_vector_save(&saved);
    dh_report(r);
    dh_vector_restore(&saved);
}

void dh_atom_report_collision(const struct dh_atom_access *mine, uint64_t word)
{
    struct dh_atom_access other;
    struct dh_report_access accesses[2];
    uint32_t thread;
    if (!dh_atom_find_access(word, mine, &other, &thread))
        return;
    struct dh_report r = {.kind = DH_FINDING_RACE, .detector = "atomrace", .access = accesses, .n_accesses = 2};
    r.text = "both threads were between the events before and after these accesses at the same time";
    dh_atom_describe(&accesses[0], __dh_thread.index, mine);
    dh_atom_describe(&accesses[1], thread, &other);
    dh_atom_overlap(mine, &other, &r);
    atomic_fetch_add_explicit(&dh_atom_n_collisions, 1, memory_order_relaxed);
    if (dh_noise_by_conflict)
        dh_noise_collision(mine->place, other.place);
    if (!dh_atom_modes.on)
        return;
    if (dh_report_is_known(&r)) {
        heal();
        return;
    }
    if (dh_record_on) {
        struct dh_record_met met[2] = {
            {mine->addr, mine->size, mine->place, mine->context, __dh_thread.index, mine->write},
            {other.addr, other.size, other.place, other.context, thread, other.write}};
        dh_record_collision(&met[0], &met[1]);
    }
    dh_atom_report(&r);
}
