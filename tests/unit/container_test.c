/* The embedded container and the link recipe: what is written is read again; damage of any byte is noticed. */
#include "driver/link_recipe.h"
#include "image/container.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct dh_bytes example(void)
{
    struct dh_err err = {0};
    struct dh_container_writer *w = dh_container_writer_new("race");
    assert_true(dh_container_add(w, "module", "the module, the module", 22, &err));
    assert_true(dh_container_add(w, "empty", "", 0, &err));
    struct dh_id id = dh_content_hash("x", 1);
    return dh_container_finish(w, &id);
}

static struct dh_bytes copy(struct dh_bytes b, size_t n)
{
    struct dh_bytes c = {.at = malloc(n ? n : 1), .n = n};
    memcpy(c.at, b.at, n);
    return c;
}

static void parts_come_back(void **state)
{
    (void)state;
    struct dh_err err = {0};
    struct dh_container c;
    struct dh_bytes part;
    assert_true(dh_container_parse(&c, "file", example(), &err));
    assert_string_equal(c.variant, "race");
    assert_true(dh_container_read(&c, "module", &part, &err));
    assert_int_equal(part.n, 22);
    assert_memory_equal(part.at, "the module, the module", 22);
    dh_bytes_release(&part);
    assert_true(dh_container_read(&c, "empty", &part, &err));
    assert_int_equal(part.n, 0);
    dh_bytes_release(&part);
    assert_false(dh_container_read(&c, "absent", &part, &err));
    dh_err_release(&err);
    dh_container_release(&c);
}

/* True when parsing and reading both parts still works and gives the right bytes. */
static bool survives(struct dh_bytes section)
{
    struct dh_err err = {0};
    struct dh_container c;
    struct dh_bytes part;
    if (!dh_container_parse(&c, "file", section, &err)) {
        assert_non_null(strstr(err.text, "file"));
        dh_err_release(&err);
        return false;
    }
    bool ok = dh_container_read(&c, "module", &part, &err);
    if (ok) {
        ok = part.n == 22 && memcmp(part.at, "the module, the module", 22) == 0;
        dh_bytes_release(&part);
    }
    dh_err_release(&err);
    dh_container_release(&c);
    return ok;
}

static void cutting_and_flipping_is_noticed(void **state)
{
    (void)state;
    struct dh_bytes whole = example();
    for (size_t n = 0; n + 1 < whole.n - 9; n++) /* the last bytes belong to the empty part */
        assert_false(survives(copy(whole, n)));
    size_t silent = 0;
    for (size_t i = 0; i < whole.n * 8; i++) {
        struct dh_bytes c = copy(whole, whole.n);
        c.at[i / 8] ^= (uint8_t)(1 << i % 8);
        silent += survives(c);
    }
    /* Only id, variant name, reserved field and the empty part's bytes may change unnoticed by this reader of 'module'.
     */
    assert_true(silent <= (16 + 32 + 4 + 16) * 8);
    dh_bytes_release(&whole);
}

static void recipes_come_back(void **state)
{
    (void)state;
    struct dh_err err = {0};
    struct dh_link_recipe r = {.output = DH_LINK_SHARED, .level = 's', .asan = true}, again;
    dh_link_recipe_add(&r, DH_RECIPE_OPTION, "--build-id", NULL, NULL, 0);
    dh_link_recipe_add(&r, DH_RECIPE_OBJECT, "a.o", NULL, "\0bytes", 6);
    dh_link_recipe_add(&r, DH_RECIPE_FILE_OPTION, "v.map", "version-script", "{};", 3);
    struct dh_bytes b = dh_link_recipe_write(&r);
    assert_true(dh_link_recipe_read(&again, b.at, b.n, &err));
    assert_int_equal(again.items.n, 3);
    assert_true(again.level == 's' && again.asan && again.output == DH_LINK_SHARED);
    assert_memory_equal(again.items.at[1].bytes.at, "\0bytes", 6);
    assert_string_equal(again.items.at[2].option, "version-script");
    dh_link_recipe_release(&again);
    for (size_t n = 0; n < b.n; n++) {
        assert_false(dh_link_recipe_read(&again, b.at, n, &err));
        dh_err_release(&err);
    }
    dh_bytes_release(&b);
    dh_link_recipe_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_come_back),
        cmocka_unit_test(cutting_and_flipping_is_noticed),
        cmocka_unit_test(recipes_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
