/* Is any watched element in a range? As going through all addresses says. */
#include "runtime/stale/element_sampling.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static bool naively(uint64_t mask, uint64_t want, uint64_t from, uint64_t size)
{
    for (uint64_t at = from; at < from + size; at++)
        if ((at & mask) == want)
            return true;
    return false;
}

static void as_one_by_one(void **state)
{
    (void)state;
    for (uint64_t mask = 0; mask < 64; mask++)
        for (uint64_t want = 0; want < 64; want++)
            for (uint64_t from = 0; from < 128 && (want & ~mask) == 0; from++)
                for (uint64_t size = 1; size < 80; size += size < 20 ? 1 : 13)
                    assert_int_equal(dh_stale_is_any_sampled(mask, want, from, size), naively(mask, want, from, size));
}

/* Before there are threads, and when it cost too much, no address is watched. */
static void nothing(void **state)
{
    (void)state;
    assert_false(dh_stale_is_any_sampled(UINT64_MAX, 0, 0x7f0012345678, 1 << 20));
    assert_false(dh_stale_is_any_sampled(UINT64_MAX, 0, 0x555555554000, UINT64_MAX / 2));
    assert_true(dh_stale_is_any_sampled(0, 0, 0x555555554000, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_one_by_one), cmocka_unit_test(nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
