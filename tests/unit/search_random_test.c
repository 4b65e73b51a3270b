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

static void priorities_reach_all_ends(void **state)
{
    (void)state;
    reach_all_ends("pct", 6000);
    reach_all_ends("pos", 4000);
}

static void active_testing_reaches_all_ends(void **state)
{
    (void)state;
    reach_all_ends("active", 6000);
}

/* Without a bound it comes everywhere, and says that it did; with one it says that there is more. */
static void bounded_search_reaches_all_ends(void **state)
{
    (void)state;
    unsigned compared = 0;
    for (unsigned i = 0; i < MODEL_PROGRAMS; i++) {
        struct model_result all, some;
        struct dh_search search;
        if (!model_enumerate(&model_programs[i], false, 10000000, &all) || all.classes.n > 40) {
            model_result_release(&all);
            continue;
        }
        model_search_init(&search, 1);
        model_explore(&model_programs[i], dh_strategy_by_name("bounded"), &search, 20000, false, &some);
        if (some.exhausted) {
            assert_int_equal(some.ends.n, all.ends.n);
            assert_int_equal(search.statistics.bounded, 0);
            assert_true(model_programs[i].spins || some.classes.n == all.classes.n);
            compared++;
        }
        model_result_release(&some);
        model_search_release(&search);
        model_search_init(&search, 1);
        search.preemptions_max = 0;
        model_explore(&model_programs[i], dh_strategy_by_name("bounded"), &search, 20000, false, &some);
        assert_true(some.exhausted);
        assert_true(some.ends.n == all.ends.n || search.statistics.bounded);
        model_result_release(&all);
        model_result_release(&some);
        model_search_release(&search);
    }
    assert_true(compared > 30);
}

/* Two preemptions are needed to lose an update of each of two, and one for a lock cycle. */
static void few_preemptions_find_a_deadlock(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MODEL_PROGRAMS; i++) {
        if (strcmp(model_programs[i].name, "lock cycle"))
            continue;
        struct dh_search search;
        struct model_result r;
        model_search_init(&search, 1);
        search.preemptions_max = 0;
        model_explore(&model_programs[i], dh_strategy_by_name("bounded"), &search, 1000, true, &r);
        assert_true(r.exhausted && !r.blocked);
        model_result_release(&r);
        model_search_release(&search);
        model_search_init(&search, 1);
        search.preemptions_max = 1;
        model_explore(&model_programs[i], dh_strategy_by_name("bounded"), &search, 1000, true, &r);
        assert_true(!r.exhausted && r.blocked);
        model_result_release(&r);
        model_search_release(&search);
        return;
    }
    fail();
}

/* A thread that can only time out, and would try again for ever, does not keep the others from beginning. */
static void bounded_search_times_out_last(void **state)
{
    (void)state;
    struct dh_search search;
    model_search_init(&search, 1);
    const struct dh_strategy *bounded = dh_strategy_by_name("bounded");
    void *self = bounded->start(&search);
    struct dh_actor actors[3] = {{.step = {.kind = DH_STEP_WAIT, .flags = DH_STEP_TIMED}, .alternatives = 2},
                                 {.step = {.kind = DH_STEP_BEGIN}, .enabled = 1, .alternatives = 1},
                                 {.step = {.kind = DH_STEP_BEGIN}, .enabled = 1, .alternatives = 1}};
    struct dh_decision now = {.actors = actors, .count = 3};
    static const uint32_t in_turn[] = {1, 2, 0};
    for (unsigned i = 0; i < 3; i++) {
        assert_true(bounded->begin(self));
        struct dh_choice c = bounded->choose(self, &now);
        assert_int_equal(c.thread, in_turn[i]);
        assert_int_equal(c.alternative, in_turn[i] ? 0 : 1);
    }
    assert_false(bounded->begin(self));
    model_search_release(&search);
}

