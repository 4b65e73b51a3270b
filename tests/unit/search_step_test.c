/* Which steps depend on each other: what the kinds are for, and on pairs by chance what strategies rely on. */
#include "search/step.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 1;
static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

static struct dh_step step(unsigned kind, unsigned flags, uint64_t object, uint64_t second, uint32_t size)
{
    return (struct dh_step){
        .kind = (uint8_t)kind, .flags = (uint16_t)flags, .object = object, .second = second, .size = size};
}

/* Few, so that steps meet. */
static uint64_t place(void)
{
    return 0x1000 + (pick(2) ? 8 * pick(2) : pick(64));
}

static struct dh_step by_chance(void)
{
    static const uint16_t flags[] = {0,
                                     DH_STEP_READS,
                                     DH_STEP_WRITES,
                                     DH_STEP_ATOMIC | DH_STEP_WRITES,
                                     DH_STEP_SHARED,
                                     DH_STEP_FAILED,
                                     DH_STEP_RANGE | DH_STEP_WRITES,
                                     DH_STEP_BUFFERED | DH_STEP_WRITES,
                                     DH_STEP_TRY,
                                     DH_STEP_TIMED};
    struct dh_step s = step(pick(DH_STEP_COUNT), flags[pick(sizeof flags / sizeof *flags)], place(),
                            pick(3) ? place() : 0, pick(2) ? 1u << pick(4) : pick(80));
    if (s.kind == DH_STEP_IO && pick(4)) {
        s.order = (uint8_t)pick(8);
        s.object = pick(3) ? s.object : 0;
    }
    return s;
}

static bool share_key(const struct dh_step *a, const struct dh_step *b)
{
    uint64_t of_a[DH_STEP_KEYS], of_b[DH_STEP_KEYS];
    unsigned n = dh_step_keys(a, of_a), m = dh_step_keys(b, of_b);
    if (n == DH_STEP_WIDE || m == DH_STEP_WIDE)
        return true;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < m; k++)
            if (of_a[i] == of_b[k])
                return true;
    return false;
}

static void what_strategies_rely_on(void **state)
{
    unsigned dependent = 0, hidden = 0;
    (void)state;
    for (unsigned i = 0; i < 300000; i++) {
        struct dh_step a = by_chance(), b = by_chance(), c = by_chance();
        bool depend = dh_steps_depend(&a, &b);
        assert_int_equal(depend, dh_steps_depend(&b, &a));
        assert_int_equal(dh_steps_race(&a, &b), dh_steps_race(&b, &a));
        bool waits = (a.flags | b.flags) & DH_STEP_BUFFERED; /* races, but not before it drains */
        assert_true(!dh_steps_race(&a, &b) || depend || waits);
        assert_true(!depend || share_key(&a, &b));
        assert_true(!depend || dh_step_changes(&a) || dh_step_changes(&b));
        dependent += depend;
        uint64_t keys[DH_STEP_KEYS];
        unsigned n = dh_step_keys(&c, keys);
        /* b hides a from c at a key: then b must depend on an a that c depends on and that is found by that key. */
        for (unsigned k = 0; n != DH_STEP_WIDE && k < n; k++) {
            uint64_t of_a[DH_STEP_KEYS];
            unsigned m = dh_step_keys(&a, of_a);
            bool found = false;
            for (unsigned j = 0; m != DH_STEP_WIDE && j < m; j++)
                found |= of_a[j] == keys[k];
            if (n > 1 || !found || !dh_steps_depend(&a, &c) || !dh_steps_depend(&b, &c) ||
                !dh_step_hides(&b, &c, keys[k]))
                continue;
            assert_true(dh_steps_depend(&a, &b));
            hidden++;
        }
    }
    print_message("%u depend, %u are hidden\n", dependent, hidden);
    assert_true(dependent > 1000 && hidden > 100);
}

static void depends(bool expected, struct dh_step a, struct dh_step b)
{
    assert_int_equal(dh_steps_depend(&a, &b), expected);
    assert_int_equal(dh_steps_depend(&b, &a), expected);
}

