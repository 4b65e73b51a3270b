/* Beginnings of witnesses from recorded runs: the figures of the paper, and on programs by chance every beginning can
 * be executed and leads where it says. */
#include "search/prefix.h"
#include "search_chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct record {
    struct dh_recorded_step step[400];
    struct dh_recorded_run run;
};

static void note(struct record *r, uint32_t thread, uint32_t alternative, const struct dh_step *s)
{
    r->step[r->run.n++] = (struct dh_recorded_step){thread, alternative, *s};
}

/* A run in which threads go on in this order, e.g. "1110". */
static void run_in_order(const struct model_program *p, const char *order, struct record *r)
{
    struct model_state s;
    r->run = (struct dh_recorded_run){r->step, 0, p->threads};
    model_start(p, &s);
    for (; *order; order++) {
        struct dh_step step;
        unsigned t = (unsigned)(*order - '0');
        struct dh_actor actor;
        model_actor(p, &s, t, &actor);
        assert_true(!actor.ended && actor.enabled);
        model_move(p, &s, t, 0, &step);
        note(r, t, 0, &step);
    }
}

static void run_by_chance(const struct model_program *p, struct record *r)
{
    struct model_state s;
    r->run = (struct dh_recorded_run){r->step, 0, p->threads};
    model_start(p, &s);
    for (;;) {
        struct dh_actor actors[MODEL_THREADS];
        unsigned n = model_actors(p, &s, actors), can[MODEL_THREADS], k = 0;
        for (unsigned t = 0; t < n; t++)
            if (!actors[t].ended && (actors[t].enabled || actors[t].alternatives > 1))
                can[k++] = t;
        if (!k || s.failed || s.exited || s.left)
            return;
        unsigned t = can[pick((int)k)], first = actors[t].enabled ? 0 : 1;
        unsigned end = actors[t].alternatives ? actors[t].alternatives : 1;
        unsigned a = first + (unsigned)pick((int)(end - first));
        struct dh_step step;
        model_move(p, &s, t, a, &step);
        note(r, t, a, &step);
    }
}

/* Follows the choices: each can be made, and is the step it was in the run. */
static void check_choices(const struct model_program *p, const struct record *r, const struct dh_prefix_pair *pair,
                          const struct dh_prefix_choices *c)
{
    struct model_state s;
    uint32_t next[MODEL_THREADS] = {0};
    struct dh_actor actor;
    model_start(p, &s);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t t = c->at[i].thread, k = next[t];
        struct dh_step step;
        while (r->step[k].thread != t)
            k++;
        next[t] = k + 1;
        model_actor(p, &s, t, &actor);
        assert_false(actor.ended);
        assert_true(c->at[i].alternative ? c->at[i].alternative < actor.alternatives : actor.enabled);
        model_move(p, &s, t, c->at[i].alternative, &step);
        assert_int_equal(step.kind, r->step[k].step.kind);
        assert_int_equal(step.object, r->step[k].step.object);
        assert_int_equal(step.flags, r->step[k].step.flags);
        assert_false(s.failed || s.exited || s.left);
    }
    model_actor(p, &s, c->held, &actor);
    const struct dh_step a1 = actor.step;
    assert_true(!actor.ended && actor.enabled && a1.site == r->step[pair->first].step.site);
    if (!c->is_witness)
        return;
    model_actor(p, &s, r->step[c->racing].thread, &actor);
    assert_true(!actor.ended && dh_steps_race(&a1, &actor.step));
}

/* ---- figures ---- */

/* clang-format off */
#define LINE(op, a, b, c, ...) {op, a, b, c}
#define L(...) LINE(__VA_ARGS__, 0, 0, 0, 0)
enum { LOCK_X, LOCK_Y, VAR_X = 0, VAR_Y = 1 };
enum { KEY, NUM, DEL };
#define FIG_4                                                                                                          \
    L(OP_LOCK, KEY), L(OP_READ, 0, 0), L(OP_UNLOCK, KEY), L(OP_LOCK, NUM), L(OP_WRITE, 1, 1), L(OP_UNLOCK, NUM), L(OP_LOCK, DEL),           \
        L(OP_READ, 0, 1), L(OP_STORE, 0, 1), L(OP_UNLOCK, DEL)
