/* Site tables: what was written is read back, and no bytes whatever make the reader leave them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/site.h"
#include "event/site_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct dh_site_builder *example(void)
{
    struct dh_site_builder *b = dh_site_builder_new();
    struct dh_chain outer = {dh_site_builder_string(b, "main.c"), dh_site_builder_string(b, "main"), 7, 3, DH_NO_CHAIN};
    struct dh_chain inner = outer;
    inner.function = dh_site_builder_string(b, "worker");
    inner.next = dh_site_builder_chain(b, &outer);
    uint32_t chain = dh_site_builder_chain(b, &inner);
    assert_int_equal(dh_site_builder_chain(b, &outer), inner.next);
    for (uint32_t i = 0; i < 300; i++) {
        char name[32];
        snprintf(name, sizeof name, "bank.c:f:v%u:R#1", i);
        struct dh_site s = {.file = dh_site_builder_string(b, "bank.c"),
                            .function = dh_site_builder_string(b, "f"),
                            .name = dh_site_builder_string(b, name),
                            .line = i,
                            .size = 4,
                            .inlined = i % 3 ? DH_NO_CHAIN : chain,
                            .op = (uint8_t)(i % DH_OP_COUNT),
                            .flags = DH_SITE_GLOBAL};
        assert_int_equal(dh_site_builder_add(b, &s), i);
    }
    return b;
}

static void *example_bytes(size_t *n)
{
    struct dh_site_builder *b = example();
    void *bytes = dh_site_builder_write(b, n);
    dh_site_builder_free(b);
    return bytes;
}

static bool readable(const void *bytes, size_t n)
{
    struct dh_site_table t;
    const char *why = NULL;
    bool ok = dh_site_table_read(&t, bytes, n, &why);
    assert_true(ok || (why && *why));
    if (!ok)
        assert_int_equal(t.n_sites, 0);
    return ok;
}

/* Touches everything a user of an accepted table may touch. */
static uint64_t sum_of(const struct dh_site_table *t)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->n_sites; i++) {
        const struct dh_site *s = &t->sites[i];
        const uint32_t strings[] = {s->file, s->function, s->type,   s->variable, s->field,
                                    s->expr, s->name,     s->callee, s->source,   s->source_type};
        for (size_t k = 0; k < sizeof strings / sizeof *strings; k++)
            sum += strlen(dh_site_string(t, strings[k]));
        sum += strlen(dh_op_info(s->op)->name);
        for (uint32_t c = s->inlined; c != DH_NO_CHAIN; c = t->chains[c].next)
            sum += strlen(dh_site_string(t, t->chains[c].function));
    }
    return sum;
}

static void writing_and_reading_is_the_identity(void **state)
{
    (void)state;
    size_t n, again;
    struct dh_site_builder *b = example();
    void *bytes = dh_site_builder_write(b, &n), *second = dh_site_builder_write(b, &again);
    struct dh_site_table from = dh_site_builder_view(b), t;
    assert_true(dh_site_table_read(&t, bytes, n, NULL));
    assert_int_equal(t.n_sites, from.n_sites);
    assert_int_equal(t.n_chains, 2);
    assert_memory_equal(t.sites, from.sites, from.n_sites * sizeof *from.sites);
    assert_memory_equal(t.chains, from.chains, from.n_chains * sizeof *from.chains);
    assert_int_equal(t.n_strings, from.n_strings);
    assert_memory_equal(t.strings, from.strings, from.n_strings);
    assert_int_equal(n, again);
    assert_memory_equal(bytes, second, n);
    assert_string_equal(dh_site_string(&t, t.sites[5].name), "bank.c:f:v5:R#1");
    free(bytes);
    free(second);
    dh_site_builder_free(b);
}

static void an_empty_table_is_a_table(void **state)
{
    (void)state;
    size_t n;
    struct dh_site_builder *b = dh_site_builder_new();
    void *bytes = dh_site_builder_write(b, &n);
    assert_true(readable(bytes, n));
    free(bytes);
    dh_site_builder_free(b);
}

