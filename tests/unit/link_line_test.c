/* The linker's command line: what is an input, what takes a value, what must be remembered. */
#include "driver/link_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LINE(...) (char *[]){__VA_ARGS__}, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *))

static struct dh_link_line read_line(char **words, int n)
{
    struct dh_link_line l;
    struct dh_err err = {0};
    assert_true(dh_link_line_read(&l, n, words, &err));
    return l;
}

static void values_belong_to_their_options(void **state)
{
    (void)state;
    struct dh_link_line l = read_line(LINE("-o", "out", "-L", "lib", "-lfoo", "-z", "now", "a.o", "-rpath=/x", "-m",
                                           "elf_x86_64", "-e", "start", "--wrap=f", "-u", "g", "-Lother"));
    assert_string_equal(l.output, "out");
    size_t files = 0, searches = 0;
    for (size_t i = 0; i < l.words.n; i++) {
        files += l.words.at[i].kind == DH_LINK_WORD_FILE;
        searches += l.words.at[i].kind == DH_LINK_WORD_SEARCH_PATH;
    }
    assert_int_equal(files, 1);
    assert_int_equal(searches, 2);
    assert_int_equal(l.wrapped.n, 1);
    assert_int_equal(l.kept_symbols.n, 2);
    dh_link_line_release(&l);
}

static void words_come_out_as_they_went_in(void **state)
{
    (void)state;
    char *words[] = {
        "--hash-style=gnu", "--build-id",  "-pie", "-dynamic-linker",  "/ld.so", "a.o", "--start-group", "-lx",
        "--end-group",      "--as-needed", "-lc",  "--export-dynamic", "-z",     "defs"};
    int n = sizeof words / sizeof *words;
    struct dh_link_line l = read_line(words, n);
    struct dh_argv out = {0};
    for (size_t i = 0; i < l.words.n; i++)
        dh_link_word_write(&l.words.at[i], &out);
    assert_int_equal(out.n, n);
    for (int i = 0; i < n; i++)
        assert_string_equal(out.at[i], words[i]);
    assert_true(l.export_dynamic && l.has_libc && l.kind == DH_LINK_PIE);
    dh_argv_release(&out);
    dh_link_line_release(&l);
}

static void long_options_are_not_short_ones_with_values(void **state)
{
    (void)state;
    struct dh_link_line l = read_line(LINE("-export-dynamic", "-eh-frame-hdr", "--omagic", "a.o", "-Bsymbolic", "-O2"));
    assert_int_equal(l.kept_symbols.n, 0);
    assert_string_equal(l.output, "a.out");
    assert_true(l.export_dynamic);
    dh_link_line_release(&l);
}

static void static_around_a_library_is_not_a_static_link(void **state)
{
    (void)state;
    struct dh_link_line l = read_line(LINE("a.o", "-Bstatic", "-lx", "-Bdynamic", "-lc"));
    assert_false(l.is_static);
    assert_true(l.words.at[2].prefers_static && !l.words.at[4].prefers_static);
    dh_link_line_release(&l);
    l = read_line(LINE("-static", "a.o", "-lc"));
    assert_true(l.is_static);
    dh_link_line_release(&l);
}

static void files_the_linker_reads_are_known(void **state)
{
    (void)state;
    struct dh_link_line l =
        read_line(LINE("--version-script=v.map", "-T", "script.ld", "--dynamic-list", "d.list", "a.o"));
    size_t reads = 0;
    for (size_t i = 0; i < l.words.n; i++)
        reads += l.words.at[i].kind == DH_LINK_WORD_FILE_OPTION;
    assert_int_equal(reads, 3);
    dh_link_line_release(&l);
}

static void a_missing_value_is_said(void **state)
{
    (void)state;
    struct dh_link_line l;
    struct dh_err err = {0};
    char *words[] = {"a.o", "-o"};
    assert_false(dh_link_line_read(&l, 2, words, &err));
    assert_non_null(strstr(err.text, "-o"));
    dh_err_release(&err);
    dh_link_line_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_belong_to_their_options),
        cmocka_unit_test(words_come_out_as_they_went_in),
        cmocka_unit_test(long_options_are_not_short_ones_with_values),
        cmocka_unit_test(static_around_a_library_is_not_a_static_link),
        cmocka_unit_test(files_the_linker_reads_are_known),
        cmocka_unit_test(a_missing_value_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
