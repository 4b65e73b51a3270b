/* Witnesses: what is written is read back, what was changed is refused in one line. */
#include "prove/witness.h"
#include "search/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct dh_witness_step step(uint32_t thread, uint8_t kind, uint32_t occurrence, uint32_t way, const char *place)
{
    struct dh_witness_step s = {thread, occurrence, way, kind, dh_strdup(place)};
    return s;
}

static void set(char **field, const char *text)
{
    free(*field);
    *field = dh_strdup(text);
}

static void make(struct dh_witness *w)
{
    struct dh_witness_build b = {dh_strdup("00112233445566778899aabbccddeeff"), dh_strdup("my bank")};
    struct dh_witness_input i = {dh_strdup("ffeeddccbbaa99887766554433221100"), dh_strdup("in put\n.txt")};
    dh_witness_init(w);
    set(&w->kind, "race");
    set(&w->finding, "5e02c27283bf262b");
    set(&w->program, "./my bank");
    set(&w->input, "in put\n.txt");
    w->threads = 3;
    w->spurious = w->fresh = w->all_visible = w->only_visible = w->watchdogs = true;
    dh_vec_push(&w->builds, b);
    dh_vec_push(&w->arguments, dh_strdup("a b"));
    dh_vec_push(&w->arguments, dh_strdup(""));
    dh_vec_push(&w->arguments, dh_strdup("back\\slash\ttab\x7f"));
    dh_vec_push(&w->environment, dh_strdup("LC_ALL=C.UTF-8"));
    dh_vec_push(&w->inputs, i);
    dh_vec_push(&w->visible, dh_strdup("bank.c:deposit:struct account.balance:W#2"));
    struct dh_racy_element global = {.global = "the grid", .offset = 836}, heap = {.block = 4000, .offset = 8};
    dh_vec_push(&w->elements, global);
    dh_vec_push(&w->elements, heap);
    w->undisturbed = 4000000;
    w->quantum = 64;
    dh_vec_push(&w->steps, step(0, DH_STEP_CREATE, 0, 0, "bank.c:main:a:create#1"));
    dh_vec_push(&w->steps, step(2, DH_STEP_WAIT, 7, 1, "bank.c:take:full:wait#1@2"));
    dh_vec_push(&w->parties, step(1, DH_STEP_WRITE, 0, 0, "bank.c:deposit:struct account.balance:W#2"));
    dh_vec_push(&w->parties, step(2, DH_STEP_READ, 3, 0, "?"));
}

static char *text_of(const struct dh_witness *w)
{
    struct dh_str s = {0};
    dh_witness_print(&s, w);
    dh_str_add(&s, "mark 0123456789abcdef0123456789abcdef\n");
    return dh_str_take(&s);
}

static bool reads(const char *text, size_t n, struct dh_err *err)
{
    struct dh_witness w;
    char mark[33];
    size_t body;
    bool ok = dh_witness_parse(&w, text, n, mark, &body, err);
    dh_witness_release(&w);
    return ok;
}

static void is_read_as_written(void **state)
{
    (void)state;
    struct dh_witness w, r;
    struct dh_err err = {0};
    char mark[33];
    size_t body;
    make(&w);
    char *text = text_of(&w);
    assert_true(dh_witness_parse(&r, text, strlen(text), mark, &body, &err));
    assert_string_equal(mark, "0123456789abcdef0123456789abcdef");
    assert_int_equal(body, strlen(text) - strlen("mark 0123456789abcdef0123456789abcdef\n"));
    char *again = text_of(&r);
    assert_string_equal(text, again);
    assert_int_equal(r.arguments.n, 3);
    assert_string_equal(r.arguments.at[1], "");
    assert_string_equal(r.arguments.at[2], "back\\slash\ttab\x7f");
    assert_string_equal(r.inputs.at[0].path, "in put\n.txt");
    assert_string_equal(r.steps.at[1].place, "bank.c:take:full:wait#1@2");
    assert_int_equal(r.steps.at[1].alternative, 1);
    assert_true(r.spurious && r.fresh && r.all_visible && r.only_visible && r.watchdogs);
    assert_int_equal(r.undisturbed, 4000000);
    assert_int_equal(r.quantum, 64);
    assert_int_equal(r.parties.at[1].occurrence, 3);
    assert_int_equal(r.elements.n, 2);
    assert_string_equal(r.elements.at[0].global, "the grid");
    assert_int_equal(r.elements.at[1].block, 4000);
    free(text);
    free(again);
    dh_witness_release(&w);
    dh_witness_release(&r);
}

