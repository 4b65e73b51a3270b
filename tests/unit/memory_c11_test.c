/* RC11 against its axioms. */
#include "memory_c11_programs.h"
#include "memory_programs.h"
#include "memory_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void axioms(const struct litmus *l, struct outcomes *out)
{
    oracle_axiomatic(ORACLE_RC11, l, out);
}

static const struct dh_memory_model *model;

static void literature(void **state)
{
    (void)state;
    assert_int_equal(check_rows(model, 'C', litmus_rows, LITMUS_ROWS, axioms), 0);
    assert_int_equal(check_rows(model, 'C', c11_rows, C11_ROWS, axioms), 0);
}

static struct litmus_taste taste_of(unsigned i)
{
    static const char *const orders[] = {"1", "0123", "5", "15", "012345", "01"};
    return (struct litmus_taste){.threads = 3,
                                 .ops = 6 + i % 2,
                                 .variables = 2,
                                 .orders = orders[i % 6],
                                 .updates = i % 4 < 2,
                                 .fences = i % 3 < 2,
                                 .locks = i % 11 == 0,
                                 .dependencies = i % 5 == 0};
}

static void explore(const char *name, const struct litmus *l, struct outcomes *out)
{
    struct litmus_run run = {.model = dh_memory_model_by_name(name)};
    litmus_explore(&run, l, out);
    assert_int_equal(run.lost.removed + run.lost.narrowed + run.lost.no_memory, 0);
}

static bool has_sc(const struct litmus *l)
{
    for (unsigned t = 0; t < l->threads; t++)
        for (unsigned i = 0; i < l->n[t]; i++)
            if (l->op[t][i].order == DH_ORDER_SEQ_CST)
                return true;
    return false;
}

static void within(const struct litmus *l, const char *name, const struct outcomes *a, const char *other,
                   const struct outcomes *b)
{
    if (!outcomes_within(a, b))
        agree(l, name, a, other, b);
    assert_true(outcomes_within(a, b));
}

/* What processors do with compiled programs is allowed, and hb, which knows no coherence, allows more. */
static void random_programs(void **state)
{
    (void)state;
    static struct outcomes ours, theirs;
    uint64_t seed = 1;
    for (unsigned i = how_many(120); i; i--) {
        struct litmus l;
        struct litmus_taste taste = taste_of(i);
        litmus_random(&l, &taste, &seed);
        explore("c11", &l, &ours);
        axioms(&l, &theirs);
        assert_true(agree(&l, "c11", &ours, "axioms", &theirs));
        explore("sc", &l, &theirs);
        within(&l, "sc", &theirs, "c11", &ours);
        if (i % 4 == 0) {
            explore("pso", &l, &theirs);
            within(&l, "pso", &theirs, "c11", &ours);
        }
        if (!taste.updates && !has_sc(&l)) {
            explore("hb", &l, &theirs);
            within(&l, "c11", &ours, "hb", &theirs);
        }
    }
}

/* What is forgotten for lack of room leaves fewer outcomes, and none that is not allowed. */
static void small_histories(void **state)
{
    (void)state;
    static struct outcomes ours, theirs;
    uint64_t seeds = 3, lost = 0;
    for (unsigned i = how_many(60); i; i--) {
        struct litmus l;
        struct litmus_taste taste = taste_of(i);
        struct litmus_run run = {.model = model, .history = 1 + i % 3};
        litmus_random(&l, &taste, &seeds);
        litmus_explore(&run, &l, &ours);
        axioms(&l, &theirs);
        within(&l, "c11", &ours, "axioms", &theirs);
        lost += run.lost.removed + run.lost.narrowed;
    }
    assert_true(lost > 0);
}

/* ---- long runs ---- */

static uint64_t seed;

static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static void act(void *self, bool sc, uint64_t value)
{
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    struct dh_memory_access a = {.thread = pick(4), .size = 8, .address = 8 * pick(3), .updates = pick(4) == 0};
    a.order = (uint8_t)(1 + pick(sc ? 5 : 4));
    if (!a.updates && pick(2)) {
        model->store(self, &a, value);
        return;
    }
    unsigned n = model->load(self, &a, list, DH_MEMORY_CANDIDATES), which = pick(n);
    assert_true(n > 0);
    assert_int_equal(list[0].value, words[a.address / 8]);
    if (a.updates)
        model->update(self, &a, list[which].index, value);
    else
        model->took(self, &a, list[which].index);
    if (pick(200) == 0)
        model->forget(self, 8 * pick(3), 8);
    if (pick(20) == 0)
        model->release(self, pick(4), 77);
    if (pick(20) == 0)
        model->acquire(self, pick(4), 77);
}

static unsigned values_of(void *self, uint64_t address, struct dh_candidate *list)
{
    struct dh_memory_access a = {.thread = 0, .size = 8, .address = address, .order = DH_ORDER_NONE};
    return model->load(self, &a, list, DH_MEMORY_CANDIDATES);
}

/* 2+2W with fences, one thread after the other: that x ends as 1 is possible if y's order, not looked at yet, is the
 * other way round than its stores came; memory follows. */
static void late_decisions(void **state)
{
    (void)state;
    struct dh_memory m = words_memory(4);
    void *self = model->start(&m);
    struct dh_candidate list[DH_MEMORY_CANDIDATES];
    memset(words, 0, sizeof words);
    for (uint32_t t = 1; t <= 2; t++)
        model->fork(self, 0, t);
    for (uint32_t t = 1; t <= 2; t++) {
        struct dh_memory_access a = {.thread = t, .size = 8, .address = 8 * t, .order = DH_ORDER_RELAXED};
        model->store(self, &a, 1);
        model->fence(self, t, DH_ORDER_SEQ_CST);
        a.address = 8 * (3 - t);
        model->store(self, &a, 2);
    }
    for (uint32_t t = 1; t <= 2; t++)
        model->join(self, 0, t);
    assert_true(words[1] == 2 && words[2] == 1);
    assert_int_equal(values_of(self, 8, list), 2);
    assert_true(list[0].value == 2 && list[1].value == 1);
    struct dh_memory_access a = {.thread = 0, .size = 8, .address = 8};
    model->took(self, &a, list[1].index);
    assert_true(words[1] == 1 && words[2] == 2);
    assert_int_equal(values_of(self, 16, list), 1);
    assert_int_equal(list[0].value, 2);
    assert_int_equal(m.lost.narrowed, 0);
}

/* Whatever is given up: there is always an answer, and the first is what memory holds. */
static void long_runs(void **state)
{
    (void)state;
    seed = 7;
    for (unsigned round = 0; round < 40; round++) {
        struct dh_memory m = words_memory(4);
        m.history = round % 3 ? 0 : 5;
        void *self = model->start(&m);
        for (uint32_t t = 1; t < 4; t++)
            model->fork(self, 0, t);
        for (uint64_t i = 1; i <= 500; i++)
            act(self, round % 2, i);
        assert_int_equal(m.lost.no_memory, 0);
    }
}

int main(void)
{
    model = dh_memory_model_by_name("c11");
    const struct CMUnitTest tests[] = {cmocka_unit_test(literature), cmocka_unit_test(random_programs),
                                       cmocka_unit_test(small_histories), cmocka_unit_test(long_runs),
                                       cmocka_unit_test(late_decisions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
