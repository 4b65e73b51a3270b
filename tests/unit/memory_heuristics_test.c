/* The five heuristics on lists of candidates, and that none of them keeps a loop waiting for ever. */
#include "memory/heuristics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void *allocate(struct dh_memory *m, size_t size)
{
    (void)m;
    return calloc(1, size);
}

static struct dh_memory memory = {.memory = allocate};

/* 42 is the newest, then 13, then 0; a fourth is yet to come. */
static const struct dh_candidate list[] = {
    {.value = 42}, {.value = 13}, {.value = 0}, {.value = 99, .is_future = true}};

static uint64_t read_at(struct dh_picker *p, uint32_t thread, uint32_t site, uint64_t address, unsigned n)
{
    struct dh_memory_access a = {.thread = thread, .site = site, .address = address, .size = 8};
    unsigned i = dh_picker_pick(p, &a, list, n);
    assert_true(i < n);
    return list[i].value;
}

static struct dh_picker *new(enum dh_heuristic h, uint32_t fair_after)
{
    struct dh_picker *p = dh_picker_new(&memory, h, fair_after);
    assert_non_null(p);
    dh_picker_begin(p, 5);
    return p;
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(dh_heuristic_by_name("newest"), DH_HEURISTIC_newest);
    assert_int_equal(dh_heuristic_by_name("random-different"), DH_HEURISTIC_random_different);
    assert_int_equal(dh_heuristic_by_name("newer"), DH_HEURISTIC_COUNT);
    assert_int_equal(dh_heuristic_by_name("old"), DH_HEURISTIC_COUNT);
}

static void each(void **state)
{
    (void)state;
    struct dh_picker *newest = new (DH_HEURISTIC_newest, 0), *oldest = new (DH_HEURISTIC_oldest, 0);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(read_at(newest, 0, 1, 8, 3), 42);
        assert_int_equal(read_at(oldest, 0, 1, 8, 3), 0);
        assert_int_equal(read_at(oldest, 0, 2, 8, 4), 0); /* of those that have happened */
        assert_int_equal(read_at(oldest, 0, 1, 8, 1), 42);
    }
    /* 004, Fig. 8: alternately, so that what was checked is not what is used */
    struct dh_picker *different = new (DH_HEURISTIC_oldest_different, 0);
    assert_int_equal(read_at(different, 0, 1, 8, 2), 13);
    assert_int_equal(read_at(different, 0, 2, 8, 2), 42);
    assert_int_equal(read_at(different, 0, 1, 8, 2), 13);
    assert_int_equal(read_at(different, 0, 2, 8, 3), 0);
    assert_int_equal(read_at(different, 0, 2, 16, 3), 0); /* another variable */
    assert_int_equal(read_at(different, 0, 2, 8, 3), 13);
}

static void random_ones(void **state)
{
    (void)state;
    struct dh_picker *any = new (DH_HEURISTIC_random, 1000), *other = new (DH_HEURISTIC_random_different, 1000);
    unsigned seen[100] = {0};
    uint64_t last = 7;
    for (unsigned i = 0; i < 4000; i++) {
        seen[read_at(any, 0, 1, 8, 4)]++;
        uint64_t value = read_at(other, 0, 1, 8, 3);
        assert_true(value != last);
        last = value;
    }
    assert_true(seen[42] > 900 && seen[13] > 900 && seen[0] > 900 && seen[99] > 900);
    struct dh_picker *again = new (DH_HEURISTIC_random, 1000), *same = new (DH_HEURISTIC_random, 1000);
    dh_picker_begin(again, 3);
    dh_picker_begin(same, 3);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(read_at(again, 0, 1, 8, 3), read_at(same, 0, 1, 8, 3));
}

/* Every thread at every site, however they take turns. */
static void fairness(void **state)
{
    (void)state;
    for (unsigned h = 0; h < DH_HEURISTIC_COUNT; h++)
        for (unsigned candidates = 2; candidates <= 4; candidates++) {
            struct dh_picker *p = new (h, 8);
            unsigned waits[3][200] = {{0}};
            for (unsigned i = 0; i < 200000; i++) {
                unsigned thread = i % 3, site = i / 3 % 200;
                uint64_t value = read_at(p, thread, site, 8, candidates);
                waits[thread][site] = value == 42 ? 0 : waits[thread][site] + 1;
                assert_true(waits[thread][site] <= 8 * DH_FAIR_FACTOR);
            }
        }
    struct dh_picker *p = new (DH_HEURISTIC_oldest, 3);
    for (unsigned i = 1; i <= 40; i++)
        assert_int_equal(read_at(p, 0, 1, 8, 3), i % 4 ? 0 : 42);
}

/* A word whose halves come apart: that the upper one never changes says nothing about the lower one. */
static void halves(void **state)
{
    (void)state;
    static const struct dh_candidate upper[] = {{.value = 0}, {.value = 0}};
    struct dh_picker *p = new (DH_HEURISTIC_oldest, 3);
    for (unsigned i = 1; i <= 40; i++) {
        struct dh_memory_access a = {.site = 1, .address = 12, .size = 4};
        assert_int_equal(read_at(p, 0, 1, 8, 3), i % 4 ? 0 : 42);
        dh_picker_pick(p, &a, upper, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(each), cmocka_unit_test(random_ones),
                                       cmocka_unit_test(fairness), cmocka_unit_test(halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
