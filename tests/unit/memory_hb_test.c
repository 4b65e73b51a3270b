/* The progressive happens-before model against its definition, its rules for forgetting writes, and clocks given by
 * someone else. */
#include "memory_programs.h"
#include "memory_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct dh_memory_model *model;

static void literature(void **state)
{
    (void)state;
    assert_int_equal(check_rows(model, 'H', litmus_rows, LITMUS_ROWS, oracle_progressive), 0);
}

static struct litmus_taste taste_of(unsigned i)
{
    bool plain = i % 2;
    return (struct litmus_taste){.threads = 3,
                                 .ops = 6,
                                 .variables = 1 + i % 3 % 2,
                                 .orders = plain ? "0" : "012345",
                                 .updates = !plain,
                                 .fences = i % 4 == 0,
                                 .locks = i % 3 != 0,
                                 .dependencies = i % 5 == 0};
}

/* With and without GC1 and GC2, and with the clocks of the one who drives, the outcomes are those of the definition. */
static void random_programs(void **state)
{
    (void)state;
    static struct outcomes theirs, ours;
    uint64_t seed = 1;
    for (unsigned i = how_many(100); i; i--) {
        struct litmus l;
        struct litmus_taste taste = taste_of(i);
        litmus_random(&l, &taste, &seed);
        oracle_progressive(&l, &theirs);
        struct litmus_run usual = {.model = model}, all = {.model = model, .no_gc = true};
        litmus_explore(&usual, &l, &ours);
        assert_true(agree(&l, "hb", &ours, "definition", &theirs));
        litmus_explore(&all, &l, &ours);
        assert_true(agree(&l, "no gc", &ours, "definition", &theirs));
        struct litmus_run given = {.model = model, .external_clocks = true};
        if (taste.orders[1])
            continue; /* what atomics order is then the driver's business */
        litmus_explore(&given, &l, &ours);
        assert_true(agree(&l, "given", &ours, "definition", &theirs));
    }
}

/* REMOVE OLDEST is sound: it leaves fewer outcomes, and none that is not allowed. */
static void small_histories(void **state)
{
    (void)state;
    static struct outcomes ours, theirs;
    uint64_t seed = 3, lost = 0;
    for (unsigned i = how_many(60); i; i--) {
        struct litmus l;
        struct litmus_taste taste = taste_of(i);
        struct litmus_run run = {.model = model, .history = 1 + i % 3};
        litmus_random(&l, &taste, &seed);
        litmus_explore(&run, &l, &ours);
        oracle_progressive(&l, &theirs);
        assert_true(outcomes_within(&ours, &theirs));
        lost += run.lost.removed;
    }
    assert_true(lost > 0);
}

/* ---- buffers ---- */

static struct dh_memory memory_of(uint32_t history, bool no_gc)
{
    struct dh_memory m = words_memory(4);
    m.history = history;
    m.no_gc = no_gc;
    return m;
}

static unsigned values_of(void *self, uint32_t thread, uint64_t address, unsigned size, uint64_t *out)
{
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    struct dh_memory_access a = {.thread = thread, .address = address, .size = (uint8_t)size};
    unsigned n = model->load(self, &a, list, DH_MEMORY_CANDIDATES);
    for (unsigned i = 0; i < n; i++)
        out[i] = list[i].value;
    return n;
}

static void write_value(void *self, uint32_t thread, uint64_t address, unsigned size, uint64_t value)
{
    struct dh_memory_access a = {.thread = thread, .site = 7, .address = address, .size = (uint8_t)size};
    model->store(self, &a, value);
}

/* 004, Fig. 7: 0, 13 and 42 are visible before the reader takes the lock, and only 42 with it. */
static void figure_7(void **state)
{
    (void)state;
    struct dh_memory m = memory_of(0, false);
    void *self = model->start(&m);
    uint64_t v[DH_MEMORY_CANDIDATES];
    words[1] = 0;
    model->fork(self, 0, 1);
    model->acquire(self, 0, 99);
    write_value(self, 0, 8, 8, 13);
    write_value(self, 0, 8, 8, 42);
    model->release(self, 0, 99);
    assert_int_equal(values_of(self, 1, 8, 8, v), 3);
    assert_true(v[0] == 42 && v[1] == 13 && v[2] == 0);
    model->acquire(self, 1, 99);
    assert_int_equal(values_of(self, 1, 8, 8, v), 1);
    assert_int_equal(v[0], 42);
}

