/* The programs of chapter 5 of the dissertation, and what the chapter leaves out, as text: which function is suspected
 * of letting others into its middle, and over what. */
#include "analysis/method_consistency.h"
#include "model/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct analysed {
    struct dh_program program;
    struct dh_points_to points_to;
    struct dh_symex symex;
    struct dh_inconsistencies found;
};

static void analyse(struct analysed *a, const char *text, bool wide)
{
    struct dh_err err = {0};
    struct dh_consistency_options how = {.wide = wide};
    if (!dh_program_parse(&a->program, "example", text, &err))
        fail_msg("%s", err.text);
    dh_points_to_init(&a->points_to, &a->program);
    dh_points_to_run(&a->points_to);
    dh_symex_init(&a->symex, &a->points_to);
    dh_symex_run(&a->symex);
    dh_inconsistencies_find(&a->found, &a->symex, &how);
}

static void forget(struct analysed *a)
{
    dh_inconsistencies_release(&a->found);
    dh_symex_release(&a->symex);
    dh_points_to_release(&a->points_to);
    dh_program_release(&a->program);
}

static size_t suspected(const char *text, bool wide)
{
    struct analysed a;
    analyse(&a, text, wide);
    size_t n = a.found.found.n;
    forget(&a);
    return n;
}

static void silent(const char *text)
{
    assert_int_equal(suspected(text, false), 0);
}

static void expect(const char *text, const char *function, enum dh_violation_kind kind)
{
    struct analysed a;
    bool found = false;
    analyse(&a, text, false);
    for (size_t n = 0; n < a.found.found.n; n++) {
        const struct dh_violation *v = &a.found.found.at[n];
        const char *name = dh_program_string(&a.program, a.program.functions.at[v->function].name);
        assert_string_equal(name, function);
        found |= v->kind == kind;
    }
    assert_true(found);
    forget(&a);
}

/* Two threads that run `worker` on one object: its lock at 0, its fields from 40 on. */
#define SHARED(functions, worker)                                                                                      \
    "program 1\nglobal shared size=8\nroot main @main\n" functions                                                     \
    "\nfunction run r0:p address-taken\nb0\n    r1:p = load &shared size=8\n" worker "    return\n"                    \
    "\nfunction main\nb0\n    r0:p = slot size=8\n    r1:p = slot size=8\n    r2:p = alloc 64 size=64 zeroed\n"        \
    "    store &shared r2 size=8\n    create r0 @run 0\n    create r1 @run 0\n    return\n"

#define READ                                                                                                           \
    "\nfunction read r0:p\nb0\n    lock r0\n    r1:p = offset r0 offset=40\n    r2:w = load r1 size=8\n"               \
    "    unlock r0\n    return r2\n"

static void prog_5_1_update_of_what_was_read(void **state)
{
    (void)state;
    expect(SHARED(READ "\nfunction update r0:p\nb0\n    r1:w = call @read r0\n    lock r0\n"
                       "    r2:w = binary r1 123 op=add\n    r3:p = offset r0 offset=40\n    store r3 r2 size=8\n"
                       "    unlock r0\n    return\n",
                  "    call @update r1\n"),
           "update", DH_VIOLATION_LOST_UPDATE);
}

static void prog_5_2_in_one_section(void **state)
{
    (void)state;
    silent(SHARED(READ "\nfunction update r0:p\nb0\n    lock r0\n    r1:w = call @read r0\n"
                       "    r2:w = binary r1 123 op=add\n    r3:p = offset r0 offset=40\n    store r3 r2 size=8\n"
                       "    unlock r0\n    return\n",
                  "    call @update r1\n"));
}

/* The latch at 40, the entries at 48. */
#define STORE(load)                                                                                                    \
    SHARED("\nfunction closed r0:p\nb0\n    lock r0\n    r1:p = offset r0 offset=40\n    r2:d = load r1 size=4\n"      \
           "    unlock r0\n    return r2\n"                                                                            \
           "\nfunction lookup r0:p\nb0\n    lock r0\n    r1:p = offset r0 offset=48\n    r2:p = alloc 8 size=8\n"      \
           "    store r1 r2 size=8\n    unlock r0\n    return\n"                                                       \
           "\nfunction shutdown r0:p\nb0\n    lock r0\n    r1:p = offset r0 offset=48\n    store r1 0 size=8\n"        \
           "    r2:p = offset r0 offset=40\n    store r2 1 size=4\n    unlock r0\n    return\n"                        \
           "\nfunction load r0:p\n" load,                                                                              \
           "    call @load r1\n    call @shutdown r1\n")

