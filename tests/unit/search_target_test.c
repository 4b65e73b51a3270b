/* Searches for two accesses that are pending at once: found where they can be, never where they cannot. */
#include "search_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
#define LINE(op, a, b, c, ...) {op, a, b, c}
#define L(...) LINE(__VA_ARGS__, 0, 0, 0, 0)
enum { KEY, NUM, DEL };
#define MANY L(OP_WRITE, 4, 1), L(OP_WRITE, 4, 2), L(OP_WRITE, 4, 3), L(OP_WRITE, 4, 4), L(OP_WRITE, 4, 5), L(OP_WRITE, 4, 6)
/* The example of the paper, Fig. 4: what is read under one lock is changed under another. */
#define FIG_4                                                                                                          \
    L(OP_LOCK, KEY), L(OP_READ, 0, 0), L(OP_UNLOCK, KEY), L(OP_LOCK, NUM), MANY, L(OP_UNLOCK, NUM), L(OP_LOCK, DEL), L(OP_READ, 0, 1),     \
        L(OP_STORE, 0, 1), L(OP_UNLOCK, DEL)
static const struct model_program fig_4 = {"Fig. 4", 2, {{FIG_4}, {FIG_4}}, {0}, false};
static const struct model_program fig_4_of_four = {"Fig. 4 of four", 4, {{FIG_4}, {FIG_4}, {FIG_4}, {FIG_4}}, {0}, false};
enum { FIG_4_READ = 1, FIG_4_STORE = 13 };

/* Behind a handshake: the second comes only when the first has been passed once. */
static const struct model_program after_hand_over = {"after a handshake", 3,
    {{L(OP_WRITE, 0, 1), L(OP_SEM_POST, 0), MANY, L(OP_WRITE, 0, 2)}, {L(OP_SEM_WAIT, 0), MANY, L(OP_READ, 0, 0)}, {MANY, MANY, MANY}}, {0}, false};
/* One lock is common to all. */
static const struct model_program guarded = {"guarded", 2,
    {{L(OP_LOCK, 0), L(OP_LOCK, 1), L(OP_WRITE, 0, 1), L(OP_UNLOCK, 1), L(OP_UNLOCK, 0)}, {L(OP_LOCK, 1), L(OP_READ, 0, 0), L(OP_UNLOCK, 1)}}, {0}, false};
#undef L
#undef LINE
/* clang-format on */

#define SITE(thread, line) ((uint32_t)(thread) << 8 | (uint32_t)(line))

/* In how many schedules; 0: not. */
static uint64_t reach(const struct model_program *p, const char *strategy, uint32_t one, uint32_t other, uint64_t seed,
                      uint64_t frozen)
{
    struct dh_search search;
    struct model_result r;
    model_search_init(&search, seed);
    search.target.set = true;
    search.target.site[0] = one;
    search.target.site[1] = other;
    search.target.frozen = frozen;
    model_explore(p, dh_strategy_by_name(strategy), &search, 20000, true, &r);
    uint64_t n = r.failed ? r.schedules : 0;
    model_result_release(&r);
    model_search_release(&search);
    return n;
}

static void directed_search_finds_the_pair(void **state)
{
    (void)state;
    uint64_t directed = 0, random = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t n = reach(&fig_4_of_four, "directed", SITE(1, FIG_4_READ), SITE(0, FIG_4_STORE), seed, 0);
        uint64_t by_chance = reach(&fig_4_of_four, "random", SITE(1, FIG_4_READ), SITE(0, FIG_4_STORE), seed, 0);
        assert_true(n);
        directed += n;
        random += by_chance ? by_chance : 20000;
        assert_true(reach(&fig_4, "directed", SITE(1, FIG_4_READ), SITE(0, FIG_4_STORE), seed, 0));
        assert_true(reach(&after_hand_over, "directed", SITE(0, 8), SITE(1, 7), seed, 1 << 2));
    }
    print_message("schedules to the pair of Fig. 4 with four threads, mean: directed %lu, random %lu\n", directed / 20,
                  random / 20);
    assert_true(directed < random / 10);
}

/* From where a thread is parked at a1, held: only the other has to be led. */
static void directed_search_goes_on_from_a_beginning(void **state)
{
    (void)state;
    static const struct dh_choice beginning[] = {{1, 0}};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct dh_search search;
        struct model_result r;
        model_search_init(&search, seed);
        search.target.set = true;
        search.target.site[0] = SITE(1, FIG_4_READ);
        search.target.site[1] = SITE(0, FIG_4_STORE);
        search.target.held = 1;
        search.target.frozen = 1 << 2 | 1 << 3;
        search.prefix = beginning;
        search.prefix_length = 1;
        search.then = dh_strategy_by_name("directed");
        model_explore(&fig_4_of_four, dh_strategy_by_name("follow"), &search, 1000, true, &r);
        /* Thread 0 wants the lock that the held one has, so that it must have been before it. */
        assert_false(r.failed);
        model_result_release(&r);
        model_search_release(&search);
        static const struct dh_choice better[] = {{0, 0}, {0, 0}, {0, 0}, {1, 0}};
        model_search_init(&search, seed);
        search.target.set = true;
        search.target.site[0] = SITE(1, FIG_4_READ);
        search.target.site[1] = SITE(0, FIG_4_STORE);
        search.target.held = 1;
        search.target.frozen = 1 << 2 | 1 << 3;
        search.prefix = better;
        search.prefix_length = 4;
        search.then = dh_strategy_by_name("directed");
        model_explore(&fig_4_of_four, dh_strategy_by_name("follow"), &search, 1000, true, &r);
        assert_true(r.failed && r.schedules == 1);
        model_result_release(&r);
        model_search_release(&search);
    }
}