static const struct model_program fig_4 = {"Fig. 4", 2, {{FIG_4}, {FIG_4}}, {0}, false};
static const struct model_program fig_6 = {"Fig. 6", 2,
    {{L(OP_LOCK, LOCK_X), L(OP_LOCK, LOCK_Y), L(OP_READ, VAR_Y, 0), L(OP_STORE, VAR_X, 0), L(OP_UNLOCK, LOCK_Y), L(OP_UNLOCK, LOCK_X)},
     {L(OP_LOCK, LOCK_X), L(OP_WRITE, VAR_X, 7), L(OP_UNLOCK, LOCK_X), L(OP_LOCK, LOCK_Y), L(OP_READ, VAR_X, 0), L(OP_STORE, VAR_Y, 0), L(OP_UNLOCK, LOCK_Y)}}, {0}, false};
/* Both threads do all of it, in turn: the read of X under Y alone comes before X = 7 of the other. */
#define FIG_7_BOTH L(OP_LOCK, LOCK_X), L(OP_LOCK, LOCK_Y), L(OP_READ, VAR_X, 0), L(OP_STORE, VAR_Y, 0), L(OP_UNLOCK, LOCK_Y), L(OP_UNLOCK, LOCK_X)
#define FIG_7_X L(OP_LOCK, LOCK_X), L(OP_WRITE, VAR_X, 7), L(OP_UNLOCK, LOCK_X)
#define FIG_7_Y L(OP_LOCK, LOCK_Y), L(OP_READ, VAR_X, 0), L(OP_STORE, VAR_Y, 0), L(OP_UNLOCK, LOCK_Y)
static const struct model_program fig_7 = {"Fig. 7", 2, {{FIG_7_BOTH, FIG_7_X}, {FIG_7_BOTH, FIG_7_X, FIG_7_Y}}, {0}, false};
#undef L
#undef LINE
/* clang-format on */

static uint32_t find_step(const struct record *r, uint32_t thread, unsigned kind, uint64_t object, unsigned number)
{
    for (uint32_t i = 0; i < r->run.n; i++)
        if (r->step[i].thread == thread && r->step[i].step.kind == kind && r->step[i].step.object == object &&
            !number--)
            return i;
    fail();
    return 0;
}

/* The running example: a1 is the read under the key lock, and the beginning alone brings the other to its write. */
static void running_example(void **state)
{
    (void)state;
    struct record r;
    struct dh_search search;
    struct dh_prefix_pair pair;
    struct dh_prefix_choices c;
    model_search_init(&search, 1);
    run_in_order(&fig_4, "000111000000", &r);
    struct dh_prefix *p = dh_prefix_new(&search, &r.run);
    uint32_t a2 = find_step(&r, 0, DH_STEP_WRITE, MODEL_VAR_AT(0), 0);
    assert_true(dh_prefix_find(p, a2, 0, &pair));
    assert_int_equal(pair.first, 4); /* the read of the second thread */
    assert_int_equal(pair.second, a2);
    assert_true(dh_prefix_extend(p, &pair, &c));
    assert_int_equal(c.held, 1);
    assert_true(c.is_witness && c.racing == a2);
    check_choices(&fig_4, &r, &pair, &c);
    model_search_release(&search);
}

static void fig_6_has_no_witness(void **state)
{
    (void)state;
    struct record r;
    struct dh_search search;
    struct dh_prefix_pair pair;
    model_search_init(&search, 1);
    run_in_order(&fig_6, "0000001111111", &r);
    struct dh_prefix *p = dh_prefix_new(&search, &r.run);
    for (uint32_t i = 0; i < r.run.n; i++)
        assert_false(dh_prefix_find(p, i, 0, &pair));
    model_search_release(&search);
}

