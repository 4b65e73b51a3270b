/* The consistency protocol against histories of everything that happened: what it tells is so, and what it must see it
 * sees. Random schedules with fixed seeds; every access has a place of its own. */
#include "detect/consistency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 3, STEPS = 120, DEPTH = 6, ROUNDS = 12000 };
#define BASE ((uintptr_t)0x7f0000001000)
#define FAR ((uintptr_t)DH_SCOPE_CELLS * 8) /* falls on the same cells */

static struct dh_consistency world;
static struct dh_scope_thread threads[THREADS];
static struct dh_current_scope units[THREADS];

/* ---- the naive side ---- */

struct happened {
    unsigned thread, unit;
    bool write;
    uintptr_t addr;
    unsigned size;
};

struct activation {
    unsigned unit, given; /* `given`: how many splits there were then */
    uintptr_t object;
    int begun; /* step; of the outermost on this object */
};

struct naive {
    unsigned depth, splits;
    struct activation open[DEPTH + 1]; /* [0]: before any */
    bool closed;                       /* it released since this unit began */
};

static struct happened history[STEPS + 1];
static struct naive naive[THREADS];
static unsigned next_unit;
static uint32_t seed;

static unsigned chance(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static struct activation *now(unsigned t)
{
    return &naive[t].open[naive[t].depth];
}

static void fresh(unsigned t)
{
    now(t)->unit = ++next_unit;
    now(t)->given = naive[t].splits;
}

static void naive_enter(unsigned t, uintptr_t object, int step)
{
    struct activation outer = *now(t);
    naive[t].depth++;
    *now(t) = outer;
    if (object && object == outer.object)
        return;
    now(t)->object = naive[t].depth > 1 ? object : 0;
    now(t)->begun = step;
    fresh(t);
}

static void naive_leave(unsigned t)
{
    naive[t].depth--;
    if (now(t)->given != naive[t].splits)
        fresh(t);
}

static void naive_split(unsigned t)
{
    naive[t].splits++;
    fresh(t);
}

static bool overlap(const struct happened *h, uintptr_t addr, unsigned size)
{
    return h->addr < addr + size && addr < h->addr + h->size;
}

static bool serialisable(bool before, bool between, bool after)
{
    if (between)
        return before && after;
    return !(before && after);
}

/* ---- one step on both sides ---- */

static void begin(void)
{
    for (uintptr_t at = BASE; at < BASE + 64; at += 8)
        *dh_scope_cell(world.cells, at) = 0;
    memset(world.readers, 0, sizeof world.readers);
    memset(threads, 0, sizeof threads);
    memset(naive, 0, sizeof naive);
    for (unsigned t = 0; t < THREADS; t++) {
        world.threads[t + 1] = &threads[t];
        dh_scope_thread_begin(&threads[t], t + 1, t, &units[t]);
        fresh(t);
    }
}

static bool access_both(unsigned t, uintptr_t addr, unsigned size, bool write, int step, struct dh_collision *out)
{
    uint32_t place = (uint32_t)step;
    history[step] = (struct happened){t, now(t)->unit, write, addr, size};
    out->kind = DH_COLLISION_NONE;
    bool quick = write ? dh_scope_check_write(&units[t], &threads[t].entries, world.cells, addr, size, place)
                       : dh_scope_check_read(&units[t], &threads[t].entries, world.cells, addr, size, place);
    return !quick && dh_consistency_access(&world, &threads[t], addr, size, write, place, out);
}

static void confirm(const struct dh_collision *c, int step)
{
    const struct happened *a1 = &history[c->before], *b = &history[c->other], *a2 = &history[step];
    assert_int_equal(c->here, step);
    assert_int_equal(c->thread, b->thread);
    assert_int_equal(a1->thread, a2->thread);
    assert_int_not_equal(b->thread, a2->thread);
    assert_true(c->before < (uint32_t)step && c->other < (uint32_t)step);
    assert_true(a1->write == c->before_writes && b->write == c->other_writes && a2->write == c->here_writes);
    assert_true(overlap(a1, c->addr, 1) && overlap(b, c->addr, 1) && overlap(a2, c->addr, 1));
    switch (c->kind) {
    case DH_COLLISION_INTERLEAVED:
        assert_true(c->before < c->other && a1->unit == a2->unit);
        assert_false(serialisable(a1->write, b->write, a2->write));
        break;
    case DH_COLLISION_OVERLAP: /* the other's unit has not ended, nor has it released, when the first access comes */
        assert_true(a1->unit == a2->unit && !a1->write && b->write);
        break;
    case DH_COLLISION_STALE:
        assert_true(c->before < c->other && a1->unit != a2->unit && !a1->write && b->write && a2->write);
        assert_true((int)c->before >= now(a2->thread)->begun);
        break;
    default:
        fail();
    }
}

static const unsigned sizes[] = {1, 2, 4, 8};

static uintptr_t some_address(unsigned size)
{
    uintptr_t at = BASE + chance(3) * 8 + (chance(4) == 0 ? FAR : 0);
    return at + (chance(8 / size)) * size;
}

static unsigned told;

static void any_step(int step)
{
    unsigned t = chance(THREADS), size = sizes[chance(4)];
    struct dh_collision c;
    switch (chance(12)) {
    case 0:
        if (naive[t].depth < DEPTH) {
            uintptr_t object = chance(3) * 64;
            dh_scope_push(&threads[t], naive[t].depth, object);
            naive_enter(t, object, step);
        }
        break;
    case 1:
        if (naive[t].depth) {
            naive_leave(t);
            dh_scope_pop(&threads[t], naive[t].depth);
        }
        break;
    case 2:
        if (chance(2)) {
            dh_scope_split(&threads[t]);
            naive_split(t);
        } else {
            dh_scope_close(&threads[t]);
        }
        break;
    default:
        if (access_both(t, some_address(size), size, chance(2), step, &c)) {
            confirm(&c, step);
            told++;
        }
    }
}

static void tells_only_what_happened(void **state)
{
    (void)state;
    told = 0;
    for (seed = 1; seed <= ROUNDS; seed++) {
        uint32_t round = seed;
        begin();
        memset(history, 0, sizeof history);
        for (int step = 1; step <= STEPS; step++)
            any_step(step);
        seed = round;
    }
    assert_true(told > ROUNDS); /* or nothing was tried */
}

/* ---- what it must see: one strange access between two neighbouring ones of a unit ---- */

static bool must_tell(int step)
{
    const struct happened *a2 = &history[step];
    int between = 0, b = 0;
    for (int i = step - 1; i > 0; i--) {
        if (history[i].thread != a2->thread) {
            between++;
            b = i;
            continue;
        }
        return history[i].unit == a2->unit && between == 1 &&
               !serialisable(history[i].write, history[b].write, a2->write);
    }
    return false;
}

static void sees_every_single_interleaving(void **state)
{
    (void)state;
    unsigned due = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        seed = round * 77;
        begin();
        for (int step = 1; step <= STEPS; step++) {
            struct dh_collision c;
            unsigned t = chance(2);
            if (chance(10) == 0) { /* the next call of the same function */
                dh_scope_push(&threads[t], 0, 0);
                now(t)->begun = step;
                fresh(t);
            }
            bool found = access_both(t, BASE, 8, chance(2), step, &c);
            if (must_tell(step)) {
                due++;
                assert_true(found && c.kind == DH_COLLISION_INTERLEAVED);
            }
        }
    }
    assert_true(due > ROUNDS);
}

