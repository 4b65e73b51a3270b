/* The compiler's command line: which step it is, what is dropped, what is refused. */
#include "driver/arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define READ(a, ...) read_args(a, (char *[]){__VA_ARGS__}, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)))

static void read_args(struct dh_cc_args *a, char **words, int n)
{
    struct dh_err err = {0};
    if (!dh_cc_args_read(a, n, words, &err))
        fail_msg("%s", err.text);
}

static bool has_word(const struct dh_cc_args *a, const char *word)
{
    for (int i = 0; i < a->words.n; i++)
        if (strcmp(a->words.at[i], word) == 0)
            return true;
    return false;
}

static void the_step_is_told(void **state)
{
    (void)state;
    struct dh_cc_args a;
    READ(&a, "-c", "x.c", "-o", "x.o");
    assert_int_equal(a.step, DH_CC_COMPILE);
    assert_string_equal(a.output, "x.o");
    assert_int_equal(a.sources.n, 1);
    dh_cc_args_release(&a);
    READ(&a, "x.c", "y.o", "-lm", "-O2");
    assert_int_equal(a.step, DH_CC_LINK);
    assert_int_equal(a.level, '2');
    assert_int_equal(a.n_inputs, 2);
    dh_cc_args_release(&a);
    READ(&a, "-E", "x.c");
    assert_int_equal(a.step, DH_CC_OTHER);
    dh_cc_args_release(&a);
    READ(&a, "--version");
    assert_int_equal(a.step, DH_CC_OTHER);
    dh_cc_args_release(&a);
}

static void values_are_not_inputs(void **state)
{
    (void)state;
    struct dh_cc_args a;
    READ(&a, "-include", "pre.c", "-MF", "dep.c", "-x", "c", "-c", "source.weird", "-I", "dir.c");
    assert_int_equal(a.n_inputs, 1);
    assert_int_equal(a.sources.n, 1);
    assert_string_equal(a.sources.at[0], "source.weird");
    dh_cc_args_release(&a);
}

static void unwanted_options_go(void **state)
{
    (void)state;
    struct dh_cc_args a;
    READ(&a, "-flto=auto", "-ffat-lto-objects", "-fconserve-stack", "-fuse-ld=gold", "-g0", "-c", "x.c");
    assert_false(has_word(&a, "-flto=auto") || has_word(&a, "-ffat-lto-objects") || has_word(&a, "-fconserve-stack"));
    assert_false(has_word(&a, "-fuse-ld=gold") || has_word(&a, "-g0") || a.debug);
    dh_cc_args_release(&a);
}

static void a_probe_gets_clangs_answer(void **state)
{
    (void)state;
    struct dh_cc_args a;
    READ(&a, "-fconserve-stack", "-c", "conftest.c");
    assert_true(a.probe && has_word(&a, "-fconserve-stack"));
    dh_cc_args_release(&a);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const words[] = {"-fsanitize=thread", "-fsanitize=undefined,memory", "-fprofile-generate",
                                        "-fdeadheat-nonsense"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct dh_cc_args a;
        struct dh_err err = {0};
        char *argv[] = {(char *)words[i], "x.c"};
        assert_false(dh_cc_args_read(&a, 2, argv, &err));
        assert_non_null(strchr(err.text, '-'));
        dh_err_release(&err);
        dh_cc_args_release(&a);
    }
}

static void response_files_split_by_gnu_rules(void **state)
{
    (void)state;
    struct dh_argv out = {0};
    dh_response_split("a 'b c' \"d\\\"e\" f\\ g\n\th", &out);
    assert_int_equal(out.n, 5);
    assert_string_equal(out.at[1], "b c");
    assert_string_equal(out.at[2], "d\"e");
    assert_string_equal(out.at[3], "f g");
    dh_argv_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_step_is_told),          cmocka_unit_test(values_are_not_inputs),
        cmocka_unit_test(unwanted_options_go),       cmocka_unit_test(a_probe_gets_clangs_answer),
        cmocka_unit_test(what_cannot_be_is_refused), cmocka_unit_test(response_files_split_by_gnu_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