/* Atomics that are no locations order by release sequences and fences, and a store that releases nothing ends what was
 * released. */
static void other_atomics(void **state)
{
    (void)state;
    struct dh_memory m = memory_of(0, false);
    void *self = model->start(&m);
    uint64_t v[DH_MEMORY_CANDIDATES];
    for (uint32_t t = 1; t < 4; t++)
        model->fork(self, 0, t);
    write_value(self, 0, 8, 8, 1);
    model->atomic(self, 0, 99, DH_ORDER_RELEASE, false, true);
    model->atomic(self, 1, 99, DH_ORDER_RELAXED, true, true);
    assert_int_equal(values_of(self, 1, 8, 8, v), 2);
    model->fence(self, 1, DH_ORDER_ACQUIRE);
    assert_int_equal(values_of(self, 1, 8, 8, v), 1);
    model->atomic(self, 2, 99, DH_ORDER_ACQUIRE, true, false);
    assert_int_equal(values_of(self, 2, 8, 8, v), 1);
    model->atomic(self, 0, 99, DH_ORDER_RELAXED, false, true);
    model->atomic(self, 3, 99, DH_ORDER_ACQUIRE, true, false);
    assert_int_equal(values_of(self, 3, 8, 8, v), 2);
    model->fence(self, 0, DH_ORDER_RELEASE);
    model->atomic(self, 0, 99, DH_ORDER_RELAXED, false, true);
    model->atomic(self, 3, 99, DH_ORDER_ACQUIRE, true, false);
    assert_int_equal(values_of(self, 3, 8, 8, v), 1);
}

static void oldest_are_removed(void **state)
{
    (void)state;
    struct dh_memory m = memory_of(0, false);
    void *self = model->start(&m);
    uint64_t v[DH_MEMORY_CANDIDATES];
    words[1] = 0;
    model->fork(self, 0, 1);
    for (uint64_t i = 1; i <= 31; i++)
        write_value(self, 0, 8, 8, i);
    assert_int_equal(m.lost.removed, 0);
    assert_int_equal(values_of(self, 1, 8, 8, v), 32);
    for (uint64_t i = 32; i <= 100; i++)
        write_value(self, 0, 8, 8, i);
    assert_int_equal(m.lost.removed, 69);
    assert_int_equal(values_of(self, 1, 8, 8, v), 32);
    assert_true(v[0] == 100 && v[31] == 69);
    assert_int_equal(words[1], 100);
}

/* Without them the buffer would have to remove its oldest; values do not differ. */
static void collected(void **state)
{
    (void)state;
    struct dh_memory few = memory_of(3, false), all = memory_of(60, true);
    void *a = model->start(&few), *b = model->start(&all);
    uint64_t v[DH_MEMORY_CANDIDATES], all_v[DH_MEMORY_CANDIDATES];
    words[1] = 0;
    model->fork(a, 0, 1);
    model->fork(b, 0, 1);
    for (uint64_t i = 0; i < 50; i++) {
        uint64_t before = words[1];
        write_value(a, i % 2, 8, 8, 1 + i % 2); /* GC2: each thread its own value again and again */
        words[1] = before;
        write_value(b, i % 2, 8, 8, 1 + i % 2);
        assert_int_equal(values_of(a, 1, 8, 8, v), 2);
        assert_true(values_of(b, 1, 8, 8, all_v) >= 2);
        assert_int_equal(v[0], all_v[0]);
    }
    assert_int_equal(few.lost.removed, 0);
    for (uint64_t i = 0; i < 50; i++) { /* GC1: handed over by a lock, so that only the newest is seen */
        uint64_t before = words[1];
        model->acquire(a, i % 2, 99);
        write_value(a, i % 2, 8, 8, 10 + i);
        model->release(a, i % 2, 99);
        words[1] = before;
        model->acquire(b, i % 2, 99);
        write_value(b, i % 2, 8, 8, 10 + i);
        model->release(b, i % 2, 99);
        if (i)
            assert_int_equal(values_of(a, i % 2, 8, 8, v), 1);
        if (all.lost.removed == 0)
            assert_int_equal(values_of(a, !(i % 2), 8, 8, v) > 1, values_of(b, !(i % 2), 8, 8, all_v) > 1);
    }
    assert_int_equal(few.lost.removed, 0);
}

