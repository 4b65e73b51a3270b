/* What was written is read back; what is none of it is refused, with its place, and nothing is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "base/reader.h"
#include "base_random.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 2000 };

static struct dh_cursor on(const char *text)
{
    return dh_cursor_of(text, strlen(text));
}

static uint64_t number_by_chance(uint64_t *random)
{
    uint64_t high = base_random(random, 1u << 31), low = base_random(random, 1u << 31);
    return (high << 33 ^ low << 2) >> base_random(random, 64);
}

static void numbers_are_read_back(void **state)
{
    (void)state;
    uint64_t random = 19, n;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char text[64];
        uint64_t value = number_by_chance(&random), most = number_by_chance(&random);
        snprintf(text, sizeof text, "%" PRIu64 ";", value);
        struct dh_cursor c = on(text);
        assert_int_equal(dh_cursor_take_number(&c, most, &n), value <= most);
        if (value <= most)
            assert_int_equal(n, value);
        assert_int_equal(*c.at, value <= most ? ';' : text[0]);
        snprintf(text, sizeof text, "0x%" PRIx64, value);
        c = on(text);
        assert_true(dh_cursor_take_address(&c, UINT64_MAX, &n));
        assert_int_equal(n, value);
        assert_true(dh_cursor_is_end(&c));
    }
}

static void numbers_have_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_number;
    } cases[] = {
        {"18446744073709551615", true},
        {"18446744073709551616", false},
        {"99999999999999999999999", false},
        {"9223372036854775807", true},
        {"9223372036854775808", true},
        {"-9223372036854775808", false},
        {"-9223372036854775809", false},
        {"+5", false},
        {"", false},
        {"x", false},
        {"-", false},
        {" 1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t n;
        struct dh_cursor c = on(cases[i].text);
        assert_int_equal(dh_cursor_take_number(&c, UINT64_MAX, &n), cases[i].is_number);
        if (!cases[i].is_number)
            assert_ptr_equal(c.at, cases[i].text);
    }
    uint64_t n;
    struct dh_cursor c = on("9");
    assert_false(dh_cursor_take_number(&c, 8, &n));
    assert_true(dh_cursor_take_number(&c, 9, &n));
    c = on("0x");
    assert_false(dh_cursor_take_address(&c, UINT64_MAX, &n));
}

static void quoted_strings_are_read_back(void **state)
{
    (void)state;
    static const char letters[] = {'a', ' ', '"', '\\', '\n', '\t', 'n', 't', '#'};
    uint64_t random = 23;
    for (unsigned round = 0; round < ROUNDS; round++) {
        char plain[16], text[64], store[64];
        size_t n = base_random(&random, sizeof plain), k = 0;
        text[k++] = '"';
        for (size_t i = 0; i < n; i++) {
            char c = plain[i] = letters[base_random(&random, sizeof letters)];
            if (c == '"' || c == '\\' || c == '\n')
                text[k++] = '\\';
            text[k++] = c == '\n' ? 'n' : c;
        }
        struct dh_cursor open = dh_cursor_of(text, k);
        assert_int_equal(dh_cursor_take_quoted(&open, store, "n\n"), -1);
        assert_ptr_equal(open.at, text);
        text[k++] = '"';
        struct dh_cursor c = dh_cursor_of(text, k);
        assert_int_equal(dh_cursor_take_quoted(&c, store, "n\n"), n);
        assert_memory_equal(store, plain, n);
        assert_true(dh_cursor_is_end(&c));
    }
    char store[16];
    struct dh_cursor c = on("\"a\\nb\"");
    assert_int_equal(dh_cursor_take_quoted(&c, store, NULL), 3);
    assert_memory_equal(store, "anb", 3);
    c = on("\"not\nhere\"");
    assert_int_equal(dh_cursor_take_quoted(&c, store, NULL), -1);
}

/* Lines, words and their places, against a text whose words say where they are. */
static void words_know_their_place(void **state)
{
    (void)state;
    uint64_t random = 29;
    for (unsigned round = 0; round < ROUNDS / 20; round++) {
        char text[4096];
        size_t n = 0, words = 0, seen = 0;
        unsigned lines = base_random(&random, 12), line_start = 0;
        for (unsigned line = 1; line <= lines; line++) {
            for (unsigned k = base_random(&random, 6); k--; words++) {
                n += (size_t)sprintf(text + n, "%.*s", (int)base_random(&random, 4), " \t\r ");
                n += (size_t)sprintf(text + n, "%u:%zu ", line, n - line_start + 1);
            }
            if (line < lines || base_random(&random, 2))
                text[n++] = '\n';
            line_start = (unsigned)n;
        }
        struct dh_cursor all = dh_cursor_of(text, n), line;
        struct dh_span word;
        while (dh_cursor_next_line(&all, &line))
            for (; (dh_cursor_skip_space(&line), !dh_cursor_is_end(&line)); seen++) {
                char place[32];
                snprintf(place, sizeof place, "%u:%u", line.line, dh_cursor_column(&line));
                assert_true(dh_cursor_take_word(&line, &word));
                assert_true(dh_span_is(word, place));
            }
        assert_int_equal(seen, words);
        all = dh_cursor_of(text, n);
        for (; (dh_cursor_skip_blank(&all), !dh_cursor_is_end(&all)); seen--) {
            char place[32];
            snprintf(place, sizeof place, "%u:%u", all.line, dh_cursor_column(&all));
            assert_true(dh_cursor_take_word(&all, &word));
            assert_true(dh_span_is(word, place));
        }
        assert_int_equal(seen, 0);
    }
}

