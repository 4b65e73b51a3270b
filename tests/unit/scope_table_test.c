/* The table of what critical sections may access: found by site, found by the call that was inlined, and refused when
 * its bytes cannot be one. */
#include "event/scope_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct bytes {
    struct dh_scope_header h;
    struct dh_scope_row rows[3];
    uint32_t names[4];
    struct dh_flow_row flows[6];
};

static const struct bytes good = {
    {DH_SCOPES_MAGIC, DH_SCOPES_VERSION, 3, 4, 6},
    {{.site = 4, .first = 0, .reads = 1, .writes = 1},
     {.site = 9, .first = 2, .reads = 0, .writes = 1},
     {.site = DH_NO_SITE, .function = 1, .line = 12, .column = 5, .first = 1, .reads = 3}},
    {1, 5, 1, 5},
    {{2, 4, DH_FLOW_DATA},
     {2, 9, DH_FLOW_CONTROL},
     {3, DH_NO_SITE, DH_FLOW_DECIDES},
     {4, 7, DH_FLOW_WAITS},
     {4, 8, DH_FLOW_WAITS | DH_FLOW_NOBODY_SIGNALS},
     {4, DH_NO_SITE, DH_FLOW_DECIDES}}};

/* Strings: 1 "lock_it", 9 "main". */
static const struct dh_chain chains[] = {{.function = 1, .line = 99, .column = 5, .next = DH_NO_CHAIN},
                                         {.function = 1, .line = 12, .column = 5, .next = DH_NO_CHAIN},
                                         {.function = 9, .line = 12, .column = 5, .next = 1}};
static const struct dh_site_table sites = {
    .strings = "\0lock_it\0main", .n_strings = 14, .chains = chains, .n_chains = 3};

static const struct dh_scope_row *find(uint32_t site, uint32_t chain)
{
    static struct dh_scope_table t;
    static struct bytes copy;
    copy = good;
    assert_true(dh_scope_table_read(&t, &copy, sizeof copy, NULL));
    return dh_scope_find(&t, &sites, site, chain, &sites);
}

static void by_site(void **state)
{
    (void)state;
    assert_int_equal(find(9, DH_NO_CHAIN)->first, 2);
    assert_int_equal(find(4, 1)->first, 0);
    assert_null(find(5, DH_NO_CHAIN));
    assert_null(find(DH_NO_SITE, DH_NO_CHAIN));
}

static void by_the_call_that_was_inlined(void **state)
{
    (void)state;
    assert_null(find(7, 0));
    assert_int_equal(find(7, 1)->reads, 3);
    assert_int_equal(find(7, 2)->reads, 3); /* the second call outwards */
}

static void flows(void **state)
{
    struct dh_scope_table t;
    struct bytes b = good;
    (void)state;
    assert_true(dh_scope_table_read(&t, &b, sizeof b, NULL));
    assert_int_equal(dh_flow_find(&t, 2, 4), DH_FLOW_DATA);
    assert_int_equal(dh_flow_find(&t, 2, 9), DH_FLOW_CONTROL);
    assert_int_equal(dh_flow_find(&t, 3, DH_NO_SITE), DH_FLOW_DECIDES);
    assert_int_equal(dh_flow_find(&t, 2, 5), 0);
    assert_int_equal(dh_flow_find(&t, 9, 9), 0);
}

static void waits_of_a_section(void **state)
{
    struct dh_scope_table t;
    struct bytes b = good;
    (void)state;
    assert_true(dh_scope_table_read(&t, &b, sizeof b, NULL));
    assert_int_equal(dh_flow_wait(&t, 4, 0)->lock, 7);
    assert_int_equal(dh_flow_wait(&t, 4, 1)->lock, 8);
    assert_null(dh_flow_wait(&t, 4, 2));
    assert_null(dh_flow_wait(&t, 2, 0));
    assert_null(dh_flow_wait(&t, 9, 0));
}

static void refused(void **state)
{
    struct dh_scope_table t;
    struct bytes b = good;
    const char *why = NULL;
    (void)state;
    for (size_t n = 0; n < sizeof b; n++) {
        assert_false(dh_scope_table_read(&t, &b, n, &why));
        assert_non_null(why);
    }
    b.rows[1].writes = 3;
    assert_false(dh_scope_table_read(&t, &b, sizeof b, &why));
    b = good;
    b.rows[0].site = 10;
    assert_false(dh_scope_table_read(&t, &b, sizeof b, &why));
    b = good;
    b.rows[2].first = UINT32_MAX;
    assert_false(dh_scope_table_read(&t, &b, sizeof b, &why));
    b = good;
    b.flows[0] = b.flows[1];
    assert_false(dh_scope_table_read(&t, &b, sizeof b, &why));
    b = good;
    b.h.version++;
    assert_false(dh_scope_table_read(&t, &b, sizeof b, &why));
    assert_int_equal(t.n_rows, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_site), cmocka_unit_test(by_the_call_that_was_inlined),
        cmocka_unit_test(flows),   cmocka_unit_test(waits_of_a_section),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
