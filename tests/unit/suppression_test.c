/* Suppression lines: what is read, what is malformed and where, what a pattern matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/suppression.h"

#include <string.h>

static struct dh_suppression_reader reader(const char *text)
{
    return (struct dh_suppression_reader){.text = dh_cursor_of(text, strlen(text))};
}

static void lines(void **state)
{
    (void)state;
    struct dh_suppression s;
    const char *why;
    struct dh_suppression_reader r =
        reader("# comment\n\n  race:foo bar \r\nnothing\nrace_top:x\nmutex:\nnone:y\nannotation:z");
    assert_int_equal(dh_suppression_next(&r, &s, &why), DH_SUPPRESSION_READ);
    assert_int_equal(s.type, DH_SUPPRESS_RACE);
    assert_int_equal(s.line, 3);
    assert_int_equal(s.n, strlen("foo bar"));
    assert_int_equal(dh_suppression_next(&r, &s, &why), DH_SUPPRESSION_MALFORMED);
    assert_int_equal(s.line, 4);
    assert_int_equal(dh_suppression_next(&r, &s, &why), DH_SUPPRESSION_READ);
    assert_int_equal(s.type, DH_SUPPRESS_RACE_TOP);
    assert_int_equal(s.index, 1);
    assert_int_equal(dh_suppression_next(&r, &s, &why), DH_SUPPRESSION_MALFORMED);
    assert_int_equal(dh_suppression_next(&r, &s, &why), DH_SUPPRESSION_MALFORMED);
    assert_int_equal(dh_suppression_next(&r, &s, &why), DH_SUPPRESSION_READ);
    assert_int_equal(s.type, DH_SUPPRESS_ANNOTATION);
    assert_int_equal(s.line, 8);
    assert_int_equal(dh_suppression_next(&r, &s, &why), DH_SUPPRESSION_END);
}

static void patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"foo", "foo", true},       {"foo", "a foo b", true},    {"foo", "fo", false},      {"foo", "", false},
        {"^foo", "foobar", true},   {"^foo", "a foo", false},    {"foo$", "a foo", true},   {"foo$", "foobar", false},
        {"^foo$", "foo", true},     {"^foo$", "foo2", false},    {"f*o", "xfzzoy", true},   {"f*o$", "fabcox", false},
        {"^f*o$", "fabcobo", true}, {"*", "anything", true},     {"a*b*c", "xaybzc", true}, {"a*b*c", "acb", false},
        {"^*.c$", "src/a.c", true}, {"^*.c$", "src/a.h", false}, {"a**b", "ab", true},      {"$", "x$y", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dh_suppression s = {.pattern = rows[i].pattern, .n = strlen(rows[i].pattern)};
        if (dh_suppression_matches(&s, rows[i].text) != rows[i].matches)
            fail_msg("'%s' against '%s'", rows[i].pattern, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines), cmocka_unit_test(patterns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
