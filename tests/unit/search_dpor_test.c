/* Partial order reduction against the oracle: the same happens-before classes, deadlocks and failures, on programs made
 * by hand and by chance. */
#include "search_chance.h"
#include "search_programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool same_set(const struct model_set *a, const struct model_set *b)
{
    for (size_t i = 0; i < a->room; i++)
        if (a->at[i] && !model_set_has(b, a->at[i]))
            return false;
    return a->n == b->n;
}

/* How many schedules it took; 0: not the same. */
static uint64_t compare(const struct model_program *p, const struct model_result *all, bool loud)
{
    struct model_result found;
    struct dh_search search;
    model_search_init(&search, 1);
    model_explore(p, dh_strategy_by_name("dpor"), &search, 10000000, false, &found);
    bool same = found.exhausted && same_set(&found.ends, &all->ends) && !search.statistics.diverged &&
                (p->spins || same_set(&found.classes, &all->classes));
    if (!same || loud)
        print_message("%-40s %5zu classes, %5zu found, %6lu schedules, %4lu redundant, %3zu of %3zu ends%s\n", p->name,
                      all->classes.n, found.classes.n, found.schedules, search.statistics.redundant, found.ends.n,
                      all->ends.n, same ? "" : " WRONG");
    uint64_t n = same ? found.schedules : 0;
    model_result_release(&found);
    model_search_release(&search);
    return n;
}

static void finds_all_classes_of_programs(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (unsigned i = 0; i < MODEL_PROGRAMS; i++) {
        struct model_result all;
        assert_true(model_enumerate(&model_programs[i], false, 10000000, &all));
        wrong += !compare(&model_programs[i], &all, getenv("LOUD"));
        model_result_release(&all);
    }
    assert_int_equal(wrong, 0);
}

static void show(const struct model_program *p)
{
    for (unsigned t = 0; t < p->threads; t++) {
        print_message("  thread %u:", t);
        for (const struct model_line *l = p->line[t]; l->op; l++)
            print_message(" %d(%d,%d,%d)", l->op, l->a, l->b, l->c);
        print_message("\n");
    }
}

static void finds_all_classes_of_random_programs(void **state)
{
    (void)state;
    uint64_t classes = 0, schedules = 0;
    unsigned compared = 0, blocked = 0, failed = 0;
    unsigned long programs = getenv("PROGRAMS") ? strtoul(getenv("PROGRAMS"), NULL, 0) : 1500;
    for (unsigned i = 0; i < programs; i++) {
        struct model_program p;
        struct model_result all;
        seed = 1000 + i;
        write_program(&p, 2 + pick(3), 3);
        if (!model_enumerate(&p, false, 4000, &all)) {
            model_result_release(&all);
            continue;
        }
        uint64_t n = compare(&p, &all, false);
        if (!n) {
            print_message("seed %u\n", 1000 + i);
            show(&p);
        }
        assert_true(n);
        compared++;
        blocked += all.blocked > 0;
        failed += all.failed > 0;
        classes += all.classes.n;
        schedules += n;
        model_result_release(&all);
    }
    print_message("%u programs, %u can block, %u can fail: %lu classes in %lu schedules\n", compared, blocked, failed,
                  classes, schedules);
    assert_true(compared > programs / 2 && blocked > programs / 20 && failed > programs / 50);
}

/* Every way to end, however often loops turn; and no loop turns for ever. */
static void finds_all_ends_of_spinning_programs(void **state)
{
    (void)state;
    unsigned long programs = getenv("PROGRAMS") ? strtoul(getenv("PROGRAMS"), NULL, 0) / 10 : 200;
    unsigned compared = 0;
    uint64_t schedules = 0;
    for (unsigned i = 0; i < programs; i++) {
        struct model_program p;
        struct model_result all;
        seed = 7000 + i;
        write_spinning_program(&p, 2 + pick(2), 2 + pick(2));
        if (model_enumerate(&p, false, 3000, &all)) {
            uint64_t n = compare(&p, &all, false);
            if (!n) {
                print_message("seed %u\n", 7000 + i);
                show(&p);
            }
            assert_true(n);
            compared++;
            schedules += n;
        }
        model_result_release(&all);
    }
    print_message("%u programs that spin: %lu schedules\n", compared, schedules);
    assert_true(compared > programs / 2);
}

