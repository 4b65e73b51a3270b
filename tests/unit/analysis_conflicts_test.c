/* Small programs with one question each: is the pair suspected or not, and by which argument. */
#include "analysis_analysed.h"

static size_t suspected(const char *text)
{
    struct analysed a;
    analyse(&a, text);
    size_t n = a.conflicts.found.n;
    forget(&a);
    return n;
}

/* Accesses that nothing proves to be safe, reported or not. */
static size_t unsafe(const char *text)
{
    struct analysed a;
    size_t n = 0;
    analyse(&a, text);
    for (size_t k = 0; k < a.symex.events.n; k++)
        n += a.conflicts.unsafe[k];
    forget(&a);
    return n;
}

#define TWO_THREADS                                                                                                    \
    "\nfunction main\nb0\n    r0:p = slot size=8\n    r1:p = slot size=8\n    create r0 @worker 0\n"                   \
    "    create r1 @worker 0\n    return\n"

static void unlocked_writes_race(void **state)
{
    (void)state;
    assert_int_equal(
        suspected("program 1\nglobal g size=8\nroot main @main\n"
                  "\nfunction worker r0:p address-taken\nb0\n    store &g 1 size=8\n    return\n" TWO_THREADS),
        1); /* the instruction with itself */
}

static void one_lock_orders_them(void **state)
{
    (void)state;
    assert_int_equal(suspected("program 1\nglobal g size=8\nglobal m size=40\nroot main @main\n"
                               "\nfunction take r0:p\nb0\n    lock r0\n    return\n"
                               "\nfunction worker r0:p address-taken\nb0\n    call @take &m\n    store &g 1 size=8\n"
                               "    unlock &m\n    return\n" TWO_THREADS),
                     0);
}

static void released_lock_does_not(void **state)
{
    (void)state;
    assert_int_not_equal(suspected("program 1\nglobal g size=8\nglobal m size=40\nroot main @main\n"
                                   "\nfunction drop r0:p\nb0\n    unlock r0\n    return\n"
                                   "\nfunction worker r0:p address-taken\nb0\n    lock &m\n    call @drop &m\n"
                                   "    store &g 1 size=8\n    return\n" TWO_THREADS),
                         0);
}

/* Taken on the branch of success only. */
#define TRY_WORKER(on_success, on_failure)                                                                             \
    "program 1\nglobal g size=8\nglobal m size=40\nroot main @main\n"                                                  \
    "\nfunction worker r0:p address-taken\nb0 -> b1 b2\n    r1:d = trylock &m ok=zero\n"                               \
    "    r2:d = compare r1 0 op=eq\n    branch r2\nb1 -> b3\n" on_success                                              \
    "    unlock &m\n    jump\nb2 -> b3\n" on_failure "    jump\nb3\n    return\n" TWO_THREADS

static void trylock_counts_where_it_succeeded(void **state)
{
    (void)state;
    assert_int_equal(suspected(TRY_WORKER("    store &g 1 size=8\n", "")), 0);
    assert_int_not_equal(suspected(TRY_WORKER("", "    store &g 1 size=8\n")), 0);
}

static void once_orders_its_body_before_all(void **state)
{
    (void)state;
    assert_int_equal(suspected("program 1\nglobal g size=8\nglobal control size=8\nroot main @main\n"
                               "\nfunction worker r0:p address-taken\nb0 -> b1 b2\n"
                               "    r1:d = onceenter &control ok=nonzero\n    branch r1\nb1 -> b2\n"
                               "    store &g 1 size=8\n    onceleave &control\n    jump\nb2\n"
                               "    r2:d = load &g size=8\n    return\n" TWO_THREADS),
                     0);
}