static void strings_are_kept_once(void **state)
{
    (void)state;
    struct dh_site_builder *b = dh_site_builder_new();
    assert_int_equal(dh_site_builder_string(b, ""), 0);
    assert_int_equal(dh_site_builder_string(b, NULL), 0);
    for (int i = 0; i < 5000; i++) {
        char text[16];
        snprintf(text, sizeof text, "name%d", i);
        uint32_t first = dh_site_builder_string(b, text);
        assert_int_not_equal(first, 0);
        assert_int_equal(dh_site_builder_string(b, text), first);
    }
    uint32_t before = dh_site_builder_view(b).n_strings;
    assert_int_equal(dh_site_builder_string(b, "name17"), dh_site_builder_string(b, "name17"));
    assert_int_equal(dh_site_builder_view(b).n_strings, before);
    dh_site_builder_free(b);
}

static void every_shorter_table_is_refused(void **state)
{
    (void)state;
    size_t n;
    void *bytes = example_bytes(&n);
    assert_false(readable(NULL, 0));
    for (size_t cut = 0; cut < n; cut++) {
        /* Memory of exactly that size, so that a checker sees the first byte too many. */
        void *copy = malloc(cut ? cut : 1);
        memcpy(copy, bytes, cut);
        assert_false(readable(copy, cut));
        free(copy);
    }
    free(bytes);
}

static void set_u32(void *bytes, size_t at, uint32_t value)
{
    memcpy((char *)bytes + at, &value, sizeof value);
}

static void broken_headers_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
    } breaks[] = {
        {0, 0},
        {offsetof(struct dh_site_header, version), DH_SITES_VERSION + 1},
        {offsetof(struct dh_site_header, endianness), 0x04030201},
        {offsetof(struct dh_site_header, n_sites), UINT32_MAX},
        {offsetof(struct dh_site_header, n_sites), 301},
        {offsetof(struct dh_site_header, n_chains), UINT32_MAX},
        {offsetof(struct dh_site_header, n_strings), UINT32_MAX},
        {offsetof(struct dh_site_header, n_strings), 0},
    };
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        size_t n;
        void *bytes = example_bytes(&n);
        set_u32(bytes, breaks[i].at, breaks[i].value);
        assert_false(readable(bytes, n));
        free(bytes);
    }
}

static void broken_bodies_are_refused(void **state)
{
    (void)state;
    size_t n, sites = sizeof(struct dh_site_header), chains = sites + 300 * sizeof(struct dh_site);
    const size_t next = offsetof(struct dh_chain, next);
    void *good = example_bytes(&n);
    const struct {
        size_t at;
        uint32_t value;
    } breaks[] = {
        {sites + offsetof(struct dh_site, name), UINT32_MAX},
        {sites + offsetof(struct dh_site, inlined), 2},
        {chains + next, 0},                            /* to itself */
        {chains + next, 1},                            /* a cycle of two */
        {chains + sizeof(struct dh_chain) + next, 99}, /* out of range */
        {chains + offsetof(struct dh_chain, file), (uint32_t)n},
        {n - 4, 0x41414141}, /* pool that does not end */
    };
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        void *bytes = malloc(n);
        memcpy(bytes, good, n);
        set_u32(bytes, breaks[i].at, breaks[i].value);
        assert_false(readable(bytes, n));
        free(bytes);
    }
    free(good);
}

static void flipped_bits_never_hurt(void **state)
{
    (void)state;
    size_t n, accepted = 0;
    uint64_t sum = 0;
    char *bytes = example_bytes(&n);
    for (size_t bit = 0; bit < n * 8; bit++) {
        struct dh_site_table t;
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (dh_site_table_read(&t, bytes, n, NULL)) {
            sum += sum_of(&t);
            accepted++;
        }
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(accepted > 0 && sum > 0);
    free(bytes);
}

static void unknown_operations_have_an_answer(void **state)
{
    (void)state;
    assert_string_equal(dh_op_info(DH_OP_READ)->letters, "R");
    assert_ptr_equal(dh_op_info(255), dh_op_info(DH_OP_NONE));
    assert_string_equal(dh_group_name(dh_op_info(DH_OP_THREAD_CREATE)->group), "thread");
    assert_string_equal(dh_group_name(DH_GROUP_COUNT), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writing_and_reading_is_the_identity),
        cmocka_unit_test(an_empty_table_is_a_table),
        cmocka_unit_test(strings_are_kept_once),
        cmocka_unit_test(every_shorter_table_is_refused),
        cmocka_unit_test(broken_headers_are_refused),
        cmocka_unit_test(broken_bodies_are_refused),
        cmocka_unit_test(flipped_bits_never_hurt),
        cmocka_unit_test(unknown_operations_have_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
