/* Locks of one kind: orders that a program keeps are seen, those that it does not keep are not made up. */
#include "analysis/lock_pair_order.h"
#include "model/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The order of the first two locks taken in the function `eat`. */
static int order_in(const char *text)
{
    struct dh_program p;
    struct dh_err err = {0};
    struct dh_lock_pair_order o;
    uint32_t locks[2] = {0}, n = 0;
    if (!dh_program_parse(&p, "t", text, &err))
        fail_msg("%s", err.text);
    const struct dh_function *f = &p.functions.at[dh_program_find_function(&p, "eat")];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = p.blocks.at[b].inst; i < p.blocks.at[b].inst + p.blocks.at[b].n_insts; i++)
            if (p.insts.at[i].op == DH_I_LOCK && n < 2)
                locks[n++] = i;
    dh_lock_pair_order_init(&o, &p);
    int sign = dh_lock_pair_order(&o, locks[0], locks[n == 2 ? 1 : 0]);
    dh_lock_pair_order_release(&o);
    dh_program_release(&p);
    return sign;
}

#define EAT                                                                                                            \
    "function eat r0:p r1:p\nb0\n"                                                                                     \
    "  lock r0 ok=zero\n  r2:p = offset r1 offset=8\n  lock r2 ok=zero\n  return\n"

static void nobody_orders(void **state)
{
    (void)state;
    assert_int_equal(order_in(EAT "function f r0:p r1:p\nb0\n  call @eat r0 r1\n  return\n"), 0);
}

/* if (b < a) swap(&a, &b); eat(a, b) */
#define SWAP(how)                                                                                                      \
    EAT "function f r0:p r1:p\nb0 -> b1 b2\n  r2:d = compare r1 r0 op=" how "\n  branch r2\n"                          \
        "b1 -> b2\n  jump\n"                                                                                           \
        "b2\n  r3:p = phi r0 b0 r1 b1\n  r4:p = phi r1 b0 r0 b1\n  call @eat r3 r4\n  return\n"

static void swapped_by_comparison(void **state)
{
    (void)state;
    assert_int_equal(order_in(SWAP("lt")), 1);
    assert_int_equal(order_in(SWAP("gt")), -1);
    assert_int_equal(order_in(SWAP("eq")), 0);
    /* One caller that does not swap is enough to lose the order. */
    assert_int_equal(order_in(SWAP("lt") "function g r0:p r1:p\nb0\n  call @eat r0 r1\n  return\n"), 0);
}

static void swapped_by_number(void **state)
{
    (void)state;
    assert_int_equal(order_in("global all size=80\n"
                              "function eat r0:d r1:d\nb0 -> b1 b2\n"
                              "  r2:p = index &all r0 size=8\n  r3:p = load r2 size=8\n"
                              "  r4:p = index &all r1 size=8\n  r5:p = load r4 size=8\n"
                              "  r6:d = compare r0 r1 op=gt\n  branch r6\n"
                              "b1 -> b2\n"
                              "  r7:p = index &all r1 size=8\n  r8:p = load r7 size=8\n"
                              "  r9:p = index &all r0 size=8\n  r10:p = load r9 size=8\n  jump\n"
                              "b2\n  r11:p = phi r3 b0 r8 b1\n  r12:p = phi r5 b0 r10 b1\n"
                              "  lock r11 ok=zero\n  lock r12 ok=zero\n  return\n"),
                     1);
}

static void compared_before(void **state)
{
    (void)state;
    assert_int_equal(order_in("function eat r0:p r1:p\nb0 -> b1 b2\n"
                              "  r2:d = load r0 size=4\n  r3:d = load r1 size=4\n"
                              "  r4:d = compare r2 r3 op=lt\n  branch r4\n"
                              "b1\n  lock r0 ok=zero\n  lock r1 ok=zero\n  return\n"
                              "b2\n  return\n"),
                     1);
}

static void one_after_the_other(void **state)
{
    (void)state;
    assert_int_equal(order_in("global all size=80\n"
                              "function eat\nb0 -> b1\n  jump\n"
                              "b1 -> b1 b2\n  r0:d = phi 0 b0 r1 b1\n  r2:p = index &all r0 size=40\n"
                              "  lock r2 ok=zero\n  r1:d = binary r0 1 op=add\n"
                              "  r3:d = compare r1 2 op=lt\n  branch r3\n"
                              "b2\n  return\n"),
                     1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_orders),   cmocka_unit_test(swapped_by_comparison), cmocka_unit_test(swapped_by_number),
        cmocka_unit_test(compared_before), cmocka_unit_test(one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
