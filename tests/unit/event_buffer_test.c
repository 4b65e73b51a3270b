/* What is kept in memory is read back as it was, whatever it looks like. */
#include "trace/event_buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 400000 };

static uint64_t seed;
static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* Few places and threads at addresses near each other, as programs have; now and then something else. */
static struct dh_event make(uint64_t *seq)
{
    struct dh_event e = {.kind = (uint8_t)pick(DH_EVENT_COUNT),
                         .flags = pick(50) ? 0 : (uint8_t)pick(256),
                         .thread = pick(4),
                         .site = pick(100) ? pick(200) : DH_NO_PLACE - pick(2),
                         .ctx = pick(30) ? 1 : pick(1000),
                         .addr = 0x7f0000000000u + pick(1 << 20),
                         .arg = pick(20) ? 8 : pick(1 << 30)};
    if (pick(50) == 0)
        e.addr ^= (uint64_t)pick(1 << 16) << 48 | (uint64_t)pick(1 << 16) << 32;
    if (!dh_event_is_access(&e))
        e.seq = *seq += pick(100) ? 1 : 1 + pick(5);
    return e;
}

static void check(void *arg, const struct dh_event *e)
{
    uint64_t *seq = arg;
    struct dh_event expected = make(seq);
    assert_memory_equal(e, &expected, sizeof expected);
}

static void round_trip(size_t raw_most)
{
    struct dh_event_buffer *k = dh_event_buffer_new(raw_most);
    uint64_t seq = 0, seq_again = 0;
    seed = 5;
    for (int i = 0; i < EVENTS; i++) {
        struct dh_event e = make(&seq);
        dh_event_buffer_add(k, &e);
    }
    assert_true(dh_event_buffer_bytes(k) > 0 && dh_event_buffer_bytes(k) < EVENTS * sizeof(struct dh_event) * 3 / 4);
    seed = 5;
    dh_event_buffer_replay(k, check, &seq_again);
    assert_int_equal(seq_again, seq);
    dh_event_buffer_free(k);
}

static void test_raw(void **state)
{
    (void)state;
    round_trip(SIZE_MAX);
}

static void test_packed(void **state)
{
    (void)state;
    round_trip(1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_raw), cmocka_unit_test(test_packed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