/* ---- single properties, by name ---- */

static struct dh_collision collide(unsigned t, bool write, uint32_t place)
{
    struct dh_collision c = {.kind = DH_COLLISION_NONE};
    bool quick = write ? dh_scope_check_write(&units[t], &threads[t].entries, world.cells, BASE, 8, place)
                       : dh_scope_check_read(&units[t], &threads[t].entries, world.cells, BASE, 8, place);
    if (!quick)
        dh_consistency_access(&world, &threads[t], BASE, 8, write, place, &c);
    return c;
}

static void lost_update_is_told(void **state)
{
    (void)state;
    begin();
    collide(0, false, 1);
    collide(1, false, 2);
    assert_int_equal(collide(1, true, 3).kind, DH_COLLISION_NONE);
    assert_int_equal(collide(0, true, 4).kind, DH_COLLISION_INTERLEAVED);
}

static void wait_gives_the_object_up(void **state)
{
    (void)state;
    begin();
    collide(0, false, 1);
    dh_scope_close(&threads[0]);
    collide(1, true, 2);
    dh_scope_close(&threads[1]);
    dh_scope_split(&threads[0]);
    assert_int_equal(collide(0, false, 3).kind, DH_COLLISION_NONE);
}

static void outer_function_does_not_outlive_a_wait(void **state)
{
    (void)state;
    begin();
    dh_scope_push(&threads[0], 0, 0);
    dh_scope_push(&threads[0], 1, BASE);
    collide(0, false, 1);
    dh_scope_push(&threads[0], 2, BASE + 64);
    dh_scope_split(&threads[0]);
    collide(1, true, 2);
    dh_scope_pop(&threads[0], 2);
    assert_int_equal(collide(0, false, 3).kind, DH_COLLISION_NONE);
}