static void prog_5_3_checked_then_looked_up(void **state)
{
    (void)state;
    expect(STORE("b0 -> b1 b2\n    r1:d = call @closed r0\n    branch r1\nb1\n    return\nb2\n    call @lookup r0\n"
                 "    return\n"),
           "load", DH_VIOLATION_CHECK_THEN_ACT);
    silent(STORE("b0 -> b1 b2\n    lock r0\n    r1:d = call @closed r0\n    branch r1\nb1\n    unlock r0\n    return\n"
                 "b2\n    call @lookup r0\n    unlock r0\n    return\n"));
}

#define INC                                                                                                            \
    "\nfunction inc r0:p r1:w\nb0\n    lock r0\n    r2:p = offset r0 offset=40\n    r3:w = load r2 size=8\n"           \
    "    r4:w = binary r3 r1 op=add\n    store r2 r4 size=8\n    r5:w = load r2 size=8\n    unlock r0\n"               \
    "    return r5\n"

static void prog_5_4_counter_doubled(void **state)
{
    (void)state;
    expect(SHARED(INC "\nfunction twice r0:p\nb0\n    r1:w = call @inc r0 0\n    r2:w = call @inc r0 r1\n    return\n",
                  "    call @twice r1\n"),
           "twice", DH_VIOLATION_LOST_UPDATE);
    silent(SHARED(INC "\nfunction twice r0:p\nb0\n    r1:w = call @inc r0 1\n    r2:w = call @inc r0 2\n    return\n",
                  "    call @twice r1\n"));
}

/* The latch at 40, keys at 48: tested without the lock and again under it. */
#define MAP                                                                                                            \
    SHARED("\nfunction init r0:p\nb0 -> b1 b4\n    r1:p = offset r0 offset=40\n    r2:d = load r1 size=4 "             \
           "order=seq_cst\n    branch r2\nb1\n    return\nb2 -> b3\n    r3:p = offset r0 offset=48\n"                  \
           "    store r1 1 size=4 order=seq_cst\n    store r3 7 size=8\n    jump\nb3\n    unlock r0\n    return\n"     \
           "b4 -> b3 b2\n    lock r0\n    r4:d = load r1 size=4 order=seq_cst\n    branch r4\n"                        \
           "\nfunction get r0:p\nb0\n    lock r0\n    r1:p = offset r0 offset=48\n    r2:w = load r1 size=8\n"         \
           "    unlock r0\n    return r2\n",                                                                           \
           "    call @init r1\n    r2:w = call @get r1\n")

static void prog_5_5_initialised_once(void **state)
{
    (void)state;
    silent(MAP);
    assert_int_equal(suspected(MAP, true), 0);
}

/* Two objects with a lock each; `other` runs besides. */
#define TWO(other)                                                                                                     \
    "program 1\nglobal a size=8\nglobal b size=8\nroot main @main\n"                                                   \
    "\nfunction get r0:p\nb0\n    lock r0\n    r1:p = offset r0 offset=40\n    r2:w = load r1 size=8\n"                \
    "    unlock r0\n    return r2\n"                                                                                   \
    "\nfunction inc r0:p\nb0\n    lock r0\n    r1:p = offset r0 offset=40\n    r2:w = load r1 size=8\n"                \
    "    r3:w = binary r2 1 op=add\n    store r1 r3 size=8\n    unlock r0\n    return\n"                               \
    "\nfunction mayinc r0:p r1:p\nb0 -> b1 b2\n    lock r0\n    r2:p = offset r0 offset=40\n"                          \
    "    r3:w = load r2 size=8\n    r4:w = call @get r1\n    r5:d = compare r3 r4 op=eq\n    branch r5\n"              \
    "b1 -> b2\n    r6:w = binary r3 1 op=add\n    store r2 r6 size=8\n    jump\nb2\n    unlock r0\n    return\n"       \
    "\nfunction run r0:p address-taken\nb0\n    r1:p = load &a size=8\n    r2:p = load &b size=8\n"                    \
    "    call @mayinc r2 r1\n" other "    return\n"                                                                    \
    "\nfunction main\nb0\n    r0:p = slot size=8\n    r1:p = slot size=8\n    r2:p = alloc 48 size=48 zeroed\n"        \
    "    store &a r2 size=8\n    r3:p = alloc 48 size=48 zeroed\n    store &b r3 size=8\n    create r0 @run 0\n"       \
    "    create r1 @run 0\n    return\n"

static void prog_5_6_two_objects(void **state)
{
    (void)state;
    silent(TWO(""));
    assert_int_equal(suspected(TWO(""), true), 0);
    /* With an update of the other object the chapter's own definition warns. */
    assert_int_not_equal(suspected(TWO("    call @inc r1\n"), true), 0);
}

