/* AtomRace's pairs: two accesses of a thread that belong together, and what came between (AVIO's access interleaving
 * invariants). */
#include "runtime/atomrace/state.h"

#include "event/hooks.h"
#include "runtime/atomrace/fast.h"
#include "runtime/atomrace/noise.h"
#include "runtime/core/bytes.h"
#include "runtime/core/print.h"
#include "runtime/core/thread_state.h"

static struct dh_atom_table reads; /* by whom the last write was read first */

static struct dh_atom_last *last_of(struct dh_atom_self *s, uintptr_t addr)
{
    return &s->last[(addr >> 2 ^ addr >> 12) % DH_ATOM_LAST];
}

/* Whether the two accesses are taken to belong together: both are of one function, as the source has it, and the
 * second stands behind the first, since what a loop comes back to begins anew, and nothing lies between by which the
 * thread means to let others in. Where it synchronised, only two that no lock protects belong together. Training knows
 * better. */
static bool belong_together(const struct dh_atom_last *l, const struct dh_atom_access *a, uint32_t spot,
                            uint64_t activation)
{
    if (l->addr != a->addr || l->size != a->size || l->activation != activation || !activation)
        return false;
    if (dh_atom_ways.train)
        return l->spot != spot || l->write || a->write;
    if (l->spot >> DH_SPOT_BITS != spot >> DH_SPOT_BITS || l->spot >= spot || l->others != __dh_thread.atom_passed)
        return false;
    return l->passed == dh_atom_n_passed || (!l->locks && !dh_atom_held);
}

static void came_between(const struct dh_atom_last *l, const struct dh_atom_access *a, uint64_t word)
{
    static const char *const cases[2][2][2] = {
        {{"", ""}, {"read, written by another, read", "read, written by another, written"}},
        {{"", "written, read by another, written"}, {"written, written by another, read", ""}}};
    struct dh_atom_access other, first = {l->addr, l->size, l->place, l->context, l->write};
    struct dh_report_access accesses[3];
    uint32_t thread;
    if (!dh_atom_whose(word, a, &other, &thread) || !dh_atom_ways.pairs_told)
        return;
    struct dh_report r = {
        .kind = DH_REPORT_ATOMICITY, .suspected = true, .detector = "atomrace", .access = accesses, .n_accesses = 3};
    dh_atom_describe(&accesses[0], __dh_thread.index, &first);
    dh_atom_describe(&accesses[1], thread, &other);
    dh_atom_describe(&accesses[2], __dh_thread.index, a);
    accesses[1].note = "comes between";
    r.unsaid = dh_atom_ways.train;
    dh_atom_overlap(a, &other, &r);
    char text[DH_PRINT_BUFFER];
    dh_print_text(text, sizeof text,
                  "one activation of a function has the variable %s: no order one after the other "
                  "gives that",
                  cases[l->write][other.write][a->write]);
    r.text = text;
    dh_atom_tell(&r);
}

static bool is_new(uint64_t now, uint64_t then, uint64_t mine, uint32_t slot)
{
    return (now ^ then) & (DH_ATOM_TAG | DH_ATOM_WRITER) && !(now & DH_ATOM_ACTIVE) &&
           dh_atom_conflicts(now, mine, slot);
}

static void tell_pair(uint64_t word, const struct dh_atom_access *a)
{
    struct dh_atom_access other;
    uint32_t thread;
    dh_noise_pair(dh_atom_whose(word, a, &other, &thread) ? other.place : UINT32_MAX, a->place);
}

/* Before the access, with what the table said then. Of the eight cases four cannot be put one after the other. */
void dh_atom_look_back(struct dh_atom_self *s, const struct dh_atom_access *a, uint64_t mine, uint64_t writer)
{
    const struct dh_atom_last *l = last_of(s, a->addr);
    uint64_t reader = __atomic_load_n(dh_atom_cell(&reads, a->addr), __ATOMIC_ACQUIRE);
    uint32_t slot = s->atom.slot;
    bool again = l->addr == a->addr && l->size == a->size;
    if (dh_noise_by_pair && is_new(writer, again ? l->writer : 0, mine, slot))
        tell_pair(writer, a);
    if (dh_noise_by_pair && a->write && is_new(reader, again ? l->reader : 0, mine, slot))
        tell_pair(reader, a);
    if (!belong_together(l, a, s->spot, dh_atom_activation_now(s)))
        return;
    if (!(l->write && a->write) && is_new(writer, l->writer, mine, slot))
        came_between(l, a, writer);
    else if (l->write && a->write && is_new(reader, l->reader, mine, slot))
        came_between(l, a, reader);
}

/* Behind the access. A reader says so once for every write it finds, if nobody wrote while it read. */
void dh_atom_remember(struct dh_atom_self *s, const struct dh_atom_access *a, const struct dh_atom_piece *p)
{
    struct dh_atom_last *l = last_of(s, a->addr);
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
    *l = (struct dh_atom_last){.addr = a->addr,
                               .size = a->size,
                               .place = a->place,
                               .context = a->context,
                               .spot = s->spot,
                               .write = a->write,
                               .locks = dh_atom_held,
                               .activation = dh_atom_activation_now(s),
                               .passed = dh_atom_n_passed,
                               .others = __dh_thread.atom_passed,
                               .writer = now,
                               .reader = __atomic_load_n(reader, __ATOMIC_ACQUIRE)};
}

void dh_atom_pairs_forked(void)
{
    dh_bytes_zero(&reads, sizeof reads);
}
