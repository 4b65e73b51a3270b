/* Sets are as arrays of flags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "base/set.h"
#include "base_random.h"

#include <string.h>

enum { ROUNDS = 200, STEPS = 120, BITS = 300 };

static void a_set_of_numbers_is_as_flags(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct dh_u64_set s = {0};
        bool in[BITS] = {false};
        for (unsigned step = 0; step < STEPS; step++) {
            uint32_t i = base_random(&random, BITS);
            uint64_t key = (uint64_t)i << (round % 50);
            assert_int_equal(dh_u64_set_has(&s, key), in[i]);
            assert_int_equal(dh_u64_set_add(&s, key), !in[i]);
            in[i] = true;
        }
        uint32_t n = 0;
        for (uint32_t i = 0; i < BITS; i++) {
            n += in[i];
            assert_int_equal(dh_u64_set_has(&s, (uint64_t)i << (round % 50)), in[i]);
        }
        assert_int_equal(s.n, n);
        dh_u64_set_clear(&s);
        assert_false(dh_u64_set_has(&s, 0));
        dh_u64_set_release(&s);
    }
}

static void a_set_is_walked_as_it_was_filled(void **state)
{
    (void)state;
    struct dh_u64_set s = {0};
    int here[3];
    assert_true(dh_u64_set_add_pointer(&s, &here[2]));
    assert_true(dh_u64_set_add_pointer(&s, &here[0]));
    assert_false(dh_u64_set_add_pointer(&s, &here[2]));
    assert_true(dh_u64_set_has_pointer(&s, &here[0]));
    assert_false(dh_u64_set_has_pointer(&s, &here[1]));
    assert_int_equal(s.n, 2);
    assert_int_equal(s.at[0], (uintptr_t)&here[2]);
    assert_int_equal(s.at[1], (uintptr_t)&here[0]);
    dh_u64_set_release(&s);
}

static void fill(struct dh_bitset *s, bool *in, uint64_t *random)
{
    uint32_t below = 1 + base_random(random, BITS), n = base_random(random, 60);
    while (n--) {
        uint32_t i = base_random(random, below);
        assert_int_equal(dh_bitset_add(s, i), !in[i]);
        in[i] = true;
    }
}

static void bits_are_as_flags(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct dh_bitset s = {0};
        bool in[BITS] = {false};
        fill(&s, in, &random);
        for (size_t i = 0; i < BITS; i++)
            assert_int_equal(dh_bitset_has(&s, i), in[i]);
        assert_false(dh_bitset_has(&s, 64 * (BITS + 1)));
        dh_bitset_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_of_numbers_is_as_flags),
        cmocka_unit_test(a_set_is_walked_as_it_was_filled),
        cmocka_unit_test(bits_are_as_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