static void cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct dh_witness w;
    make(&w);
    char *text = text_of(&w);
    for (size_t n = 0; n < strlen(text); n++) {
        struct dh_err err = {0};
        assert_false(reads(text, n, &err));
        assert_non_null(err.text);
        assert_null(strchr(err.text, '\n'));
        dh_err_release(&err);
    }
    free(text);
    dh_witness_release(&w);
}

static char *with(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    assert_non_null(at);
    return dh_format("%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

static void changes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *old, *new, *why;
    } changes[] = {
        {"deadheat-witness 1", "deadheat-witness 2", "it is a witness of version 2; this is for version 1"},
        {"deadheat-witness 1", "witness 1", "it is no witness"},
        {"undisturbed 4000000 64", "undisturbed 4000000", "an undisturbed beginning is STEPS QUANTUM"},
        {"undisturbed 4000000 64", "undisturbed 0 64", "an undisturbed beginning is STEPS QUANTUM"},
        {"steps 2", "steps 3", "it announces 3 steps and has 2"},
        {"balance:W#2\nelement", "balance:W#3\nelement", "its visible set is not the one that its hash is of"},
        {"environment LC_ALL=", "environment LD_PRELOAD=", "line 8: a witness may not set that variable"},
        {"end race", "end marathon", "no end of that kind is known"},
        {"step 0 create", "step 0 jump", "a step is THREAD KIND OCCURRENCE ALTERNATIVE PLACE"},
        {"step 0 create 0", "step 0 create -1", "a step is THREAD KIND OCCURRENCE ALTERNATIVE PLACE"},
        {"step 0 create 0", "step 4294967296 create 0", "a step is THREAD KIND OCCURRENCE ALTERNATIVE PLACE"},
        {"threads 3\n", "", "it has no line 'threads'"},
        {"threads 3\n", "threads 3\nthreads 3\n", "said twice"},
        {"threads 3\n", "threads 3\nprogram x\n", "out of order"},
        {"threads 3\n", "threads 3\nfrobs 3\n", "nothing that a witness says"},
        {"element 4000 8", "element 0 8", "an element is BLOCK OFFSET"},
        {"element 4000 8", "element 4000 x", "an element is BLOCK OFFSET"},
        {"\\x09", "\\x0", "a broken escape"},
        {"\\x09", "\\x00", "a broken escape"},
        {"build 0", "build g", "a build is an id of 32 hexadecimal digits and a name"},
    };
    struct dh_witness w;
    make(&w);
    char *text = text_of(&w);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct dh_err err = {0};
        char *changed = with(text, changes[i].old, changes[i].new);
        assert_false(reads(changed, strlen(changed), &err));
        if (!strstr(err.text, changes[i].why))
            assert_string_equal(err.text, changes[i].why);
        dh_err_release(&err);
        free(changed);
    }
    free(text);
    dh_witness_release(&w);
}

static void only_harmless_variables_are_set(void **state)
{
    (void)state;
    assert_true(dh_witness_may_set("LANG=C"));
    assert_true(dh_witness_may_set("TZ="));
    static const char *const never[] = {
        "LD_PRELOAD=x", "LD_LIBRARY_PATH=/", "DEADHEAT_OPTIONS=", "PATH=/", "LANG", "LANGX=1", "=x", ""};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_false(dh_witness_may_set(never[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_read_as_written),
        cmocka_unit_test(cut_anywhere_is_refused),
        cmocka_unit_test(changes_are_refused),
        cmocka_unit_test(only_harmless_variables_are_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
