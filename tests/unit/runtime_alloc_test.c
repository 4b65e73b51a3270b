/* The runtime's allocator under several threads: blocks never overlap, come back after free, and are aligned.
 * Needs src/runtime/platform/alloc.c. */
#include "runtime/platform/alloc.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 200, ROUNDS = 20000, THREADS = 4 };

/* Each block is filled with its owner's mark; a foreign mark means that two owners got one block. */
static void *churn(void *arg)
{
    unsigned char *block[BLOCKS] = {0};
    size_t size[BLOCKS];
    unsigned char mark = (unsigned char)(uintptr_t)arg;
    uint64_t random = mark;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned at = (unsigned)(random >> 33) % BLOCKS;
        for (size_t k = 0; block[at] && k < size[at]; k++)
            if (block[at][k] != mark)
                return "two owners";
        dh_free(block[at], block[at] ? size[at] : 1);
        size[at] = (size_t)1 << ((random >> 40) % 14);
        size[at] += (random >> 50) % size[at];
        block[at] = dh_alloc(size[at]);
        if (!block[at] || (uintptr_t)block[at] % 16)
            return "no block, or not aligned";
        memset(block[at], mark, size[at]);
    }
    for (int i = 0; i < BLOCKS; i++)
        dh_free(block[i], block[i] ? size[i] : 1);
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    pthread_t t[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *problem;
        assert_int_equal(pthread_join(t[i], &problem), 0);
        assert_null(problem);
    }
}

static void freed_blocks_come_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 32, 33, 5000, 40000, (size_t)4 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *first = dh_alloc(sizes[i]);
        assert_non_null(first);
        dh_free(first, sizes[i]);
        assert_ptr_equal(dh_alloc(sizes[i]), first);
    }
}

static void large_and_impossible(void **state)
{
    (void)state;
    char *large = dh_alloc((size_t)64 << 20);
    assert_non_null(large);
    large[((size_t)64 << 20) - 1] = 1;
    dh_free(large, (size_t)64 << 20);
    assert_null(dh_alloc((size_t)1 << 60));
    dh_free(NULL, 10);
}

static void forever_is_zero(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        unsigned char *p = dh_alloc_forever(1000);
        assert_non_null(p);
        for (int k = 0; k < 1000; k++)
            assert_int_equal(p[k], 0);
        memset(p, 255, 1000);
    }
    assert_string_equal(dh_alloc_text("a path"), "a path");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_blocks_come_back),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(large_and_impossible),
        cmocka_unit_test(forever_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