static void calls_on_the_same_object_are_one(void **state)
{
    (void)state;
    begin();
    dh_scope_push(&threads[0], 0, 0);
    dh_scope_push(&threads[0], 1, BASE);
    dh_scope_push(&threads[0], 2, BASE);
    collide(0, false, 1);
    dh_scope_pop(&threads[0], 2);
    collide(1, true, 2);
    dh_scope_push(&threads[0], 2, BASE);
    assert_int_equal(collide(0, true, 3).kind, DH_COLLISION_INTERLEAVED);
}

static void calls_of_one_thread_after_the_other_are_not(void **state)
{
    (void)state;
    begin();
    dh_scope_push(&threads[0], 0, BASE); /* the thread's own function */
    dh_scope_push(&threads[0], 1, BASE);
    collide(0, false, 1);
    dh_scope_pop(&threads[0], 1);
    collide(1, true, 2);
    dh_scope_push(&threads[0], 1, BASE);
    assert_int_equal(collide(0, true, 3).kind, DH_COLLISION_NONE);
}

static void looking_again_at_one_place_is_waiting(void **state)
{
    (void)state;
    begin();
    collide(0, false, 1);
    collide(1, true, 2);
    assert_int_equal(collide(0, false, 1).kind, DH_COLLISION_NONE);
}

static void two_readers_are_harmless(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 1; i < 20; i++)
        assert_int_equal(collide(i % 3, false, i).kind, DH_COLLISION_NONE);
}

static void written_back_in_another_section_is_suspected(void **state)
{
    (void)state;
    begin();
    dh_scope_push(&threads[0], 0, 0);
    dh_scope_push(&threads[0], 1, BASE);
    collide(0, false, 1);
    dh_scope_close(&threads[0]);
    dh_scope_split(&threads[1]);
    collide(1, true, 2);
    dh_scope_close(&threads[1]);
    dh_scope_split(&threads[0]);
    assert_int_equal(collide(0, true, 3).kind, DH_COLLISION_STALE);
}

static void numbers_may_come_round(void **state)
{
    (void)state;
    begin();
    collide(0, false, 1);
    collide(1, true, 2);
    uint64_t word = units[0].word, key = units[0].key;
    threads[0].next += (1u << 24) - 1;
    dh_scope_push(&threads[0], 0, 0);
    assert_true(units[0].word == word && units[0].key == key); /* as in the unit above */
    assert_int_equal(collide(0, true, 3).kind, DH_COLLISION_NONE);
}

int main(void)
{
    world.cells = calloc(DH_SCOPE_CELLS, sizeof *world.cells);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_only_what_happened),
        cmocka_unit_test(sees_every_single_interleaving),
        cmocka_unit_test(lost_update_is_told),
        cmocka_unit_test(wait_gives_the_object_up),
        cmocka_unit_test(outer_function_does_not_outlive_a_wait),
        cmocka_unit_test(calls_on_the_same_object_are_one),
        cmocka_unit_test(calls_of_one_thread_after_the_other_are_not),
        cmocka_unit_test(looking_again_at_one_place_is_waiting),
        cmocka_unit_test(two_readers_are_harmless),
        cmocka_unit_test(written_back_in_another_section_is_suspected),
        cmocka_unit_test(numbers_may_come_round),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(world.cells);
    return failed;
}
