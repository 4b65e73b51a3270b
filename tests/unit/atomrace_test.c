/* AtomRace against naive implementations that keep everything: primitive sections by listing every open access,
 * longer ones by listing every access there was. Random interleavings with fixed seeds. */
#include "detect/atomrace.h"
#include "detect/atomrace_sections.h"
#include "event/sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;

static unsigned chance(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* ---- primitive sections ---- */

enum { THREADS = 4, STEPS = 200, ALIAS = 8 << DH_ATOM_CELL_BITS };

struct window {
    bool open;
    struct dh_atom_access a;
    unsigned id;
    struct dh_atom_piece piece;
    bool real, told; /* overlaps a conflicting access; and that was said of it */
};

static struct {
    struct dh_atom_table table;
    struct dh_atom_thread thread[THREADS];
    struct window window[THREADS];
    unsigned id_of[THREADS][STEPS + 1]; /* by the number of the write */
    bool real[STEPS][STEPS];
    bool told[STEPS][STEPS];
    bool wrote[STEPS];
    unsigned n;
} world;

static bool overlaps(const struct dh_atom_access *a, const struct dh_atom_access *b)
{
    return a->addr < b->addr + b->size && b->addr < a->addr + a->size;
}

/* The definition: two open at once, of two threads, with common bytes, one writing. */
static void naive_before(unsigned thread)
{
    struct window *w = &world.window[thread];
    for (unsigned t = 0; t < THREADS; t++) {
        struct window *o = &world.window[t];
        if (t == thread || !o->open || !overlaps(&w->a, &o->a) || !(w->a.write || o->a.write))
            continue;
        world.real[w->id][o->id] = world.real[o->id][w->id] = true;
    }
}

static void said(unsigned thread, uint64_t word)
{
    struct dh_atom_access other;
    if (!word)
        return;
    unsigned slot = dh_atom_slot(word), id;
    assert_true(slot != thread && slot < THREADS);
    assert_true(dh_atom_find_write(&world.thread[slot], word, &world.window[thread].a, &other));
    id = world.id_of[slot][word & ((1 << DH_ATOM_NUMBER_BITS) - 1)];
    assert_true(other.write && other.place == id);
    unsigned mine = world.window[thread].id;
    if (!world.real[mine][id])
        fail_msg("access %u and %u of threads %u and %u were not inside at once", mine, id, thread, slot);
    world.told[mine][id] = world.told[id][mine] = true;
}

static void step_before(unsigned thread, bool shared)
{
    struct window *w = &world.window[thread];
    static const unsigned sizes[] = {1, 2, 4, 8};
    unsigned size = shared ? sizes[chance(4)] : 8;
    uintptr_t addr = 0x7f0000001000 + (chance(3) * 8) + chance(8 / size) * size + (shared ? chance(2) * ALIAS : 0);
    w->id = world.n++;
    w->a = (struct dh_atom_access){.addr = addr, .size = size, .place = w->id, .write = chance(2)};
    world.wrote[w->id] = w->a.write;
    w->piece = (struct dh_atom_piece){.cell = dh_atom_cell(&world.table, addr), .mine = dh_atom_word(addr, size)};
    naive_before(thread);
    if (w->a.write) {
        dh_atom_record_write(&world.thread[thread], &w->a);
        world.id_of[thread][world.thread[thread].number] = w->id;
    }
    w->open = true;
    said(thread, w->a.write ? dh_atom_before_write(&w->piece, &world.thread[thread])
                            : dh_atom_before_read(&w->piece, &world.thread[thread]));
}

static void step_after(unsigned thread)
{
    struct window *w = &world.window[thread];
    said(thread, w->a.write ? dh_atom_after_write(&w->piece, &world.thread[thread])
                            : dh_atom_after_read(&w->piece, &world.thread[thread]));
    w->open = false;
}

/* `shared`: variables share cells, lying in the same eight bytes or far apart. */
static void run_primitive(unsigned threads, bool shared)
{
    memset(&world, 0, sizeof world);
    for (unsigned t = 0; t < THREADS; t++)
        world.thread[t].slot = t;
    while (world.n < STEPS) {
        unsigned t = chance(threads);
        if (world.window[t].open)
            step_after(t);
        else
            step_before(t, shared);
    }
    for (unsigned t = 0; t < threads; t++)
        if (world.window[t].open)
            step_after(t);
}

static void invents_nothing(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4000; round++) {
        seed = round;
        run_primitive(2 + round % 3, round & 1);
    }
}

static bool is_told(unsigned id)
{
    for (unsigned k = 0; k < STEPS; k++)
        if (world.told[id][k])
            return true;
    return false;
}

/* Of two threads, with cells of their own: two that met are told, or one of them with another, whose word took the
 * place of the first. So whoever meets anybody is not told nothing. */
static void misses_nothing_of_two(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4000; round++) {
        seed = 77777 + round;
        run_primitive(2, false);
        for (unsigned i = 0; i < STEPS; i++)
            for (unsigned k = 0; k < STEPS; k++)
                if (world.real[i][k])
                    assert_true(world.told[i][k] || is_told(i) || is_told(k));
    }
}