static void races(bool expected, struct dh_step a, struct dh_step b)
{
    assert_int_equal(dh_steps_race(&a, &b), expected);
    assert_int_equal(dh_steps_race(&b, &a), expected);
}

enum { X = 0x1000, Y = 0x2000, ATOMIC_WRITE = DH_STEP_ATOMIC | DH_STEP_WRITES };

static void accesses(void **state)
{
    (void)state;
    struct dh_step write = step(DH_STEP_WRITE, DH_STEP_WRITES, X, 0, 4),
                   read = step(DH_STEP_READ, DH_STEP_READS, X + 3, 0, 4);
    struct dh_step beside = step(DH_STEP_READ, DH_STEP_READS, X + 4, 0, 4),
                   atomic = step(DH_STEP_WRITE, ATOMIC_WRITE, X, 0, 4);
    struct dh_step copy = step(DH_STEP_COPY, DH_STEP_WRITES | DH_STEP_RANGE, Y, X, 4),
                   freed = step(DH_STEP_FREE, 0, X, 0, 64);
    races(true, write, read);
    races(false, write, beside);
    races(false, read, read);
    races(false, atomic, atomic);
    depends(true, atomic, atomic);
    races(true, atomic, read);
    races(true, copy, write); /* its source is written */
    races(false, copy, read); /* or read */
    races(true, freed, read);
    races(true, freed, freed); /* twice */
    depends(false, step(DH_STEP_FENCE, 0, 0, 0, 0), write);
    depends(true, step(DH_STEP_FUTEX_WAIT, 0, X, 0, 4), atomic);
    races(false, step(DH_STEP_FUTEX_WAIT, 0, X, 0, 4), atomic);
}

static void synchronisation(void **state)
{
    (void)state;
    struct dh_step lock = step(DH_STEP_LOCK, 0, X, 0, 0), unlock = step(DH_STEP_UNLOCK, 0, X, 0, 0);
    struct dh_step read_lock = step(DH_STEP_LOCK, DH_STEP_SHARED, X, 0, 0),
                   vain = step(DH_STEP_LOCK, DH_STEP_TRY | DH_STEP_FAILED, X, 0, 0);
    struct dh_step wait = step(DH_STEP_WAIT, 0, Y, X, 0), post = step(DH_STEP_SEM_POST, 0, X, 0, 0);
    depends(true, lock, lock);
    depends(true, lock, unlock);
    depends(true, lock, read_lock);
    depends(false, read_lock, read_lock);
    depends(true, read_lock, vain); /* who reads makes a try fail */
    depends(false, vain, vain);
    depends(false, lock, step(DH_STEP_LOCK, 0, X + 4, 0, 0));
    depends(true, wait, lock); /* gives the mutex up */
    depends(true, wait, step(DH_STEP_SIGNAL, 0, Y, 0, 0));
    depends(false, wait, step(DH_STEP_SIGNAL, 0, Y + 8, 0, 0));
    depends(false, post, post);
    depends(true, post, step(DH_STEP_SEM_WAIT, 0, X, 0, 0));
    depends(true, step(DH_STEP_CREATE, 0, 1, 0, 0), step(DH_STEP_CREATE, 0, 2, 0, 0)); /* who gets which number */
    depends(true, step(DH_STEP_END, 0, 1, 0, 0), step(DH_STEP_JOIN, 0, 1, 0, 0));
    depends(false, step(DH_STEP_END, 0, 1, 0, 0), step(DH_STEP_JOIN, 0, 2, 0, 0));
    depends(true, step(DH_STEP_FREE, 0, X - 8, 0, 64), lock);
    depends(true, step(DH_STEP_DESTROY, 0, X, 0, 0), lock);
    depends(true, step(DH_STEP_EXIT, 0, 0, 0, 0), step(DH_STEP_YIELD, 0, 0, 0, 0));
}

static struct dh_step io(unsigned flags, unsigned touch, uint64_t object, uint64_t number)
{
    struct dh_step s = step(DH_STEP_IO, flags, object, number, 0);
    s.order = (uint8_t)touch;
    return s;
}

