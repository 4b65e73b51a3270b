/* Vector clocks are as arrays of full width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "base/vclock.h"
#include "base_random.h"

#include <string.h>

enum { ROUNDS = 3000, WIDTH = 9 };

/* One clock has its entries within, the other elsewhere. */
struct within {
    uint32_t n;
    uint32_t at[WIDTH];
};

struct elsewhere {
    uint32_t *at;
    uint32_t n;
};

static void assert_within(const struct within *c, const uint32_t *naive)
{
    for (uint32_t i = 0; i < WIDTH + 2; i++)
        assert_int_equal(dh_vclock_get(c, i), i < WIDTH ? naive[i] : 0);
}

static void assert_elsewhere(const struct elsewhere *c, const uint32_t *naive)
{
    for (uint32_t i = 0; i < WIDTH + 2; i++)
        assert_int_equal(dh_vclock_get(c, i), i < WIDTH ? naive[i] : 0);
}

static enum dh_vclock_order naive_compare(const uint32_t *a, const uint32_t *b)
{
    bool less = false, more = false;
    for (uint32_t i = 0; i < WIDTH; i++) {
        less |= a[i] < b[i];
        more |= a[i] > b[i];
    }
    return less && more ? DH_VCLOCK_CONCURRENT : less ? DH_VCLOCK_BEFORE : more ? DH_VCLOCK_AFTER : DH_VCLOCK_EQUAL;
}

static void naive_join(uint32_t *to, const uint32_t *from)
{
    for (uint32_t i = 0; i < WIDTH; i++)
        if (from[i] > to[i])
            to[i] = from[i];
}

static void clocks_are_as_naive_ones(void **state)
{
    (void)state;
    uint64_t random = 11;
    uint32_t room[WIDTH], a_naive[WIDTH] = {0}, b_naive[WIDTH] = {0};
    struct within a;
    struct elsewhere b = {room, 0};
    /* Storage is not cleared: entries at or above n are never looked at. */
    memset(a.at, 0xAA, sizeof a.at);
    memset(room, 0xAA, sizeof room);
    a.n = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t i = base_random(&random, WIDTH), time = base_random(&random, 4);
        switch (base_random(&random, 10)) {
        case 0:
            dh_vclock_set(&a, i, time);
            a_naive[i] = time;
            break;
        case 1:
            dh_vclock_set(&b, i, time);
            b_naive[i] = time;
            break;
        case 2:
            dh_vclock_tick(&a, i);
            a_naive[i]++;
            break;
        case 3:
            dh_vclock_tick(&b, i);
            b_naive[i]++;
            break;
        case 4:
            dh_vclock_join(&a, &b);
            naive_join(a_naive, b_naive);
            break;
        case 5:
            dh_vclock_join(&b, &a);
            naive_join(b_naive, a_naive);
            break;
        case 6:
            dh_vclock_copy(&b, &a);
            memcpy(b_naive, a_naive, sizeof a_naive);
            break;
        case 7:
            dh_vclock_trim(&a, 0);
            assert_true(!a.n || a.at[a.n - 1]);
            dh_vclock_trim(&b, b.n);
            break;
        case 8:
            dh_vclock_widen(&b, i);
            assert_true(b.n >= i);
            break;
        default:
            if (base_random(&random, 3) == 0) {
                dh_vclock_clear(&a);
                memset(a_naive, 0, sizeof a_naive);
            }
        }
        assert_within(&a, a_naive);
        assert_elsewhere(&b, b_naive);
        enum dh_vclock_order order = naive_compare(a_naive, b_naive);
        assert_int_equal(dh_vclock_compare(&a, &b), order);
        assert_int_equal(dh_vclock_leq(&a, &b), order == DH_VCLOCK_EQUAL || order == DH_VCLOCK_BEFORE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(clocks_are_as_naive_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
