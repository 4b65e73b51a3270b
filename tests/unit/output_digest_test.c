/* What was printed: lines in any order and in any pieces, numbers alike where that is asked for. */
#include "event/output_digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static uint64_t sum(const char *text, size_t piece, bool alike)
{
    struct dh_output_digest p = {0};
    for (size_t n = strlen(text), i = 0; i < n; i += piece)
        dh_output_digest_add(&p, (const unsigned char *)text + i, n - i < piece ? n - i : piece, alike);
    return dh_output_digest_sum(p);
}

static void lines_come_in_any_order_and_pieces(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 9; piece++) {
        assert_true(sum("one 12\ntwo\n", piece, false) == sum("two\none 12\n", 100, false));
        assert_true(sum("one 12\ntwo", piece, true) == sum("two\none 34\n", 100, true));
    }
    assert_true(sum("one\n\n", 1, false) != sum("one\n", 1, false));
    assert_true(sum("one\none\n", 1, false) != sum("one\n", 1, false));
}

static void numbers_are_alike_where_asked_for(void **state)
{
    (void)state;
    assert_true(sum("about 6000 of 17\n", 3, true) == sum("about 5 of 1\n", 3, true));
    assert_true(sum("about 6000\n", 3, false) != sum("about 5\n", 3, false));
    assert_true(sum("about 6000\n", 3, true) != sum("about\n", 3, true));
    assert_true(sum("wrong: 7\n", 3, true) != sum("right: 7\n", 3, true));
    assert_true(sum("1\n2\n", 3, true) != sum("12\n", 3, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_in_any_order_and_pieces),
        cmocka_unit_test(numbers_are_alike_where_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
