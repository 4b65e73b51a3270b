/* Pointers that are said to lead to different objects never touch one byte: random programs, random schedules. */
#include "analysis/points_to_andersen.h"
#include "analysis_analysed.h"
#include "analysis_machine.h"

static bool is_access(const struct dh_inst *i)
{
    return i->op == DH_I_LOAD || i->op == DH_I_STORE || i->op == DH_I_RMW || i->op == DH_I_CAS;
}

static struct dh_pointer_range address_of(const struct dh_program *p, uint32_t inst)
{
    const struct dh_inst *i = &p->insts.at[inst];
    return (struct dh_pointer_range){p->blocks.at[dh_program_block_of(p, inst)].function, dh_operand(p, i, 0), i->size};
}

static bool apart(struct dh_andersen *x, const struct dh_program *p, uint32_t one, uint32_t other)
{
    struct dh_pointer_range a = address_of(p, one), b = address_of(p, other);
    return dh_andersen_never_alias(x, &a, &b);
}

static unsigned long count_apart(struct dh_andersen *x, const struct dh_program *p)
{
    unsigned long n = 0;
    for (uint32_t a = 0; a < p->insts.n; a++)
        for (uint32_t b = 0; is_access(&p->insts.at[a]) && b < a; b++)
            n += is_access(&p->insts.at[b]) && apart(x, p, a, b);
    return n;
}

static void check_run(struct dh_andersen *x, const struct dh_program *p, struct chance *c, const char *text,
                      unsigned long *met)
{
    struct machine m = {0};
    machine_run(&m, p, c);
    for (size_t n = 0; n < m.races.n; n++) {
        struct machine_race r = m.races.at[n];
        if (!is_access(&p->insts.at[r.first]) || !is_access(&p->insts.at[r.second]))
            continue;
        ++*met;
        if (apart(x, p, r.first, r.second)) {
            fprintf(stderr, "%s\n", text); /* longer than a message may be */
            fail_msg("called apart, but met: #%u and #%u", r.first, r.second);
        }
    }
    machine_release(&m);
}

static void what_is_apart_never_meets(void **state)
{
    enum { PROGRAMS = 200, RUNS = 8 };
    unsigned long met = 0, told = 0;
    (void)state;
    for (unsigned n = 1; n <= PROGRAMS; n++) {
        struct chance c = {n * 2654435761u + 777};
        struct dh_str text = {0};
        struct dh_program p;
        struct dh_err err = {0};
        random_program(&c, &text);
        assert_true(dh_program_parse(&p, "random", text.at, &err));
        struct dh_andersen *x = dh_andersen_new(&p);
        for (unsigned run = 0; run < RUNS; run++)
            check_run(x, &p, &c, text.at, &met);
        told += count_apart(x, &p);
        assert_false(dh_andersen_gave_up(x));
        dh_andersen_free(x);
        dh_program_release(&p);
        dh_str_release(&text);
    }
    /* Silence would prove nothing. */
    assert_true(met > PROGRAMS);
    assert_true(told > PROGRAMS);
}

static const char two[] = "program 1\n"
                          "global table size=16\n"
                          "initial 0 @quiet\n"
                          "initial 8 @loud\n"
                          "root main @main\n"
                          "function quiet\nb0\n    return\n"
                          "function loud\nb0\n    return\n"
                          "function make r0:d\nb0\n    r1:p = alloc r0 size=16\n    return r1\n"
                          "function main\n"
                          "b0 -> b1 b2\n    r0:p = call @make 16\n    r1:p = call @make 16\n    branch data\n"
                          "b1 -> b2\n    jump\n"
                          "b2\n"
                          "    r2:p = phi r0 b0 r1 b1\n"
                          "    store r0 1 size=8\n    store r1 2 size=8\n    store r2 3 size=8\n"
                          "    r3:p = load &table+8 size=8\n    call r3\n    return\n";

static uint32_t nth(const struct dh_program *p, unsigned op, unsigned n)
{
    for (uint32_t i = 0; i < p->insts.n; i++)
        if (p->insts.at[i].op == op && n-- == 0)
            return i;
    fail();
    return DH_NONE;
}

static void parse_two(struct dh_program *p)
{
    struct dh_err err = {0};
    if (!dh_program_parse(p, "two", two, &err))
        fail_msg("%s", "the program is wrong");
}

/* What a function makes is told apart by who called it; what a table holds, by where it stands in it. */
static void calls_and_fields_are_told_apart(void **state)
{
    struct dh_program p;
    (void)state;
    parse_two(&p);
    struct dh_andersen *x = dh_andersen_new(&p);
    assert_true(apart(x, &p, nth(&p, DH_I_STORE, 0), nth(&p, DH_I_STORE, 1)));
    assert_false(apart(x, &p, nth(&p, DH_I_STORE, 0), nth(&p, DH_I_STORE, 2)));
    assert_false(apart(x, &p, nth(&p, DH_I_STORE, 1), nth(&p, DH_I_STORE, 2)));
    uint32_t call = nth(&p, DH_I_CALL, 2);
    assert_true(dh_andersen_knows_callees(x, call));
    assert_true(dh_andersen_may_call(x, call, dh_program_find_function(&p, "loud")));
    assert_false(dh_andersen_may_call(x, call, dh_program_find_function(&p, "quiet")));
    dh_andersen_free(x);
    dh_program_release(&p);
}

static void without_budget_nothing_is_known(void **state)
{
    struct dh_program p;
    (void)state;
    parse_two(&p);
    struct dh_andersen *x = dh_andersen_new(&p);
    dh_andersen_set_budget(x, 1);
    uint32_t call = nth(&p, DH_I_CALL, 2);
    assert_false(apart(x, &p, nth(&p, DH_I_STORE, 0), nth(&p, DH_I_STORE, 1)));
    assert_true(dh_andersen_gave_up(x));
    assert_false(dh_andersen_knows_callees(x, call));
    assert_true(dh_andersen_may_call(x, call, dh_program_find_function(&p, "quiet")));
    dh_andersen_free(x);
    dh_program_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_apart_never_meets),
                                       cmocka_unit_test(calls_and_fields_are_told_apart),
                                       cmocka_unit_test(without_budget_nothing_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
