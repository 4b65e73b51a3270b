/* The abstract program: its text form and back, what is told of a malformed one, and control flow. */
#include "model/control_flow.h"
#include "model/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char bank[] = "program 1\n"
                           "global lock size=40 source=lock type=pthread_mutex_t\n"
                           "global \"my total\" size=8 exported\n"
                           "global table size=16 constant\n"
                           "initial 0 @teller\n"
                           "initial 8 &\"my total\"+4\n"
                           "root main @main\n"
                           "\n"
                           "function main r0:d r1:p exported source=main file=bank.c line=12\n"
                           "b0 -> b1\n"
                           "    r2:p = slot size=8\n"
                           "    jump\n"
                           "b1 -> b2 b3\n"
                           "    r3:d = phi 0 b0 r5 b2\n"
                           "    r4:d = compare r3 10 op=lt\n"
                           "    branch r4\n"
                           "b2 -> b1\n"
                           "    create r2 @teller 0 ok=zero site=3 file=bank.c line=14 column=9 in=main\n"
                           "    r5:d = binary r3 1 op=add\n"
                           "    jump\n"
                           "b3\n"
                           "    return 0\n"
                           "\n"
                           "function teller r0:p address-taken\n"
                           "b0 -> b1 b2\n"
                           "    r1:d = trylock &lock ok=zero timed\n"
                           "    r2:d = compare r1 0 op=eq\n"
                           "    branch r2\n"
                           "b1 -> b2\n"
                           "    r3:w = load &\"my total\" size=8 site=5\n"
                           "    r4:w = binary r3 -1 op=add\n"
                           "    store &\"my total\" r4 size=8 order=release volatile site=6\n"
                           "    unlock &lock\n"
                           "    jump\n"
                           "b2\n"
                           "    foreign r0 unknown name=poke\n"
                           "    return data\n";

static void reads_what_it_prints(void **state)
{
    (void)state;
    struct dh_program p;
    struct dh_err err = {0};
    struct dh_str out = {0};
    assert_true(dh_program_parse(&p, "bank", bank, &err));
    dh_program_print(&p, &out);
    assert_string_equal(out.at, bank);
    dh_str_release(&out);
    dh_program_release(&p);
}

static void finds_loops_and_dominators(void **state)
{
    (void)state;
    struct dh_program p;
    struct dh_err err = {0};
    struct dh_cfg f = {0};
    assert_true(dh_program_parse(&p, "bank", bank, &err));
    dh_cfg_build(&f, &p, dh_program_find_function(&p, "main"));
    assert_int_equal(f.dominator.at[3], 1);
    assert_int_equal(f.loop.at[2], 1);
    assert_true(dh_cfg_in_any_loop(&f, 1));
    assert_false(dh_cfg_in_any_loop(&f, 3));
    assert_int_equal(f.post.at[1], 3);
    assert_false(dh_cfg_dominates(&f, 2, 3));
    dh_cfg_build(&f, &p, dh_program_find_function(&p, "teller"));
    assert_false(f.irreducible);
    dh_cfg_release(&f);
    dh_program_release(&p);
}

static const char nested[] = "function f r0:d\n"
                             "b0 -> b1\n    jump\n"
                             "b1 -> b2 b5\n    branch r0\n"
                             "b2 -> b3\n    jump\n"
                             "b3 -> b3 b4\n    branch r0\n"
                             "b4 -> b1\n    jump\n"
                             "b5 -> b5\n    jump\n";

static void loops_know_their_loops(void **state)
{
    (void)state;
    struct dh_program p;
    struct dh_err err = {0};
    struct dh_cfg f = {0};
    assert_true(dh_program_parse(&p, "nested", nested, &err));
    dh_cfg_build(&f, &p, 0);
    assert_int_equal(f.loop.at[3], 3);
    assert_int_equal(f.outer.at[3], 1);
    assert_int_equal(f.loop.at[4], 1);
    assert_true(dh_cfg_in_loop(&f, 1, 3));
    assert_int_equal(f.loop.at[5], 5);
    /* There is no way to the function's end. */
    assert_int_equal(f.post.at[0], DH_NONE);
    dh_cfg_release(&f);
    dh_program_release(&p);
}

static void crossing_cycles_are_irreducible(void **state)
{
    (void)state;
    struct dh_program p;
    struct dh_err err = {0};
    struct dh_cfg f = {0};
    assert_true(dh_program_parse(&p, "cross",
                                 "function f r0:d\n"
                                 "b0 -> b1 b2\n  branch r0\n"
                                 "b1 -> b2\n  jump\n"
                                 "b2 -> b1\n  jump\n",
                                 &err));
    dh_cfg_build(&f, &p, 0);
    assert_true(f.irreducible);
    assert_true(dh_cfg_in_any_loop(&f, 1) && dh_cfg_in_any_loop(&f, 2));
    dh_cfg_release(&f);
    dh_program_release(&p);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"function f\nb1\n", "t:2: blocks of a function are numbered from b0 on, in order: b1"},
        {"function f\nb0\n  leap\n", "t:3: no such instruction: leap"},
        {"function f\nb0\n  jump sideways\n", "t:3: neither a value nor a property of this instruction: sideways"},
        {"function f\nb0 -> b7\n  jump\n", "t: a block leads out of its function"},
        {"function f\nb0\n  r0:p = slot\n", "t: a block does not end with its last instruction"},
        {"function f\nb0\n  load\n  return\n", "t: an instruction has too many or too few operands"},
        {"function f\nb0\n  r0:p = slot\n  r0:p = slot\n  return\n", "t: a register is assigned twice"},
        {"global\n", "t:1: a global needs a name"},
        {"global g colour=red\n", "t:1: no such property of a global: colour=red"},
        {"root main @nobody\n", "t:1: a root is `root KIND @FUNCTION`"},
        {"hello\n", "t:1: no line of a program: hello"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dh_program p;
        struct dh_err err = {0};
        assert_false(dh_program_parse(&p, "t", wrong[i].text, &err));
        assert_string_equal(err.text, wrong[i].message);
        dh_err_release(&err);
        dh_program_release(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_it_prints),   cmocka_unit_test(finds_loops_and_dominators),
        cmocka_unit_test(loops_know_their_loops), cmocka_unit_test(crossing_cycles_are_irreducible),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