/* Two objects of one kind, lock and datum in each, known to both threads. */
#define TWO_OBJECTS(worker)                                                                                            \
    "program 1\nglobal a size=8\nglobal b size=8\nroot main @main\n"                                                   \
    "\nfunction work r0:p r1:p\nb0\n" worker "    return\n"                                                            \
    "\nfunction worker r0:p address-taken\nb0\n    r1:p = load &a size=8\n    r2:p = load &b size=8\n"                 \
    "    call @work r1 r2\n    call @work r2 r1\n    return\n"                                                         \
    "\nfunction make\nb0\n    r0:p = alloc 48 size=48\n    return r0\n"                                                \
    "\nfunction main\nb0\n    r0:p = slot size=8\n    r1:p = slot size=8\n    r2:p = call @make\n    store &a r2 "     \
    "size=8\n"                                                                                                         \
    "    r3:p = call @make\n    store &b r3 size=8\n    store &a r3 size=8\n    create r0 @worker 0\n"                 \
    "    create r1 @worker 0\n    return\n"

static void lock_must_be_of_the_instance(void **state)
{
    (void)state;
    assert_int_equal(
        suspected(TWO_OBJECTS("    lock r0\n    r2:p = offset r0 offset=40\n    store r2 1 size=8\n    unlock r0\n")),
        0);
    assert_int_not_equal(
        suspected(TWO_OBJECTS("    lock r1\n    r2:p = offset r0 offset=40\n    store r2 1 size=8\n    unlock r1\n")),
        0);
}

/* A host with a lock and a part that it alone holds; or that hangs on another host, too. */
#define HOSTS(also)                                                                                                    \
    "program 1\nglobal a size=8\nglobal b size=8\nroot main @main\n"                                                   \
    "\nfunction work r0:p\nb0\n    lock r0\n    r1:p = offset r0 offset=40\n    r2:p = load r1 size=8\n"               \
    "    store r2 1 size=8\n    unlock r0\n    return\n"                                                               \
    "\nfunction worker r0:p address-taken\nb0\n    r1:p = load &a size=8\n    r2:p = load &b size=8\n"                 \
    "    call @work r1\n    call @work r2\n    return\n"                                                               \
    "\nfunction make\nb0\n    r0:p = alloc 48 size=48\n    r1:p = alloc 8 size=8\n    r2:p = offset r0 offset=40\n"    \
    "    store r2 r1 size=8\n    return r0\n"                                                                          \
    "\nfunction main\nb0\n    r0:p = slot size=8\n    r1:p = slot size=8\n    r2:p = call @make\n    store &a r2 "     \
    "size=8\n"                                                                                                         \
    "    r3:p = call @make\n    store &b r3 size=8\n    store &a r3 size=8\n    store &a r2 size=8\n" also             \
    "    create r0 @worker 0\n    create r1 @worker 0\n    return\n"

static void host_must_hold_it_alone(void **state)
{
    (void)state;
    assert_int_equal(unsafe(HOSTS("")), 0);
    /* By custom the lock of who leads there is the right one: not told, but not safe either. */
    assert_int_not_equal(unsafe(HOSTS("    r4:p = offset r2 offset=40\n    r5:p = load r4 size=8\n"
                                      "    r6:p = offset r3 offset=40\n    store r6 r5 size=8\n")),
                         0);
}

/* Each worker makes an object, lets everybody know of it and uses it again; or uses what it finds there. */
#define MAKERS(use)                                                                                                    \
    "program 1\nglobal p size=8\nroot main @main\n"                                                                    \
    "\nfunction worker r0:p address-taken\nb0\n    r1:p = alloc 8 size=8\n    store &p r1 size=8 order=release\n"      \
    "    r2:p = load &p size=8 order=acquire\n    store " use " 1 size=8\n    return\n" TWO_THREADS

static void what_a_thread_made_is_no_other_threads(void **state)
{
    (void)state;
    assert_int_equal(unsafe(MAKERS("r1")), 0);
    assert_int_not_equal(suspected(MAKERS("r2")), 0);
}

