/* Searches that throw dice: they respect what can be chosen (the interpreter checks), and come everywhere in small
 * programs; the oracle's own two ways of enumerating agree. */
#include "search_programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void oracle_agrees_with_all_orders(void **state)
{
    (void)state;
    unsigned compared = 0;
    for (unsigned i = 0; i < MODEL_PROGRAMS; i++) {
        struct model_result quick, naive;
        assert_true(model_enumerate(&model_programs[i], false, 10000000, &quick));
        if (!model_programs[i].spins && model_enumerate(&model_programs[i], true, 300000, &naive)) {
            assert_int_equal(naive.classes.n, quick.classes.n);
            assert_int_equal(naive.ends.n, quick.ends.n);
            model_result_release(&naive);
            compared++;
        }
        model_result_release(&quick);
    }
    assert_true(compared > 30);
}

static void reach_all_ends(const char *name, uint64_t schedules)
{
    const struct dh_strategy *strategy = dh_strategy_by_name(name);
    assert_non_null(strategy);
    for (unsigned i = 0; i < MODEL_PROGRAMS; i++) {
        struct model_result all, some;
        struct dh_search search;
        model_enumerate(&model_programs[i], false, 10000000, &all);
        model_search_init(&search, 1 + i);
        model_explore(&model_programs[i], strategy, &search, schedules, false, &some);
        if (some.ends.n != all.ends.n)
            print_message("%s: %s reached %zu of %zu ends\n", model_programs[i].name, name, some.ends.n, all.ends.n);
        assert_int_equal(some.ends.n, all.ends.n);
        for (size_t k = 0; k < some.ends.room; k++)
            assert_true(!some.ends.at[k] || model_set_has(&all.ends, some.ends.at[k]));
        assert_int_equal(some.blocked > 0, all.blocked > 0);
        assert_int_equal(some.failed > 0, all.failed > 0);
        model_result_release(&all);
        model_result_release(&some);
        model_search_release(&search);
    }
}

static void random_walk_reaches_all_ends(void **state)
{
    (void)state;
    reach_all_ends("random", 4000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_agrees_with_all_orders),
        cmocka_unit_test(random_walk_reaches_all_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
