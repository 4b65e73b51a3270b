/* Pairs of accesses of one activation, and unserialisable interleavings of them (AVIO's access interleaving
 * invariants). */
#include "runtime/atomrace/state.h"

#include "event/hooks.h"
#include "runtime/atomrace/noise.h"
#include "runtime/core/thread_state.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

static struct dh_atom_table reads; /* the first read after the last write */

static struct dh_atom_last_access *last_of(struct dh_atom_thread_state *s, uintptr_t addr)
{
    return &s->last[(addr >> 2 ^ addr >> 12) % DH_ATOM_LAST_ACCESSES];
}

/* Whether two accesses form a pair that should be atomic: both are of one function of the source, the second follows
 * the first in it (a loop's next iteration begins anew), and no operation between them invites other threads. If the
 * thread used locks in between, only unprotected accesses form a pair. Training decides by runs instead. */
static bool is_pair(const struct dh_atom_last_access *l, const struct dh_atom_access *a, uint32_t spot,
                    uint64_t activation)
{
    if (l->addr != a->addr || l->size != a->size || l->activation != activation || !activation)
        return false;
    if (dh_atom_modes.train)
        return l->spot != spot || l->write || a->write;
    if (l->spot >> DH_SPOT_BITS != spot >> DH_SPOT_BITS || l->spot >= spot || l->syncs != __dh_thread.atom_syncs)
        return false;
    return l->lock_operations == dh_atom_n_lock_operations || (!l->locks && !dh_atom_held);
}

static void report_interleaving(const struct dh_atom_last_access *l, const struct dh_atom_access *a, uint64_t word)
{
    static const char *const cases[2][2][2] = {
        {{"", ""}, {"read, written by another, read", "read, written by another, written"}},
        {{"", "written, read by another, written"}, {"written, written by another, read", ""}}};
    struct dh_atom_access other, first = {l->addr, l->size, l->place, l->context, l->write};
    struct dh_report_access accesses[3];
    uint32_t thread;
    if (!dh_atom_find_access(word, a, &other, &thread) || !dh_atom_modes.reports_pairs)
        return;
    struct dh_report r = {
        .kind = DH_FINDING_ATOMICITY, .suspected = true, .detector = "atomrace", .access = accesses, .n_accesses = 3};
    dh_atom_describe(&accesses[0], __dh_thread.index, &first);
    dh_atom_describe(&accesses[1], thread, &other);
    dh_atom_describe(&accesses[2], __dh_thread.index, a);
    accesses[1].note = "comes between";
    r.log_only = dh_atom_modes.train;
    dh_atom_overlap(a, &other, &r);
    char text[DH_PRINT_BUFFER];
    dh_print_text(text, sizeof text,
                  "one activation of a function has the variable %s: no order one after the other "
                  "gives that",
                  cases[l->write][other.write][a->write]);
    r.text = text;
    dh_atom_report(&r);
}

static bool is_new_access(uint64_t now, uint64_t then, uint64_t mine, uint32_t slot)
{
    return (now ^ then) & (DH_ATOM_TAG | DH_ATOM_WRITER) && !(now & DH_ATOM_ACTIVE) &&
           dh_atom_conflicts(now, mine, slot);
}

static void add_noise_conflict(uint64_t word, const struct dh_atom_access *a)
{
    struct dh_atom_access other;
    uint32_t thread;
    dh_noise_conflict(dh_atom_find_access(word, a, &other, &thread) ? other.place : UINT32_MAX, a->place);
}

/* Of the eight interleavings four are unserialisable. */
void dh_atom_check_pair(struct dh_atom_thread_state *s, const struct dh_atom_access *a, uint64_t mine, uint64_t writer)
{
    const struct dh_atom_last_access *l = last_of(s, a->addr);
    uint64_t reader = __atomic_load_n(dh_atom_cell(&reads, a->addr), __ATOMIC_ACQUIRE);
    uint32_t slot = s->atom.slot;
    bool again = l->addr == a->addr && l->size == a->size;
    if (dh_noise_by_conflict && is_new_access(writer, again ? l->writer : 0, mine, slot))
        add_noise_conflict(writer, a);
    if (dh_noise_by_conflict && a->write && is_new_access(reader, again ? l->reader : 0, mine, slot))
        add_noise_conflict(reader, a);
    if (!is_pair(l, a, s->spot, dh_atom_activation_now(s)))
        return;
    if (!(l->write && a->write) && is_new_access(writer, l->writer, mine, slot))
        report_interleaving(l, a, writer);
    else if (l->write && a->write && is_new_access(reader, l->reader, mine, slot))
        report_interleaving(l, a, reader);
}

/* A read is entered into the table once for every write that it sees, if no write overlapped it. */
void dh_atom_record_last(struct dh_atom_thread_state *s, const struct dh_atom_access *a, const struct dh_atom_piece *p)
{
    struct dh_atom_last_access *l = last_of(s, a->addr);
    uint64_t now = __atomic_load_n(p->cell, __ATOMIC_ACQUIRE);
    uint64_t *reader = dh_atom_cell(&reads, a->addr);
    bool known = l->addr == a->addr && l->size == a->size && !((l->writer ^ now) & (DH_ATOM_TAG | DH_ATOM_WRITER));
    if (!a->write && !known && now == p->seen && !(now & DH_ATOM_ACTIVE) &&
        dh_atom_conflicts(now, p->mine, s->atom.slot)) {
        dh_atom_record_write(&s->atom, a);
        __atomic_store_n(reader,
                         dh_atom_word(a->addr, a->size) | (uint64_t)s->atom.slot << DH_ATOM_NUMBER_BITS |
                             (s->atom.number & ((1u << DH_ATOM_NUMBER_BITS) - 1)),
                         __ATOMIC_RELEASE);
    }
    *l = (struct dh_atom_last_access){.addr = a->addr,
                                      .size = a->size,
                                      .place = a->place,
                                      .context = a->context,
                                      .spot = s->spot,
                                      .write = a->write,
                                      .locks = dh_atom_held,
                                      .activation = dh_atom_activation_now(s),
                                      .lock_operations = dh_atom_n_lock_operations,
                                      .syncs = __dh_thread.atom_syncs,
                                      .writer = now,
                                      .reader = __atomic_load_n(reader, __ATOMIC_ACQUIRE)};
}

void dh_atom_pairs_forked(void)
{
    dh_bytes_zero(&reads, sizeof reads);
}