static void fig_7_has_one(void **state)
{
    (void)state;
    struct record r;
    struct dh_search search;
    struct dh_prefix_pair pair;
    struct dh_prefix_choices c;
    model_search_init(&search, 1);
    run_in_order(&fig_7, "1111110000001111111000", &r);
    struct dh_prefix *p = dh_prefix_new(&search, &r.run);
    /* Where lockset warns: the read of X under Y, before which nothing can race with it. */
    uint32_t warned = find_step(&r, 1, DH_STEP_READ, MODEL_VAR_AT(VAR_X), 1);
    assert_true(dh_prefix_find(p, warned, 0, &pair));
    assert_int_equal(pair.first, warned);
    assert_int_equal(pair.second, find_step(&r, 0, DH_STEP_WRITE, MODEL_VAR_AT(VAR_X), 0));
    assert_true(dh_prefix_extend(p, &pair, &c));
    assert_true(c.is_witness);
    check_choices(&fig_7, &r, &pair, &c);
    model_search_release(&search);
}

/* The run goes on under a lock that the held thread keeps: the other stays, and is not frozen. */
static void who_waits_for_the_held_thread_stays(void **state)
{
    (void)state;
    static const struct model_program program = {"",
                                                 3,
                                                 {{{OP_LOCK, 1, 0, 0}, {OP_WRITE, 0, 1, 0}, {OP_UNLOCK, 1, 0, 0}},
                                                  {{OP_LOCK, 1, 0, 0}, {OP_UNLOCK, 1, 0, 0}, {OP_READ, 0, 0, 0}},
                                                  {{OP_WRITE, 5, 1, 0}, {OP_WRITE, 5, 2, 0}}},
                                                 {0},
                                                 false};
    struct record r;
    struct dh_search search;
    struct dh_prefix_pair pair;
    struct dh_prefix_choices c;
    model_search_init(&search, 1);
    run_in_order(&program, "00011221", &r);
    struct dh_prefix *p = dh_prefix_new(&search, &r.run);
    assert_true(dh_prefix_find(p, 7, 0, &pair));
    assert_true(dh_prefix_extend(p, &pair, &c));
    assert_false(c.is_witness);
    assert_int_equal(c.n, 3); /* the first lock, and the writer who has nothing to do with it */
    assert_int_equal(c.frozen, 1 << 2);
    check_choices(&program, &r, &pair, &c);
    model_search_release(&search);
}

static void beginnings_by_chance(void **state)
{
    (void)state;
    unsigned pairs = 0, witnesses = 0, longer = 0;
    unsigned long programs = getenv("PROGRAMS") ? strtoul(getenv("PROGRAMS"), NULL, 0) : 5000;
    for (unsigned long i = 0; i < programs; i++) {
        struct model_program program;
        struct record r;
        struct dh_search search;
        seed = 5000 + i;
        write_program(&program, 2 + pick(3), 6);
        run_by_chance(&program, &r);
        model_search_init(&search, 1);
        struct dh_prefix *p = dh_prefix_new(&search, &r.run);
        assert_non_null(p);
        for (uint32_t warned = 0; warned < r.run.n; warned++) {
            struct dh_prefix_pair pair;
            for (uint32_t k = 0; dh_prefix_find(p, warned, k, &pair); k++) {
                struct dh_prefix_choices c;
                assert_true(pair.first < pair.second && (pair.first == warned || pair.second == warned));
                assert_true(dh_prefix_extend(p, &pair, &c));
                check_choices(&program, &r, &pair, &c);
                pairs++;
                witnesses += c.is_witness;
                longer += c.n > pair.first;
            }
        }
        model_search_release(&search);
    }
    print_message("%u pairs: %u witnesses by the prefix alone, %u prefixes longer than up to a1\n", pairs, witnesses,
                  longer);
    assert_true(witnesses > pairs / 4 && longer > pairs / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_example),      cmocka_unit_test(fig_6_has_no_witness),
        cmocka_unit_test(fig_7_has_one),        cmocka_unit_test(who_waits_for_the_held_thread_stays),
        cmocka_unit_test(beginnings_by_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