#define COUNTED(inner)                                                                                                 \
    "program 1\nglobal g size=8\nglobal m size=8\nroot main @main\n"                                                   \
    "\nfunction inner\nb0\n    lock &m\n" inner "    return\n"                                                         \
    "\nfunction worker r0:p address-taken\nb0\n    lock &m\n    call @inner\n    store &g 1 size=8\n    unlock &m\n"   \
    "    return\n" TWO_THREADS

static void a_lock_taken_twice_is_given_back_twice(void **state)
{
    (void)state;
    assert_int_equal(unsafe(COUNTED("    unlock &m\n")), 0);
    assert_int_not_equal(unsafe(COUNTED("    unlock &m\n    unlock &m\n")), 0);
}

/* An array and a datum behind it in one element; the index is not known. */
#define ROWS(behind)                                                                                                   \
    "program 1\nglobal rows size=48\nglobal g size=8\nglobal m size=8\nroot main @main\n"                              \
    "\nfunction worker r0:p address-taken\nb0\n    lock &m\n    r1:d = load &g size=8\n    unlock &m\n"                \
    "    r2:p = index &rows r1 size=24 count=2 bounded\n    r3:p = index r2 r1 size=8 count=2 bounded\n"               \
    "    r4:d = load r3 size=8\n    r5:p = offset r2 offset=" behind "\n    lock &m\n    store r5 1 size=8\n"          \
    "    unlock &m\n    return\n" TWO_THREADS

static void an_array_ends_where_it_ends(void **state)
{
    (void)state;
    assert_int_equal(unsafe(ROWS("16")), 0);
    assert_int_not_equal(unsafe(ROWS("8")), 0);
}

/* Started by one function, joined by another, any number of times: nothing proves that all have ended. */
#define CREW(join)                                                                                                     \
    "program 1\nglobal g size=8\nglobal h size=64\nroot main @main\n"                                                  \
    "\nfunction worker r0:p address-taken\nb0\n    store &g 1 size=8\n    return\n"                                    \
    "\nfunction begin r0:d\nb0\n    r1:p = index &h r0 size=8 count=8 bounded\n    create r1 @worker 0\n    return\n"  \
    "\nfunction end r0:d\nb0\n    r1:p = index &h r0 size=8 count=8 bounded\n    r2:w = load r1 size=8\n" join         \
    "    return\n"                                                                                                     \
    "\nfunction main r0:d\nb0\n    call @begin r0\n    call @begin r0\n    call @end r0\n    call @end r0\n"           \
    "    store &g 2 size=8\n    return\n"

static void joins_are_believed_but_prove_nothing(void **state)
{
    struct analysed a;
    (void)state;
    assert_int_equal(suspected(CREW("    join r2\n")) + 1, suspected(CREW("")));
    analyse(&a, CREW("    join r2\n"));
    for (size_t n = 0; n < a.symex.events.n; n++)
        if (a.symex.threads.at[a.symex.events.at[n].thread].kind == DH_ROOT_MAIN &&
            a.symex.events.at[n].kind == DH_SYMEX_WRITE && a.symex.events.at[n].node == a.points_to.globals[0].node)
            assert_true(a.conflicts.unsafe[n]);
    forget(&a);
}

/* A list under a lock: who takes the first one out uses it alone, who only looks at it does not. */
#define LIST(take)                                                                                                     \
    "program 1\nglobal head size=8\nglobal m size=8\nroot main @main\n"                                                \
    "\nfunction worker r0:p address-taken\nb0\n    lock &m\n    r1:p = load &head size=8\n" take                       \
    "    unlock &m\n    r2:p = offset r1 offset=8\n    store r2 1 size=8\n    return\n"                                \
    "\nfunction main\nb0\n    r0:p = slot size=8\n    r1:p = slot size=8\n    r2:p = alloc 16 size=16\n"               \
    "    r3:p = alloc 16 size=16\n    store r2 r3 size=8\n    store &head r2 size=8\n    create r0 @worker 0\n"        \
    "    create r1 @worker 0\n    return\n"

