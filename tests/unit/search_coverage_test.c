/* Pairs of places in both orders. */
#include "search/coverage.h"
#include "search_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void step(struct dh_coverage *c, uint32_t thread, unsigned kind, uint64_t at, uint32_t site)
{
    struct dh_step s = {.kind = (uint8_t)kind, .object = at, .size = 8, .site = site};
    s.flags = kind == DH_STEP_WRITE ? DH_STEP_WRITES : DH_STEP_READS;
    dh_coverage_step(c, thread, &s);
}

static void expect(const struct dh_coverage *c, uint64_t pairs, uint64_t both)
{
    uint64_t n, m;
    dh_coverage_count(c, &n, &m);
    assert_int_equal(n, pairs);
    assert_int_equal(m, both);
}

static void counts_pairs(void **state)
{
    (void)state;
    struct dh_search search;
    model_search_init(&search, 1);
    struct dh_coverage *c = dh_coverage_new(&search);
    dh_coverage_begin(c);
    step(c, 0, DH_STEP_WRITE, 0x1000, 1);
    step(c, 0, DH_STEP_READ, 0x1000, 2); /* its own: no pair */
    expect(c, 0, 0);
    step(c, 1, DH_STEP_READ, 0x1000, 3); /* after the write; two reads are none */
    expect(c, 1, 0);
    step(c, 0, DH_STEP_WRITE, 0x1000, 1); /* after the read: both */
    expect(c, 1, 1);
    step(c, 1, DH_STEP_WRITE, 0x2000, 4); /* elsewhere */
    expect(c, 1, 1);
    dh_coverage_begin(c); /* what was before is not before this */
    step(c, 1, DH_STEP_WRITE, 0x1000, 5);
    expect(c, 1, 1);
    step(c, 0, DH_STEP_WRITE, 0x1000, 5); /* one place, two threads */
    expect(c, 2, 2);
    model_search_release(&search);
}

static void counts_many(void **state)
{
    (void)state;
    struct dh_search search;
    model_search_init(&search, 1);
    struct dh_coverage *c = dh_coverage_new(&search);
    for (uint32_t round = 0; round < 2; round++) {
        dh_coverage_begin(c);
        for (uint32_t i = 0; i < 5000; i++) {
            step(c, round, DH_STEP_WRITE, 0x1000 + 8 * i, 2 * i + round);
            step(c, !round, DH_STEP_WRITE, 0x1000 + 8 * i, 2 * i + !round);
        }
        expect(c, 5000, round ? 5000 : 0);
    }
    model_search_release(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_pairs), cmocka_unit_test(counts_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
