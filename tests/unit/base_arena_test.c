/* What an arena hands out is zeroed, aligned, apart from all else and stays until it is cleared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "base/arena.h"
#include "base_random.h"

#include <string.h>

enum { ROUNDS = 12, PIECES = 300 };

static void pieces_stay_as_they_were_written(void **state)
{
    (void)state;
    struct dh_arena a = {0};
    uint64_t random = 17;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned char *piece[PIECES];
        size_t size[PIECES];
        for (unsigned i = 0; i < PIECES; i++) {
            size[i] = base_random(&random, 50) ? base_random(&random, 400) : base_random(&random, 200000);
            piece[i] = dh_arena_take(&a, size[i]);
            assert_int_equal((uintptr_t)piece[i] % 16, 0);
            for (size_t k = 0; k < size[i]; k++)
                if (piece[i][k])
                    fail();
            memset(piece[i], (int)i + 1, size[i]);
        }
        for (unsigned i = 0; i < PIECES; i++)
            for (size_t k = 0; k < size[i]; k++)
                if (piece[i][k] != (unsigned char)(i + 1))
                    fail();
        dh_arena_clear(&a);
    }
    dh_arena_release(&a);
    assert_null(a.first);
}

static void texts_are_copies(void **state)
{
    (void)state;
    struct dh_arena a = {0};
    assert_string_equal(dh_arena_text(&a, "abcdef", 3), "abc");
    assert_string_equal(dh_arena_text(&a, NULL, 0), "");
    assert_string_equal(dh_arena_format(&a, "%s:%d", "file.c", 12), "file.c:12");
    assert_string_equal(dh_arena_join(&a, "a", "", "bc", NULL), "abc");
    dh_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_stay_as_they_were_written),
        cmocka_unit_test(texts_are_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