/* A thread that would go on for ever does not keep the others from their steps. */
static void priorities_starve_nobody(void **state)
{
    enum { THREADS = 5, SCHEDULES = 50, STEPS = 40000 };
    (void)state;
    struct dh_search search;
    model_search_init(&search, 1);
    search.depth_max = STEPS;
    const struct dh_strategy *pct = dh_strategy_by_name("pct");
    void *self = pct->start(&search);
    struct dh_actor actors[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        actors[i] = (struct dh_actor){.step = {.kind = DH_STEP_YIELD}, .enabled = 1, .alternatives = 1};
    for (unsigned i = 0; i < SCHEDULES; i++) {
        struct dh_decision now = {.actors = actors, .count = THREADS, .last = UINT32_MAX};
        unsigned steps[THREADS] = {0};
        assert_true(pct->begin(self));
        for (; now.depth < STEPS; now.depth++) {
            now.last = pct->choose(self, &now).thread;
            steps[now.last]++;
        }
        for (unsigned k = 0; k < THREADS; k++)
            assert_true(steps[k]);
    }
    model_search_release(&search);
}

/* The waiter looks at a flag and then says that it sleeps, after hundreds of steps of both: of all the points at which
 * it could be held only two lose the wake-up. */
static void priorities_drop_before_a_sleep(void **state)
{
    enum { FLAG, SLEEPING, OWN, OTHERS_OWN, STEPS = 200, SEEDS = 12, SCHEDULES = 4000 };
    static const struct model_program p = {
        .name = "missed wake-up",
        .threads = 2,
        .line = {{{OP_ADD, OWN, 1, 1},
                  {OP_ADD_LOCAL, 0, 1, 0},
                  {OP_JUMP_UNLESS, 0, STEPS, 0},
                  {OP_ALOAD, FLAG, 1, 0},
                  {OP_JUMP_IF, 1, 1, 7},
                  {OP_ASTORE, SLEEPING, 1, 0},
                  {OP_SEM_WAIT, 0, 0, 0}},
                 {{OP_ADD, OTHERS_OWN, 1, 1},
                  {OP_ADD_LOCAL, 0, 1, 0},
                  {OP_JUMP_UNLESS, 0, STEPS, 0},
                  {OP_ASTORE, FLAG, 1, 0},
                  {OP_ALOAD, SLEEPING, 1, 0},
                  {OP_JUMP_UNLESS, 1, 1, 7},
                  {OP_SEM_POST, 0, 0, 0}}},
    };
    uint64_t schedules = 0;
    (void)state;
    for (unsigned i = 0; i < SEEDS; i++) {
        struct model_result r;
        struct dh_search search;
        model_search_init(&search, 1 + i);
        model_explore(&p, dh_strategy_by_name("pct"), &search, SCHEDULES, true, &r);
        assert_true(r.blocked);
        schedules += r.schedules;
        model_result_release(&r);
        model_search_release(&search);
    }
    assert_true(schedules / SEEDS < 100);
}

/* What comes after a beginning is all that can: the classes of all beginnings of one step together are the classes of
 * the program. */
static void follow_goes_on_from_a_prefix(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MODEL_PROGRAMS; i++) {
        struct model_result all, some;
        struct model_set together = {0};
        struct model_state s;
        model_enumerate(&model_programs[i], false, 10000000, &all);
        model_start(&model_programs[i], &s);
        for (uint32_t t = 0; t < model_programs[i].threads && !model_programs[i].spins; t++) {
            struct dh_actor actor;
            model_actor(&model_programs[i], &s, t, &actor);
            if (actor.ended || !actor.enabled)
                continue;
            struct dh_choice first = {t, 0};
            struct dh_search search;
            model_search_init(&search, 1);
            search.prefix = &first;
            search.prefix_length = 1;
            search.then = dh_strategy_by_name("dpor");
            model_explore(&model_programs[i], dh_strategy_by_name("follow"), &search, 20000, false, &some);
            assert_true(some.exhausted && !search.statistics.diverged);
            for (size_t k = 0; k < some.classes.room; k++)
                if (some.classes.at[k])
                    model_set_add(&together, some.classes.at[k]);
            model_result_release(&some);
            model_search_release(&search);
        }
        assert_true(model_programs[i].spins || together.n == all.classes.n);
        model_set_release(&together);
        model_result_release(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_agrees_with_all_orders),   cmocka_unit_test(random_walk_reaches_all_ends),
        cmocka_unit_test(priorities_reach_all_ends),       cmocka_unit_test(active_testing_reaches_all_ends),
        cmocka_unit_test(bounded_search_reaches_all_ends), cmocka_unit_test(few_preemptions_find_a_deadlock),
        cmocka_unit_test(bounded_search_times_out_last),   cmocka_unit_test(follow_goes_on_from_a_prefix),
        cmocka_unit_test(priorities_starve_nobody),        cmocka_unit_test(priorities_drop_before_a_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
