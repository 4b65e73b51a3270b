/* Total and partial store order against the axioms, and what drains do. */
#include "memory_programs.h"
#include "memory_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void axioms_tso(const struct litmus *l, struct outcomes *out)
{
    oracle_axiomatic(ORACLE_TSO, l, out);
}

static void axioms_pso(const struct litmus *l, struct outcomes *out)
{
    oracle_axiomatic(ORACLE_PSO, l, out);
}

static void literature_tso(void **state)
{
    (void)state;
    assert_int_equal(check_rows(dh_memory_model_by_name("tso"), 'T', litmus_rows, LITMUS_ROWS, axioms_tso), 0);
}

static void literature_pso(void **state)
{
    (void)state;
    assert_int_equal(check_rows(dh_memory_model_by_name("pso"), 'P', litmus_rows, LITMUS_ROWS, axioms_pso), 0);
}

/* Each by its axioms, and each within the next weaker one. */
static void random_programs(void **state)
{
    (void)state;
    static struct outcomes sc, tso, pso, theirs;
    uint64_t seed = 1;
    for (unsigned i = how_many(60); i; i--) {
        struct litmus l;
        struct litmus_taste taste = {.threads = i % 4 ? 2 : 3,
                                     .ops = i % 4 ? 7 : 6,
                                     .variables = 2,
                                     .orders = i % 2 ? "0" : "01235",
                                     .updates = i % 3 == 0,
                                     .fences = true,
                                     .locks = i % 5 == 0,
                                     .dependencies = i % 7 == 0};
        litmus_random(&l, &taste, &seed);
        struct litmus_run run[] = {{.model = dh_memory_model_by_name("sc")},
                                   {.model = dh_memory_model_by_name("tso")},
                                   {.model = dh_memory_model_by_name("pso")}};
        litmus_explore(&run[0], &l, &sc);
        litmus_explore(&run[1], &l, &tso);
        axioms_tso(&l, &theirs);
        assert_true(agree(&l, "tso", &tso, "axioms", &theirs));
        litmus_explore(&run[2], &l, &pso);
        axioms_pso(&l, &theirs);
        assert_true(agree(&l, "pso", &pso, "axioms", &theirs));
        assert_true(outcomes_within(&sc, &tso) && outcomes_within(&tso, &pso));
    }
}

/* ---- buffers by hand ---- */

static void *start(struct dh_memory *m, const char *name)
{
    *m = words_memory(2);
    return dh_memory_model_by_name(name)->start(m);
}

static uint64_t value_of(const char *name, void *self, uint32_t thread, uint64_t address, unsigned size)
{
    struct dh_candidate c[2];
    struct dh_memory_access a = {.thread = thread, .address = address, .size = (uint8_t)size};
    assert_int_equal(dh_memory_model_by_name(name)->load(self, &a, c, 2), 1);
    return c[0].value;
}

static void write_value(const char *name, void *self, uint32_t thread, uint64_t address, uint64_t value)
{
    struct dh_memory_access a = {.thread = thread, .address = address, .size = 8};
    dh_memory_model_by_name(name)->store(self, &a, value);
}

static void drains(void **state)
{
    (void)state;
    struct dh_memory m;
    struct dh_memory_drain step[8];
    const struct dh_memory_model *pso = dh_memory_model_by_name("pso");
    void *self = start(&m, "pso");
    write_value("pso", self, 0, 16, 1);
    write_value("pso", self, 0, 8, 2);
    write_value("pso", self, 0, 8, 3);
    assert_int_equal(pso->enabled_steps(self, step, 8), 2);
    assert_true(step[0].address == 8 && step[0].value == 2 && step[1].address == 16);
    assert_int_equal(value_of("pso", self, 0, 8, 8), 3);
    assert_int_equal(value_of("pso", self, 1, 8, 8), 0);
    struct dh_memory_access theirs = {.thread = 1, .address = 8, .size = 8};
    struct dh_candidate newer;
    assert_true(pso->waiting(self, &theirs, &newer) && newer.value == 3 && newer.thread == 0);
    theirs.thread = 0;
    assert_false(pso->waiting(self, &theirs, &newer));
    pso->step(self, &step[0]);
    assert_int_equal(words[1], 2);
    assert_int_equal(value_of("pso", self, 1, 8, 8), 2);
    pso->forget(self, 16, 8);
    assert_int_equal(pso->enabled_steps(self, step, 8), 1);
    pso->fence(self, 0, DH_ORDER_SEQ_CST);
    assert_int_equal(words[1], 3);
    assert_int_equal(words[2], 0);
    assert_int_equal(pso->enabled_steps(self, step, 8), 0);
}

/* Another size makes all stores leave; too many of them make the oldest leave. */
static void forced(void **state)
{
    (void)state;
    struct dh_memory m;
    struct dh_access_piece p[4];
    const struct dh_memory_model *tso = dh_memory_model_by_name("tso");
    void *self = start(&m, "tso");
    write_value("tso", self, 0, 8, 0x0000000500000007);
    assert_int_equal(words[1], 0);
    assert_int_equal(tso->pieces(self, 12, 4, p, 4), 1);
    assert_int_equal(words[1], 0x0000000500000007);
    assert_int_equal(m.lost.narrowed, 1);
    assert_int_equal(value_of("tso", self, 1, 12, 4), 5);
    for (uint64_t i = 1; i <= 70; i++)
        write_value("tso", self, 0, 16, i);
    assert_int_equal(words[2], 6);
    assert_int_equal(m.lost.removed, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literature_tso), cmocka_unit_test(literature_pso), cmocka_unit_test(random_programs),
        cmocka_unit_test(drains),         cmocka_unit_test(forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