static void errors_say_what_and_where(void **state)
{
    (void)state;
    char shown[8], message[24];
    struct dh_expected e = {0};
    struct dh_span word;
    struct dh_cursor all = on("first\n  lock m\x01utex_with_a_name\n"), line;
    assert_true(dh_cursor_next_line(&all, &line));
    assert_true(dh_cursor_next_line(&all, &line));
    dh_cursor_skip_space(&line);
    assert_true(dh_cursor_take_literal(&line, "lock"));
    dh_cursor_skip_space(&line);
    assert_false(dh_cursor_fail_here(&line, "a number", &e));
    assert_int_equal(e.line, 2);
    assert_int_equal(e.column, 8);
    assert_string_equal(e.what, "a number");
    assert_string_equal(dh_span_show(e.found, shown, sizeof shown), "m?utex_");
    assert_true(dh_cursor_take_word(&line, &word));
    assert_false(dh_cursor_take_word(&line, &word));
    assert_false(dh_cursor_fail_here(&line, "one more", &e));
    assert_int_equal(e.found.n, 0);
    assert_false(dh_cursor_next_line(&all, &line));
    DH_MESSAGE(message, "found '", "a\nb", "', expected more");
    assert_string_equal(message, "found 'a?b', expected m");
}

static void literals_and_separators(void **state)
{
    (void)state;
    static const char *const kinds[] = {"race", NULL, "deadlock"};
    struct dh_cursor c = on("deadlock:a b \t");
    dh_cursor_trim(&c);
    struct dh_span kind = dh_cursor_take_until(&c, ':');
    assert_int_equal(dh_span_which(kind, kinds, 3), 2);
    assert_int_equal(dh_span_which((struct dh_span){"rac", 3}, kinds, 3), -1);
    assert_false(dh_cursor_take_literal(&c, ":b"));
    assert_true(dh_cursor_take_literal(&c, ":"));
    assert_true(dh_span_is(dh_cursor_rest(&c), "a b"));
    assert_int_equal(dh_span_find(dh_cursor_rest(&c), 'b'), 2);
    assert_int_equal(dh_span_find(dh_cursor_rest(&c), 'x'), 3);
    assert_true(dh_span_is(dh_cursor_take_until(&c, 'x'), "a b"));
    assert_true(dh_cursor_is_end(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_back),        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(quoted_strings_are_read_back), cmocka_unit_test(words_know_their_place),
        cmocka_unit_test(errors_say_what_and_where),    cmocka_unit_test(literals_and_separators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