static void what_is_taken_out_is_the_takers(void **state)
{
    (void)state;
    assert_int_equal(suspected(LIST("    r3:p = load r1 size=8\n    store &head r3 size=8\n")), 0);
    assert_int_not_equal(unsafe(LIST("    r3:p = load r1 size=8\n    store &head r3 size=8\n")), 0);
    assert_int_not_equal(suspected(LIST("")), 0);
}

static void calls_by_table_are_followed(void **state)
{
    struct analysed a;
    (void)state;
    analyse(
        &a,
        "program 1\nglobal g size=8\nglobal table size=16 constant\ninitial 0 @set\ninitial 8 @get\nroot main @main\n"
        "\nfunction set address-taken\nb0\n    store &g 1 size=8\n    return\n"
        "\nfunction get address-taken\nb0\n    r0:d = load &g size=8\n    return\n"
        "\nfunction worker r0:p address-taken\nb0\n    r1:p = load &table size=8\n    call r1\n    "
        "return\n" TWO_THREADS);
    assert_int_equal(a.points_to.n_indirect, 1);
    assert_int_equal(a.points_to.n_unresolved, 0);
    assert_int_not_equal(a.conflicts.found.n, 0);
    forget(&a);
}

static void callers_allocate_apart(void **state)
{
    struct analysed a;
    (void)state;
    analyse(&a, "program 1\nglobal a size=8\nglobal b size=8\nroot main @main\n"
                "\nfunction make\nb0\n    r0:p = alloc 16 size=16\n    return r0\n"
                "\nfunction main\nb0\n    r0:p = call @make\n    store &a r0 size=8\n    r1:p = call @make\n"
                "    store &b r1 size=8\n    return\n");
    struct dh_heap_cell x = dh_heap_graph_find_pointee(&a.points_to.graph, a.points_to.globals[0]);
    struct dh_heap_cell y = dh_heap_graph_find_pointee(&a.points_to.graph, a.points_to.globals[1]);
    assert_int_not_equal(x.node, y.node);
    forget(&a);
}

static void unordered_escape_takes_the_object_with_it(void **state)
{
    struct analysed a;
    bool second = false;
    (void)state;
    analyse(&a,
            "program 1\nglobal p size=8\nroot main @main\n"
            "\nfunction worker r0:p address-taken\nb0 -> b1 b2\n    r1:p = load &p size=8\n"
            "    r2:d = compare r1 0 op=ne\n    branch r2\nb1\n    r3:d = load r1 size=8\n    return\n"
            "b2\n    r4:p = alloc 8 size=8\n    store r4 7 size=8\n    store &p r4 size=8\n    return\n" TWO_THREADS);
    for (size_t n = 0; n < a.conflicts.found.n; n++)
        second |= a.conflicts.found.at[n].cause != DH_NONE;
    assert_true(second);
    forget(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unlocked_writes_race),
        cmocka_unit_test(one_lock_orders_them),
        cmocka_unit_test(released_lock_does_not),
        cmocka_unit_test(trylock_counts_where_it_succeeded),
        cmocka_unit_test(once_orders_its_body_before_all),
        cmocka_unit_test(lock_must_be_of_the_instance),
        cmocka_unit_test(host_must_hold_it_alone),
        cmocka_unit_test(what_a_thread_made_is_no_other_threads),
        cmocka_unit_test(a_lock_taken_twice_is_given_back_twice),
        cmocka_unit_test(an_array_ends_where_it_ends),
        cmocka_unit_test(joins_are_believed_but_prove_nothing),
        cmocka_unit_test(what_is_taken_out_is_the_takers),
        cmocka_unit_test(calls_by_table_are_followed),
        cmocka_unit_test(callers_allocate_apart),
        cmocka_unit_test(unordered_escape_takes_the_object_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