/* All parts together find what is to be found, and share the work. */
static void shards_find_all_classes(void **state)
{
    (void)state;
    uint64_t alone = 0, most = 0, together = 0;
    for (unsigned i = 0; i < 200; i++) {
        struct model_program p;
        struct model_result all, part;
        uint32_t shards = 2 + i % 3;
        struct model_set found = {0};
        seed = 3000 + i;
        write_program(&p, 3 + pick(2), i % 10 ? 3 : 6);
        if (model_enumerate(&p, false, 20000, &all)) {
            uint64_t largest = 0;
            for (uint32_t shard = 0; shard < shards; shard++) {
                struct dh_search search;
                model_search_init(&search, 1);
                search.shard = shard;
                search.shards = shards;
                model_explore(&p, dh_strategy_by_name("dpor"), &search, 1000000, false, &part);
                assert_true(part.exhausted);
                for (size_t k = 0; k < part.classes.room; k++)
                    if (part.classes.at[k])
                        model_set_add(&found, part.classes.at[k]);
                largest = part.schedules > largest ? part.schedules : largest;
                together += part.schedules;
                model_result_release(&part);
                model_search_release(&search);
            }
            if (!same_set(&found, &all.classes))
                print_message("seed %u: %zu of %zu classes\n", 3000 + i, found.n, all.classes.n);
            assert_true(same_set(&found, &all.classes));
            alone += compare(&p, &all, false);
            most += largest;
        }
        model_set_release(&found);
        model_result_release(&all);
    }
    print_message("schedules: %lu alone, %lu by shards, the largest of each %lu\n", alone, together, most);
    assert_true(most < alone * 4 / 5);
}

/* A hundred threads of two writes each; six of them write the same in pairs: two orders for each pair of writes, and
 * that is all. Counts schedules. */
static uint64_t explore_many(unsigned threads, unsigned pairs)
{
    enum { MOST = 1100, WRITES = 2 };
    static struct dh_actor actors[MOST];
    static unsigned written[MOST];
    struct dh_search search;
    uint64_t schedules = 0;
    model_search_init(&search, 1);
    search.depth_max = MOST * WRITES;
    const struct dh_strategy *dpor = dh_strategy_by_name("dpor");
    void *self = dpor->start(&search);
    while (dpor->begin(self)) {
        struct dh_decision m = {actors, threads, UINT32_MAX, 0};
        for (unsigned i = 0; i < threads; i++) {
            bool is_pair = i >= threads - 2 * pairs;
            actors[i] = (struct dh_actor){.enabled = 1, .alternatives = 1};
            actors[i].step = (struct dh_step){.kind = DH_STEP_WRITE, .flags = DH_STEP_WRITES, .size = 8};
            actors[i].step.object = is_pair ? 0x100000 + 8 * ((threads - 1 - i) / 2) : 0x1000 + 8 * i;
            written[i] = is_pair ? WRITES - 1 : 0;
        }
        for (unsigned left = threads; left; m.depth++) {
            struct dh_choice c = dpor->choose(self, &m);
            assert_true(c.thread < threads && !actors[c.thread].ended);
            dpor->done(self, c.thread, 0, &actors[c.thread].step);
            m.last = c.thread;
            if (++written[c.thread] == WRITES) {
                actors[c.thread].ended = 1;
                left--;
            }
        }
        dpor->end(self, DH_END_DONE, &m);
        schedules++;
    }
    assert_false(search.statistics.no_memory);
    model_search_release(&search);
    return schedules;
}

static void many_threads(void **state)
{
    (void)state;
    assert_int_equal(explore_many(100, 3), 8);
    assert_int_equal(explore_many(1000, 2), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_all_classes_of_programs),
        cmocka_unit_test(finds_all_classes_of_random_programs),
        cmocka_unit_test(finds_all_ends_of_spinning_programs),
        cmocka_unit_test(shards_find_all_classes),
        cmocka_unit_test(many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
