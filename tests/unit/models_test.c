/* Models of libraries: what the tool knows by itself is well formed, later ones win, mistakes are told with their line.
 */
#include "model/library_models.h"
#include "model/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct dh_effect *first_effect(const struct dh_library_models *m, const char *name)
{
    const struct dh_library_function *f = dh_library_models_find(m, name);
    assert_non_null(f);
    return f->n_effects ? &m->effects.at[f->effect] : NULL;
}

static void knows_libraries(void **state)
{
    (void)state;
    struct dh_library_models m;
    dh_library_models_init(&m);
    assert_int_equal(first_effect(&m, "pthread_mutex_lock")->op, DH_I_LOCK);
    assert_int_equal(first_effect(&m, "pthread_mutex_timedlock")->flags, DH_INST_TIMED);
    assert_int_equal(first_effect(&m, "__cxa_guard_acquire")->extra, DH_SUCCESS_NOT_ZERO);
    assert_null(first_effect(&m, "pthread_cond_init"));
    assert_null(dh_library_models_find(&m, "no_such_function"));
    /* Known by how the name begins; the longest beginning counts. */
    assert_int_equal(first_effect(&m, "_ZdlPvmSt11align_val_t")->op, DH_I_FREE);
    assert_int_equal(first_effect(&m, "AnnotateHappensBefore")->op, DH_I_RELEASE);
    assert_null(first_effect(&m, "AnnotateNothingYouKnow"));
    dh_library_models_release(&m);
}

static void later_ones_win(void **state)
{
    (void)state;
    struct dh_library_models m;
    struct dh_err err = {0};
    dh_library_models_init(&m);
    assert_true(dh_library_models_read(&m, "mine",
                                       "# ours\n"
                                       "pool_take: instead; ret = zeroed(a1)\n"
                                       "pool_run: create a0 *(**a1+16) *a1 ; *$$last = a1\n"
                                       "malloc: nothing\n",
                                       &err));
    assert_true(dh_library_models_find(&m, "pool_take")->instead);
    assert_int_equal(dh_library_models_find(&m, "pool_run")->n_effects, 2);
    assert_null(first_effect(&m, "malloc"));
    dh_library_models_release(&m);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"f a0\n", "t:1: `NAME: EFFECTS` is wanted"},
        {"ok: nothing\nf: explode a0\n", "t:2: no such effect"},
        {"f: ret a0\n", "t:1: `ret = VALUE` is wanted"},
        {"f: lock a0 ok=maybe\n", "t:1: neither an operand nor a property"},
        {"f: read\n", "t:1: an operand is missing"},
        {"f: call a0\n", "t:1: what is called needs arguments in brackets"},
        {"f: ret = new(a0\n", "t:1: a closing bracket is missing"},
        {"f: ret = *\n", "t:1: an expression is missing"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct dh_library_models m;
        struct dh_err err = {0};
        dh_library_models_init(&m);
        assert_false(dh_library_models_read(&m, "t", wrong[i].text, &err));
        assert_memory_equal(err.text, wrong[i].message, strlen(wrong[i].message));
        dh_err_release(&err);
        dh_library_models_release(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_libraries),
        cmocka_unit_test(later_ones_win),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
