/* The archive reader on archives built here by hand: GNU names, long names, thin ones, damage. */
#include "image/archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct built {
    char at[4096];
    size_t n;
};

static void start(struct built *b, const char *magic)
{
    b->n = (size_t)sprintf(b->at, "%s", magic);
}

static void member(struct built *b, const char *name, const char *content, size_t size, int stored)
{
    b->n += (size_t)sprintf(b->at + b->n, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", name, "0", "0", "0", "644", size);
    if (stored) {
        memcpy(b->at + b->n, content, size);
        b->n += size;
        if (size & 1)
            b->at[b->n++] = '\n';
    }
}

static void members_keep_names_and_bytes(void **state)
{
    (void)state;
    struct built b;
    struct dh_archive a;
    struct dh_err err = {0};
    start(&b, "!<arch>\n");
    member(&b, "/", "index", 5, 1);
    member(&b, "//", "a_very_long_member_name.o/\n", 27, 1);
    member(&b, "short.o/", "abc", 3, 1);
    member(&b, "/0", "long", 4, 1);
    assert_true(dh_archive_read(&a, "lib.a", b.at, b.n, &err));
    assert_int_equal(a.members.n, 2);
    assert_string_equal(a.members.at[0].name, "short.o");
    assert_memory_equal(a.members.at[0].bytes, "abc", 3);
    assert_string_equal(a.members.at[1].name, "a_very_long_member_name.o");
    assert_int_equal(a.members.at[1].n, 4);
    dh_archive_release(&a);
}

static void thin_members_are_beside_the_archive(void **state)
{
    (void)state;
    struct built b;
    struct dh_archive a;
    struct dh_err err = {0};
    start(&b, "!<thin>\n");
    member(&b, "//", "part.o/\n/abs/other.o/\n", 22, 1);
    member(&b, "/0", "", 1000, 0);
    member(&b, "/8", "", 2000, 0);
    assert_true(dh_archive_read(&a, "sub/lib.a", b.at, b.n, &err));
    assert_int_equal(a.members.n, 2);
    assert_string_equal(a.members.at[0].path, "sub/part.o");
    assert_string_equal(a.members.at[1].path, "/abs/other.o");
    dh_archive_release(&a);
}

/* Every way of cutting the archive short is an error or a shorter archive, with a reason in words. */
static void damage_is_refused(void **state)
{
    (void)state;
    struct built b;
    struct dh_archive a;
    start(&b, "!<arch>\n");
    member(&b, "one.o/", "0123456789", 10, 1);
    for (size_t n = 9; n < b.n; n++) {
        struct dh_err err = {0};
        assert_false(dh_archive_read(&a, "lib.a", b.at, n, &err));
        assert_non_null(strstr(err.text, "lib.a"));
        dh_err_release(&err);
    }
    struct dh_err err = {0};
    start(&b, "!<arch>\n");
    member(&b, "/99", "x", 1, 1);
    assert_false(dh_archive_read(&a, "lib.a", b.at, b.n, &err));
    assert_non_null(strstr(err.text, "bad member name"));
    dh_err_release(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_keep_names_and_bytes),
        cmocka_unit_test(thin_members_are_beside_the_archive),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