static void elements_are_told_apart(void **state)
{
    (void)state;
#define ELEMENTS(second)                                                                                               \
    "program 1\nglobal table size=800\nroot main @main\n"                                                              \
    "\nfunction step r0:w r1:w\nb0\n    r2:p = index &table r0 size=8 count=100 bounded\n    r3:w = load r2 size=8\n"  \
    "    r4:p = index &table " second " size=8 count=100 bounded\n    r5:w = binary r3 1 op=add\n"                     \
    "    store r4 r5 size=8\n    return\n"                                                                             \
    "\nfunction run r0:p address-taken\nb0\n    r1:w = copy data\n    r2:w = copy data\n    call @step r1 r2\n"        \
    "    return\n"                                                                                                     \
    "\nfunction main\nb0\n    r0:p = slot size=8\n    r1:p = slot size=8\n    create r0 @run 0\n"                      \
    "    create r1 @run 0\n    return\n"
    expect(ELEMENTS("r0"), "step", DH_VIOLATION_LOST_UPDATE);
    silent(ELEMENTS("r1"));
}

static void instances_are_told_apart(void **state)
{
    (void)state;
#define COPY(to)                                                                                                       \
    "program 1\nglobal a size=8\nglobal b size=8\nroot main @main\n" READ                                              \
    "\nfunction move r0:p r1:p\nb0\n    r2:w = call @read r0\n    lock " to "\n    r3:p = offset " to                  \
    " offset=40\n    store r3 r2 size=8\n    unlock " to "\n    return\n"                                              \
    "\nfunction run r0:p address-taken\nb0\n    r1:p = load &a size=8\n    r2:p = load &b size=8\n"                    \
    "    call @move r1 r2\n    call @move r2 r1\n    return\n"                                                         \
    "\nfunction make\nb0\n    r0:p = alloc 48 size=48\n    return r0\n"                                                \
    "\nfunction main\nb0\n    r0:p = slot size=8\n    r1:p = slot size=8\n    r2:p = call @make\n"                     \
    "    store &a r2 size=8\n    r3:p = call @make\n    store &b r3 size=8\n    store &a r3 size=8\n"                  \
    "    create r0 @run 0\n    create r1 @run 0\n    return\n"
    expect(COPY("r0"), "move", DH_VIOLATION_LOST_UPDATE);
    silent(COPY("r1"));
}

static void waiting_is_meant(void **state)
{
    (void)state;
    silent(SHARED("\nfunction take r0:p\nb0 -> b1\n    lock r0\n    jump\nb1 -> b3 b2\n    r1:p = offset r0 offset=56\n"
                  "    r2:w = load r1 size=8\n    branch r2\nb2 -> b1\n    r3:p = offset r0 offset=40\n"
                  "    wait r3 r0\n    jump\nb3\n    r4:w = binary r2 1 op=sub\n    store r1 r4 size=8\n"
                  "    unlock r0\n    return\n",
                  "    call @take r1\n"));
}

/* Field at 40: a pointer that is tested, then read again and followed. */
#define USE(body)                                                                                                      \
    SHARED("\nfunction use r0:p\nb0 -> b1 b2\n    r1:p = offset r0 offset=40\n    r2:p = load r1 size=8\n"             \
           "    r3:d = compare r2 0 op=ne\n    branch r3\nb1 -> b2\n" body "    jump\nb2\n    return\n"                \
           "\nfunction drop r0:p\nb0\n    r1:p = offset r0 offset=40\n    store r1 0 size=8\n    return\n",            \
           "    call @use r1\n    call @drop r1\n")

static void tested_then_used(void **state)
{
    (void)state;
    expect(USE("    r4:p = load r1 size=8\n    store r4 1 size=8\n"), "use", DH_VIOLATION_CHECK_THEN_USE);
    silent(USE("    store r2 1 size=8\n"));
}

static void looked_at_again_under_the_lock(void **state)
{
    (void)state;
#define LAZY(first, again)                                                                                             \
    SHARED("\nfunction get r0:p\nb0 -> b4 b1\n    r1:p = offset r0 offset=40\n" first                                  \
           "    r3:d = compare r2 0 op=ne\n    branch r3\nb1 -> b2 b3\n    lock r0\n" again "    branch r5\n"          \
           "b2 -> b3\n    r6:p = alloc 8 size=8\n    store r1 r6 size=8\n    jump\nb3\n    unlock r0\n    return\n"    \
           "b4\n    return\n",                                                                                         \
           "    call @get r1\n")
    silent(LAZY("    r2:p = load r1 size=8\n", "    r4:p = load r1 size=8\n    r5:d = compare r4 0 op=eq\n"));
    expect(LAZY("    r2:p = load r1 size=8\n", "    r5:d = copy data\n"), "get", DH_VIOLATION_CHECK_THEN_SET);
}

