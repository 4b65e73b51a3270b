/* Minimising: what the parties do not need goes, what is left keeps every order that counts, with fewer switches. */
#include "prove/minimise.h"
#include "search/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400 };

static uint32_t eight(void *arg, uint32_t place)
{
    (void)arg;
    (void)place;
    return 8;
}

static struct dh_engine_decision at(uint32_t thread, uint8_t kind, uint64_t object)
{
    return (struct dh_engine_decision){.thread = thread, .kind = kind, .object = object};
}

static struct dh_engine_found *end_of(uint16_t kind, uint32_t a, uint32_t b)
{
    struct dh_engine_found *f = calloc(1, sizeof *f);
    f->kind = kind;
    f->n_parties = 2;
    f->parties[0].thread = a;
    f->parties[1].thread = b;
    return f;
}

static void others_are_left_out(void **state)
{
    (void)state;
    const struct dh_engine_decision d[] = {
        at(0, DH_STEP_CREATE, 1),   at(0, DH_STEP_CREATE, 2),   at(0, DH_STEP_CREATE, 3), at(3, DH_STEP_BEGIN, 3),
        at(1, DH_STEP_BEGIN, 1),    at(2, DH_STEP_BEGIN, 2),    at(3, DH_STEP_LOCK, 800), at(1, DH_STEP_LOCK, 900),
        at(3, DH_STEP_UNLOCK, 800), at(1, DH_STEP_UNLOCK, 900), at(2, DH_STEP_LOCK, 900), at(2, DH_STEP_UNLOCK, 900),
    };
    struct dh_engine_decision out[12];
    struct dh_engine_found *end = end_of(DH_ENGINE_RACE, 1, 2);
    uint32_t n = dh_schedule_minimise(d, 12, end, eight, NULL, out);
    for (uint32_t i = 0; i < n; i++)
        assert_int_not_equal(out[i].thread, 3);
    assert_int_equal(n, 8); /* main's first two creations come before */
    assert_int_equal(dh_schedule_switches(out, n), 2);
    free(end);
}

static void a_deadlock_keeps_all(void **state)
{
    (void)state;
    const struct dh_engine_decision d[] = {
        at(0, DH_STEP_CREATE, 1), at(0, DH_STEP_CREATE, 2), at(1, DH_STEP_BEGIN, 1),
        at(2, DH_STEP_BEGIN, 2),  at(1, DH_STEP_LOCK, 100), at(2, DH_STEP_LOCK, 200),
    };
    struct dh_engine_decision out[6];
    struct dh_engine_found *end = end_of(DH_ENGINE_DEADLOCK, 1, 2);
    assert_int_equal(dh_schedule_minimise(d, 6, end, eight, NULL, out), 6);
    assert_int_equal(dh_schedule_switches(out, 6), 2);
    free(end);
}

/* Whether the order of two decisions of different threads counts, said once more and simply. */
static bool counts(const struct dh_engine_decision *a, const struct dh_engine_decision *b)
{
    bool memory_a = a->kind == DH_STEP_READ || a->kind == DH_STEP_WRITE;
    bool memory_b = b->kind == DH_STEP_READ || b->kind == DH_STEP_WRITE;
    if (a->kind == DH_STEP_FREE || b->kind == DH_STEP_FREE)
        return true;
    if (memory_a != memory_b)
        return false;
    if (memory_a)
        return a->object < b->object + 8 && b->object < a->object + 8 &&
               (a->kind == DH_STEP_WRITE || b->kind == DH_STEP_WRITE);
    return a->object == b->object;
}

static size_t position(const struct dh_engine_decision *d, uint32_t n, uint32_t number)
{
    for (size_t i = 0; i < n; i++)
        if (d[i].occurrence == number)
            return i;
    return SIZE_MAX;
}

static void random_schedules_keep_their_orders(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {DH_STEP_READ,   DH_STEP_WRITE,    DH_STEP_LOCK,
                                    DH_STEP_UNLOCK, DH_STEP_SEM_POST, DH_STEP_FREE};
    struct dh_engine_decision d[MOST], out[MOST];
    srandom(6);
    for (unsigned round = 0; round < 300; round++) {
        uint32_t n = 1 + (uint32_t)random() % MOST, threads = 2 + (uint32_t)random() % 4;
        for (uint32_t i = 0; i < n; i++) {
            uint8_t kind = random() % 50 ? kinds[random() % 5] : DH_STEP_FREE;
            d[i] = at((uint32_t)random() % threads, kind, 4096 + 4 * ((uint64_t)random() % 64));
            d[i].occurrence = i;
        }
        struct dh_engine_found *end = end_of(DH_ENGINE_RACE, 0, 1);
        uint32_t m = dh_schedule_minimise(d, n, end, eight, NULL, out);
        assert_true(dh_schedule_switches(out, m) <= dh_schedule_switches(d, n));
        for (uint32_t k = 0; k < m; k++)
            for (uint32_t i = 0; i < out[k].occurrence; i++) {
                bool before = d[i].thread == out[k].thread || counts(&d[i], &out[k]);
                if (before) /* kept, and before it */
                    assert_true(position(out, m, i) < k);
            }
        for (uint32_t i = 0; i < n; i++)
            if (d[i].thread < 2)
                assert_true(position(out, m, i) < m);
        free(end);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_left_out),
        cmocka_unit_test(a_deadlock_keeps_all),
        cmocka_unit_test(random_schedules_keep_their_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