/* Two channels, at the numbers 3 and 4; waiting for several; what may touch anything. */
static void descriptors(void **state)
{
    (void)state;
    struct dh_step write = io(DH_STEP_WRITES, DH_IO_CHANGES, X, 4), other = io(DH_STEP_WRITES, DH_IO_CHANGES, Y, 5);
    struct dh_step look = io(DH_STEP_SHARED, 0, X, 4), vain = io(DH_STEP_FAILED, 0, X, 4);
    struct dh_step watch = io(DH_STEP_SHARED, DH_IO_WATCHES, 0, 0), any = io(0, 0, 0, 0);
    struct dh_step open = io(0, DH_IO_NUMBERS, 0, 0), close = io(0, DH_IO_NUMBERS | DH_IO_CHANGES, X, 4);
    depends(true, write, write);
    depends(false, write, other);
    depends(true, write, look);
    depends(true, write, vain);
    depends(false, look, vain);
    depends(true, write, watch);
    depends(false, watch, watch);
    depends(false, look, watch);
    depends(true, any, write);
    depends(true, any, watch);
    depends(false, any, step(DH_STEP_LOCK, 0, X, 0, 0));
    depends(true, open, open);
    depends(true, open, close);
    depends(false, open, write);
    depends(true, close, watch);
    depends(false, close, other);
    depends(true, close, io(DH_STEP_SHARED, 0, Y, 4)); /* another object at that number */
    depends(false, io(DH_STEP_SHARED, 0, X, 4), io(DH_STEP_SHARED, 0, Y, 4));
}

/* A store of buffer 1 at X, and its drain; stores behind a store barrier, and after it without one. */
static void buffers(void **state)
{
    (void)state;
    uint64_t one = dh_step_buffer(1, 0);
    struct dh_step store = step(DH_STEP_WRITE, DH_STEP_WRITES | DH_STEP_BUFFERED, X, one, 4),
                   drain = step(DH_STEP_DRAIN, DH_STEP_WRITES, X, dh_step_buffer(1, 5), 4), other = drain,
                   later = step(DH_STEP_DRAIN, DH_STEP_WRITES, Y, dh_step_buffer(1, 6), 4), again = drain, free = later,
                   release = later;
    struct dh_step read = step(DH_STEP_READ, DH_STEP_READS, X, 0, 4), flush = step(DH_STEP_FLUSH, 0, 0, one, 0);
    other.second = dh_step_buffer(2, 5);
    later.order = 1;
    release.order = DH_DRAIN_LAST;
    again.occurrence = 1;
    depends(false, drain, free);
    depends(true, drain, release);
    assert_true(dh_step_needs(&release, &drain));
    drain.order = DH_DRAIN_LAST; /* who comes after it may overtake it */
    depends(false, drain, free);
    drain.order = 0;
    depends(false, store, read);
    depends(false, store, store);
    races(true, store, read);
    depends(true, store, drain);
    depends(false, store, again);
    depends(false, store, other);
    depends(true, drain, read);
    races(false, drain, read);
    depends(true, drain, other);
    depends(true, drain, later);
    depends(true, flush, later);
    depends(false, flush, other);
    depends(false, flush, store);
    depends(true, store, step(DH_STEP_FREE, 0, X, 0, 64));
    assert_true(dh_step_needs(&drain, &store) && dh_step_needs(&later, &drain) && dh_step_needs(&flush, &later));
    assert_false(dh_step_needs(&drain, &read) || dh_step_needs(&drain, &other) || dh_step_needs(&flush, &other));
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(dh_step_name(DH_STEP_SEM_WAIT), "sem-wait");
    assert_string_equal(dh_step_name(10000), "none");
    for (unsigned i = 0; i < DH_STEP_COUNT; i++)
        assert_non_null(dh_step_name(i));
    for (const struct dh_strategy *const *s = dh_strategies; *s; s++)
        assert_ptr_equal(dh_strategy_by_name((*s)->name), *s);
    assert_null(dh_strategy_by_name("nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_strategies_rely_on),
        cmocka_unit_test(accesses),
        cmocka_unit_test(synchronisation),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(buffers),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