/* A word may stay until the thread's numbers have come round: the write that has its number then is another. */
static void a_number_that_came_round_is_forgotten(void **state)
{
    (void)state;
    static struct dh_atom_thread thread;
    struct dh_atom_access first = {.addr = 0x1000, .size = 8, .write = true}, later = first, out;
    dh_atom_record_write(&thread, &first);
    uint64_t word = thread.number;
    assert_true(dh_atom_find_write(&thread, word, &first, &out));
    for (unsigned i = 0; i < 1 << DH_ATOM_NUMBER_BITS; i++) {
        later.addr = 0x2000 + 8 * i;
        dh_atom_record_write(&thread, &later);
    }
    assert_false(dh_atom_find_write(&thread, word, &first, &out));
    assert_true(dh_atom_find_write(&thread, word, &later, &out));
}

/* A window that was given up is not met any more. */
static void abandoned_is_over(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    world.thread[1].slot = 1;
    struct dh_atom_access a = {.addr = 0x1000, .size = 4, .write = true};
    struct dh_atom_piece w = {.cell = dh_atom_cell(&world.table, 0x1000), .mine = dh_atom_word(0x1000, 4)}, r = w;
    dh_atom_record_write(&world.thread[0], &a);
    assert_int_equal(dh_atom_before_write(&w, &world.thread[0]), 0);
    assert_int_not_equal(dh_atom_before_read(&r, &world.thread[1]), 0);
    dh_atom_abandon(&w);
    assert_int_equal(dh_atom_before_read(&r, &world.thread[1]), 0);
    assert_int_equal(dh_atom_after_read(&r, &world.thread[1]), 0);
}

/* ---- longer sections ---- */

enum { ACTORS = 3, SECTIONS = 2, MOMENTS = 300, NAIVE_WATCHES = 64 };

struct naive_access {
    unsigned thread, before, after;
    struct dh_atom_access a;
};

struct naive_watch {
    bool live;
    unsigned section, order;
    uintptr_t frame;
    unsigned n_ranges;
    struct {
        uintptr_t addr;
        unsigned since;
    } range[DH_ATOM_RANGES];
};

static struct {
    struct dh_atom_monitor monitor;
    struct naive_access done[MOMENTS];
    unsigned n_done, now, order;
    struct naive_watch watch[ACTORS][NAIVE_WATCHES];
    unsigned n_watches[ACTORS];
    struct {
        bool open;
        struct dh_atom_access a;
        struct dh_atom_overlapped met;
        unsigned before;
    } actor[ACTORS];
} play;

static const bool local[SECTIONS] = {true, false};

static struct naive_watch *naive_innermost(unsigned t, unsigned section)
{
    struct naive_watch *last = NULL;
    for (unsigned i = 0; i < play.n_watches[t]; i++) {
        struct naive_watch *w = &play.watch[t][i];
        if (w->live && w->section == section && (!last || w->order > last->order))
            last = w;
    }
    return last;
}

static void naive_drop(unsigned t, unsigned section, uintptr_t below)
{
    for (unsigned i = 0; i < play.n_watches[t]; i++)
        if (play.watch[t][i].section == section && play.watch[t][i].frame < below)
            play.watch[t][i].live = false;
}

static void naive_begin(unsigned t, unsigned section, uintptr_t frame, uintptr_t addr)
{
    naive_drop(t, section, frame + 1);
    assert_true(play.n_watches[t] < NAIVE_WATCHES);
    play.watch[t][play.n_watches[t]++] = (struct naive_watch){.live = true,
                                                              .section = section,
                                                              .order = ++play.order,
                                                              .frame = frame,
                                                              .n_ranges = 1,
                                                              .range = {{addr, play.now}}};
}

/* Everything that anybody else did, wholly inside and to watched bytes. */
static bool naive_broken(const struct naive_watch *w, unsigned t, unsigned allow)
{
    for (unsigned i = 0; i < play.n_done; i++) {
        const struct naive_access *d = &play.done[i];
        if (d->thread == t || allow & (d->a.write ? DH_ALLOW_WRITE : DH_ALLOW_READ))
            continue;
        for (unsigned k = 0; k < w->n_ranges; k++)
            if (d->a.addr == w->range[k].addr && d->before > w->range[k].since)
                return true;
    }
    return false;
}

static uintptr_t var(unsigned i)
{
    return 0x1000 + i * 8;
}

static void act_begin(unsigned t)
{
    unsigned section = chance(SECTIONS);
    uintptr_t frame = 0x7000 - chance(2) * 0x100;
    struct dh_atom_access a = {.addr = var(section), .size = 8};
    dh_atom_section_begin(&play.monitor, section, t, frame, &a);
    naive_begin(t, section, frame, a.addr);
}

