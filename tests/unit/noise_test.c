/* What --noise says, and what is told of what it cannot say. */
#include "event/noise.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void reads_clauses(void **state)
{
    (void)state;
    struct dh_noise n;
    struct dh_noise_error e;
    assert_true(dh_noise_read(&n,
                              "random;sync,10;var:std::map<int, X>::size,500,2ms,busy;loc:a b.c:12,1000,70ns;"
                              "var:@suspected,1,5,yield;loc:@findings;auto:20%",
                              &e));
    assert_int_equal(n.n, 7);
    assert_int_equal(n.clause[0].kind, DH_NOISE_RANDOM);
    assert_int_equal(n.clause[0].frequency, 50);
    assert_int_equal(n.clause[0].nanoseconds, 50000);
    assert_int_equal(n.clause[1].kind, DH_NOISE_SYNC);
    assert_int_equal(n.clause[1].frequency, 10);
    assert_int_equal(n.clause[2].how, DH_NOISE_BUSY);
    assert_int_equal(n.clause[2].nanoseconds, 2000000);
    assert_int_equal(n.clause[2].n_name, strlen("std::map<int, X>::size"));
    assert_int_equal(n.clause[2].group, 0);
    assert_int_equal(n.clause[3].kind, DH_NOISE_LOCATION);
    assert_int_equal(n.clause[3].group, 1);
    assert_int_equal(n.clause[3].nanoseconds, 70);
    assert_int_equal(n.clause[4].how, DH_NOISE_YIELD);
    assert_int_equal(n.clause[4].nanoseconds, 5000);
    assert_int_equal(n.clause[5].group, 3);
    assert_int_equal(n.clause[6].percent, 20);
}

static void says_what_was_expected(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned column;
        const char *words;
    } cases[] = {
        {"", 1, "expected random, sync, var:NAME, loc:FILE:LINE or auto:N%, found nothing"},
        {"loud", 1, "expected random, sync, var:NAME, loc:FILE:LINE or auto:N%, found 'loud'"},
        {"var", 1, "expected random, sync, var:NAME, loc:FILE:LINE or auto:N%, found 'var'"},
        {"random:5", 1, "expected random, sync, var:NAME, loc:FILE:LINE or auto:N%, found 'random:5'"},
        {"var:,5", 5, "expected the name of a variable, or @suspected, found nothing"},
        {"var:@all", 5, "expected the name of a variable, or @suspected, found '@all'"},
        {"loc:main.c", 5, "expected FILE:LINE, or @findings, found 'main.c'"},
        {"loc::3", 5, "expected FILE:LINE, or @findings, found ':3'"},
        {"random,1001", 8, "expected a frequency from 0 (never) to 1000 (every time), found '1001'"},
        {"random,", 7, "expected a frequency from 0 (never) to 1000 (every time), found nothing"},
        {"random,5,5h", 10, "expected a strength as 500ns, 50us or 2ms, at most 1s, found '5h'"},
        {"random,5,2s", 10, "expected a strength as 500ns, 50us or 2ms, at most 1s, found '2s'"},
        {"random,5,5us,nap", 14, "expected sleep, yield or busy, found 'nap'"},
        {"random,5,5us,busy,9", 19, "expected nothing behind frequency, strength and how, found '9'"},
        {"random;auto:lots", 13, "expected a budget as 20%, found 'lots'"},
        {"auto:0%", 6, "expected a budget as 20%, found '0%'"},
        {"sync;sync;sync;sync;sync;sync;sync;sync;sync", 41, "expected at most 8 clauses, found 'sync'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dh_noise n;
        struct dh_noise_error e;
        assert_false(dh_noise_read(&n, cases[i].text, &e));
        assert_string_equal(e.text, cases[i].words);
        if (strcmp(cases[i].text, "random,") != 0)
            assert_int_equal(e.column, cases[i].column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_clauses), cmocka_unit_test(says_what_was_expected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