static void no_search_finds_what_a_lock_excludes(void **state)
{
    (void)state;
    static const char *const names[] = {"directed", "active", "random", "pct", "pos", "dpor", "bounded"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(reach(&guarded, names[i], SITE(0, 2), SITE(1, 1), 1, 0), 0);
}

/* Rejected again and again, it gives up by itself. */
static void directed_search_gives_up(void **state)
{
    (void)state;
    struct dh_search search;
    struct model_result r;
    model_search_init(&search, 1);
    search.target.set = true;
    search.target.site[0] = SITE(0, 2);
    search.target.site[1] = SITE(1, 1);
    model_explore(&guarded, dh_strategy_by_name("directed"), &search, 100000, true, &r);
    assert_true(r.exhausted && r.schedules < 1000);
    model_result_release(&r);
    model_search_release(&search);
}

static void every_strategy_finds_the_pair(void **state)
{
    (void)state;
    static const char *const names[] = {"active", "random", "pct", "pos", "dpor"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(reach(&fig_4, names[i], SITE(1, FIG_4_READ), SITE(0, FIG_4_STORE), 1, 0));
}

/* ---- shorter schedules ---- */

/* A random walk that is remembered. */
static struct {
    void *walk;
    struct dh_choice taken[MODEL_DEPTH];
    uint32_t n;
} told;

static void *told_start(struct dh_search *search)
{
    told.walk = dh_strategy_by_name(search->prefix_length ? "shorten" : "random")->start(search);
    return told.walk ? &told : NULL;
}

static const struct dh_strategy *told_by;

static bool told_begin(void *self)
{
    (void)self;
    told.n = 0;
    return told_by->begin(told.walk);
}

static struct dh_choice told_choose(void *self, const struct dh_decision *m)
{
    (void)self;
    return told_by->choose(told.walk, m);
}

static uint32_t switches_of(const struct dh_choice *c, uint32_t n)
{
    uint32_t switches = 0;
    for (uint32_t i = 1; i < n; i++)
        switches += c[i].thread != c[i - 1].thread;
    return switches;
}

static void told_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    (void)self;
    told.taken[told.n++] = (struct dh_choice){thread, alternative};
    told_by->done(told.walk, thread, alternative, step);
}

static uint32_t fewest; /* switches of a schedule that led there */

static void told_end(void *self, enum dh_schedule_end end, const struct dh_decision *m)
{
    (void)self;
    uint32_t switches = switches_of(told.taken, told.n);
    if (end == DH_END_FAILED && switches < fewest)
        fewest = switches;
    told_by->end(told.walk, end, m);
}

static const struct dh_strategy told_strategy = {.name = "told",
                                                 .start = told_start,
                                                 .begin = told_begin,
                                                 .choose = told_choose,
                                                 .done = told_done,
                                                 .end = told_end};

static bool tell_search(const struct model_program *p, uint64_t seed, uint32_t one, uint32_t other,
                        const struct dh_choice *prefix, uint32_t n)
{
    struct dh_search search;
    struct model_result r;
    model_search_init(&search, seed);
    search.target.set = true;
    search.target.site[0] = one;
    search.target.site[1] = other;
    search.prefix = prefix;
    search.prefix_length = n;
    told_by = dh_strategy_by_name(n ? "shorten" : "random");
    model_explore(p, &told_strategy, &search, 20000, !n, &r);
    bool ends = n ? r.exhausted : r.failed != 0;
    model_result_release(&r);
    model_search_release(&search);
    return ends;
}

/* What chance found by detours is had with as few switches as there can be, and the search for it ends by itself. */
static void schedules_become_shorter(void **state)
{
    (void)state;
    static struct dh_choice found[MODEL_DEPTH];
    const struct {
        const struct model_program *p;
        uint32_t one, other, fewest;
    } tried[] = {
        {&fig_4, SITE(1, FIG_4_READ), SITE(0, FIG_4_STORE), 1},
        {&fig_4_of_four, SITE(1, FIG_4_READ), SITE(0, FIG_4_STORE), 1},
        {&after_hand_over, SITE(0, 8), SITE(1, 7), 1},
    };
    for (unsigned i = 0; i < sizeof tried / sizeof *tried; i++)
        for (uint64_t seed = 1, walks = 0; walks < 20; seed++) {
            if (!tell_search(tried[i].p, seed, tried[i].one, tried[i].other, NULL, 0))
                continue;
            walks++;
            uint32_t n = told.n;
            memcpy(found, told.taken, n * sizeof *found);
            fewest = UINT32_MAX;
            if (switches_of(found, n) <= tried[i].fewest)
                continue;
            assert_true(tell_search(tried[i].p, seed, tried[i].one, tried[i].other, found, n));
            assert_int_equal(fewest, tried[i].fewest);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directed_search_finds_the_pair),
        cmocka_unit_test(schedules_become_shorter),
        cmocka_unit_test(directed_search_goes_on_from_a_beginning),
        cmocka_unit_test(no_search_finds_what_a_lock_excludes),
        cmocka_unit_test(directed_search_gives_up),
        cmocka_unit_test(every_strategy_finds_the_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