/* Other sizes split a location, and each part keeps its past. */
static void pieces(void **state)
{
    (void)state;
    struct dh_memory m = memory_of(0, false);
    void *self = model->start(&m);
    struct dh_access_piece p[8];
    uint64_t v[DH_MEMORY_CANDIDATES];
    words[1] = 0x1111111122222222;
    model->fork(self, 0, 1);
    assert_int_equal(model->pieces(self, 8, 8, p, 8), 1);
    write_value(self, 0, 8, 8, 0x3333333344444444);
    assert_int_equal(model->pieces(self, 12, 4, p, 8), 1);
    assert_true(p[0].address == 12 && p[0].size == 4);
    assert_int_equal(values_of(self, 1, 12, 4, v), 2);
    assert_true(v[0] == 0x33333333 && v[1] == 0x11111111);
    assert_int_equal(values_of(self, 1, 8, 4, v), 2);
    assert_true(v[0] == 0x44444444 && v[1] == 0x22222222);
    assert_int_equal(model->pieces(self, 8, 8, p, 8), 2);
    assert_int_equal(model->pieces(self, 4, 8, p, 8), 2); /* unaligned: torn */
    assert_int_equal(model->pieces(self, 17, 7, p, 8), 3);
    assert_true(p[0].size == 1 && p[1].size == 2 && p[2].size == 4);
    model->forget(self, 12, 1);
    assert_int_equal(values_of(self, 1, 12, 4, v), 1);
    assert_int_equal(values_of(self, 1, 8, 4, v), 2);
}

/* Who does not ask for pieces gets no wrong values: larger ones are split, smaller ones are forgotten. */
static void no_pieces(void **state)
{
    (void)state;
    struct dh_memory m = memory_of(0, false);
    void *self = model->start(&m);
    uint64_t v[DH_MEMORY_CANDIDATES];
    words[1] = 0x1111111122222222;
    model->fork(self, 0, 1);
    write_value(self, 0, 8, 8, 0x3333333344444444);
    write_value(self, 0, 8, 4, 0x55555555);
    assert_int_equal(values_of(self, 1, 8, 4, v), 3);
    assert_true(v[0] == 0x55555555 && v[1] == 0x44444444 && v[2] == 0x22222222);
    assert_int_equal(values_of(self, 1, 12, 4, v), 2);
    assert_int_equal(values_of(self, 1, 8, 8, v), 1);
    assert_int_equal(v[0], 0x3333333355555555);
    write_value(self, 0, 8, 8, 1);
    assert_int_equal(values_of(self, 1, 8, 8, v), 2);
}

/* What others wrote without telling is all that is known of it; a thread too many sees the newest. */
static void unknown(void **state)
{
    (void)state;
    struct dh_memory m = memory_of(0, false);
    void *self = model->start(&m);
    uint64_t v[DH_MEMORY_CANDIDATES];
    words[1] = 0;
    model->fork(self, 0, 1);
    write_value(self, 0, 8, 8, 1);
    assert_int_equal(values_of(self, 1, 8, 8, v), 2);
    assert_int_equal(values_of(self, 9, 8, 8, v), 1);
    words[1] = 5;
    assert_int_equal(values_of(self, 1, 8, 8, v), 1);
    assert_int_equal(v[0], 5);
    write_value(self, 9, 8, 8, 6);
    assert_int_equal(words[1], 6);
    assert_int_equal(values_of(self, 1, 8, 8, v), 1);
    assert_int_equal(v[0], 6);
}

int main(void)
{
    model = dh_memory_model_by_name("hb");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literature),    cmocka_unit_test(random_programs), cmocka_unit_test(figure_7),
        cmocka_unit_test(other_atomics), cmocka_unit_test(small_histories), cmocka_unit_test(oldest_are_removed),
        cmocka_unit_test(collected),     cmocka_unit_test(pieces),          cmocka_unit_test(no_pieces),
        cmocka_unit_test(unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