static void stored_only_if_nothing_changed(void **state)
{
    (void)state;
    silent(SHARED("\nfunction add r0:p\nb0 -> b1\n    r1:p = offset r0 offset=40\n    jump\nb1 -> b2 b1\n"
                  "    r2:w = load r1 size=8 order=relaxed\n    r3:w = binary r2 1 op=add\n"
                  "    r4:w = cas r1 r2 r3 size=8 order=seq_cst\n    r5:d = succeeded r4\n    branch r5\nb2\n"
                  "    return\n",
                  "    r2:p = offset r1 offset=56\n    store r2 1 size=8\n    call @add r1\n"));
    expect(SHARED("\nfunction add r0:p\nb0\n    r1:p = offset r0 offset=40\n    r2:w = load r1 size=8 order=seq_cst\n"
                  "    r3:w = binary r2 1 op=add\n    store r1 r3 size=8 order=seq_cst\n    return\n",
                  "    r2:p = offset r1 offset=56\n    store r2 1 size=8\n    call @add r1\n"),
           "add", DH_VIOLATION_LOST_UPDATE);
}

/* A sequence at 40, two halves at 44 and 48; one plain field, so that the object is looked at. */
static void second_look_stays_behind_a_fence(void **state)
{
    (void)state;
#define SEQUENCE(fence)                                                                                                \
    SHARED("\nfunction write r0:p\nb0\n    r1:p = offset r0 offset=44\n    store r1 1 size=4 order=relaxed\n"          \
           "    r2:p = offset r0 offset=48\n    store r2 2 size=4 order=relaxed\n    r3:p = offset r0 offset=40\n"     \
           "    store r3 2 size=4 order=release\n    return\n"                                                         \
           "\nfunction read r0:p\nb0\n    r1:p = offset r0 offset=40\n    r2:d = load r1 size=4 order=acquire\n"       \
           "    r3:p = offset r0 offset=44\n    r4:d = load r3 size=4 order=relaxed\n"                                 \
           "    r5:p = offset r0 offset=48\n    r6:d = load r5 size=4 order=relaxed\n" fence                           \
           "    r7:d = load r1 size=4 order=relaxed\n    r8:d = compare r7 r2 op=eq\n    return r8\n",                 \
           "    r2:p = offset r1 offset=56\n    store r2 1 size=8\n    call @write r1\n    r3:d = call @read r1\n")
    expect(SEQUENCE(""), "read", DH_VIOLATION_TORN_READ);
    silent(SEQUENCE("    fence order=acquire\n"));
}

static void threads_of_other_branches_never_meet(void **state)
{
    (void)state;
#define BRANCHES(edges)                                                                                                \
    "program 1\nglobal g size=8\nroot main @main\n"                                                                    \
    "\nfunction add r0:p address-taken\nb0\n    r1:w = load &g size=8\n    r2:w = binary r1 1 op=add\n"                \
    "    store &g r2 size=8\n    return\n"                                                                             \
    "\nfunction clear r0:p address-taken\nb0\n    store &g 0 size=8\n    return\n"                                     \
    "\nfunction main\nb0 -> b1 b2\n    r0:p = slot size=8\n    r1:d = copy data\n    branch r1\n" edges
    silent(BRANCHES("b1\n    create r0 @add 0\n    return\nb2\n    create r0 @clear 0\n    return\n"));
    expect(BRANCHES("b1 -> b2\n    create r0 @add 0\n    jump\nb2\n    create r0 @clear 0\n    return\n"), "add",
           DH_VIOLATION_LOST_UPDATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prog_5_1_update_of_what_was_read),
        cmocka_unit_test(prog_5_2_in_one_section),
        cmocka_unit_test(prog_5_3_checked_then_looked_up),
        cmocka_unit_test(prog_5_4_counter_doubled),
        cmocka_unit_test(prog_5_5_initialised_once),
        cmocka_unit_test(prog_5_6_two_objects),
        cmocka_unit_test(elements_are_told_apart),
        cmocka_unit_test(instances_are_told_apart),
        cmocka_unit_test(waiting_is_meant),
        cmocka_unit_test(tested_then_used),
        cmocka_unit_test(looked_at_again_under_the_lock),
        cmocka_unit_test(stored_only_if_nothing_changed),
        cmocka_unit_test(second_look_stays_behind_a_fence),
        cmocka_unit_test(threads_of_other_branches_never_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
