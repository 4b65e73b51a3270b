/* The sequentially consistent model allows what interleaving does, and nothing else. */
#include "memory_programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct dh_memory_model *model;

static void axioms(const struct litmus *l, struct outcomes *out)
{
    oracle_axiomatic(ORACLE_SC, l, out);
}

static void literature(void **state)
{
    (void)state;
    assert_int_equal(check_rows(model, 'S', litmus_rows, LITMUS_ROWS, axioms), 0);
}

static void random_programs(void **state)
{
    (void)state;
    static struct outcomes ours, theirs;
    uint64_t seed = 1;
    for (unsigned i = how_many(100); i; i--) {
        struct litmus l;
        struct litmus_run run = {.model = model};
        struct litmus_taste taste = {.threads = 3,
                                     .ops = 6,
                                     .variables = 2,
                                     .orders = "0125",
                                     .updates = i % 2,
                                     .locks = i % 3 == 0,
                                     .dependencies = true};
        litmus_random(&l, &taste, &seed);
        litmus_explore(&run, &l, &ours);
        axioms(&l, &theirs);
        assert_true(agree(&l, "sc", &ours, "axioms", &theirs));
    }
}

int main(void)
{
    model = dh_memory_model_by_name("sc");
    const struct CMUnitTest tests[] = {cmocka_unit_test(literature), cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