static void act_extend(unsigned t)
{
    unsigned section = chance(SECTIONS);
    uintptr_t addr = var(SECTIONS + chance(2));
    dh_atom_section_extend(&play.monitor, section, t, addr, 8);
    for (unsigned i = 0; i < play.n_watches[t]; i++) {
        struct naive_watch *w = &play.watch[t][i];
        bool there = !w->live || w->section != section;
        for (unsigned k = 0; k < w->n_ranges && !there; k++)
            there = w->range[k].addr == addr;
        if (!there) {
            w->range[w->n_ranges].addr = addr;
            w->range[w->n_ranges++].since = play.now;
        }
    }
}

static void act_end(unsigned t)
{
    unsigned section = chance(SECTIONS), allow = chance(4);
    uintptr_t frame = 0x7000 - chance(2) * 0x100;
    struct dh_atom_open_section out;
    bool ended = dh_atom_section_end(&play.monitor, section, t, frame, local[section], &out);
    if (local[section])
        naive_drop(t, section, frame);
    struct naive_watch *w = naive_innermost(t, section);
    if (w && local[section] && w->frame != frame)
        w = NULL;
    assert_int_equal(ended, w != NULL);
    if (!w)
        return;
    assert_int_equal(dh_atom_section_violation(&out, allow) != NULL, naive_broken(w, t, allow));
    w->live = false;
}

static void act_leave(unsigned t)
{
    unsigned section = chance(SECTIONS);
    dh_atom_section_abandon(&play.monitor, section, t);
    struct naive_watch *w = naive_innermost(t, section);
    if (w)
        w->live = false;
}

static void act_access(unsigned t)
{
    if (play.actor[t].open) {
        struct naive_access d = {t, play.actor[t].before, play.now, play.actor[t].a};
        dh_atom_section_interleave(&play.monitor, t, &d.a, &play.actor[t].met);
        play.done[play.n_done++] = d;
        play.actor[t].open = false;
        return;
    }
    play.actor[t].a =
        (struct dh_atom_access){.addr = var(chance(SECTIONS + 2)), .size = 8, .place = chance(3), .write = chance(2)};
    play.actor[t].before = play.now;
    play.actor[t].open = true;
    play.actor[t].met.n = 0;
    if (dh_atom_in_section(&play.monitor, play.actor[t].a.addr, 8))
        dh_atom_section_find_overlapped(&play.monitor, t, play.actor[t].a.addr, 8, &play.actor[t].met);
}

/* More watches on one variable than an access can meet are more than the two implementations agree on. */
static bool is_crowded(void)
{
    unsigned n = 0;
    for (unsigned t = 0; t < ACTORS; t++)
        for (unsigned i = 0; i < play.n_watches[t]; i++)
            n += play.watch[t][i].live;
    return n > DH_ATOM_OVERLAPPED;
}

static void sections_are_as_listed(void **state)
{
    (void)state;
    static void (*const acts[])(unsigned) = {act_begin,  act_end,    act_access, act_access,
                                             act_access, act_access, act_extend, act_leave};
    for (unsigned round = 0; round < 6000; round++) {
        seed = 4242 + round;
        memset(&play, 0, sizeof play);
        while (play.now < MOMENTS && !is_crowded()) {
            play.now++;
            unsigned t = chance(ACTORS);
            if (play.actor[t].open)
                act_access(t);
            else if (play.n_watches[t] < NAIVE_WATCHES)
                acts[chance(sizeof acts / sizeof *acts)](t);
        }
    }
    /* After all ended, nothing is watched. */
    for (unsigned t = 0; t < ACTORS; t++)
        dh_atom_section_abandon(&play.monitor, UINT32_MAX, t);
    for (unsigned i = 0; i < DH_ATOM_FILTER; i++)
        assert_int_equal(play.monitor.filter[i], 0);
    assert_int_equal(play.monitor.used, 0);
}

/* A circular section ends where it begins: the first passing enters, each later one ends one and enters the next. */
static void circles(void **state)
{
    (void)state;
    memset(&play, 0, sizeof play);
    struct dh_atom_access a = {.addr = 0x1000, .size = 8}, other = {.addr = 0x1004, .size = 4, .write = true};
    struct dh_atom_open_section out;
    struct dh_atom_overlapped met;
    for (unsigned turn = 0; turn < 3; turn++) {
        assert_int_equal(dh_atom_section_end(&play.monitor, 0, 1, 0x7000, true, &out), turn > 0);
        if (turn)
            assert_int_equal(dh_atom_section_violation(&out, DH_ALLOW_READ) != NULL, turn == 2);
        dh_atom_section_begin(&play.monitor, 0, 1, 0x7000, &a);
        if (turn == 1) {
            dh_atom_section_find_overlapped(&play.monitor, 2, other.addr, other.size, &met);
            assert_int_equal(met.n, 1);
            dh_atom_section_interleave(&play.monitor, 2, &other, &met);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invents_nothing),   cmocka_unit_test(misses_nothing_of_two),
        cmocka_unit_test(abandoned_is_over), cmocka_unit_test(sections_are_as_listed),
        cmocka_unit_test(circles),           cmocka_unit_test(a_number_that_came_round_is_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
