/* Maps hold what a list that is searched from end to end holds, in the same order, whatever is added and removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "base/map.h"
#include "base_random.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 30, STEPS = 600, KEYS = 90 };

/* The naive map: removal moves the last one, as map.h says. */
struct naive {
    uint64_t key[KEYS], value[KEYS];
    uint32_t n;
};

static uint32_t naive_find(const struct naive *m, uint64_t key)
{
    uint32_t i = 0;
    while (i < m->n && m->key[i] != key)
        i++;
    return i < m->n ? i : DH_ABSENT;
}

static uint32_t naive_number(struct naive *m, uint64_t key)
{
    uint32_t i = naive_find(m, key);
    if (i != DH_ABSENT)
        return i;
    m->key[m->n] = key;
    m->value[m->n] = 0;
    return m->n++;
}

static bool naive_remove(struct naive *m, uint64_t key)
{
    uint32_t i = naive_find(m, key);
    if (i == DH_ABSENT)
        return false;
    m->n--;
    m->key[i] = m->key[m->n];
    m->value[i] = m->value[m->n];
    return true;
}

/* All four maps at once. */
struct maps {
    struct dh_u64_map numbers;
    struct dh_ptr_map pointers;
    struct dh_key_map keys;
    struct dh_string_map strings;
};

struct key {
    uint64_t a;
    uint32_t b;
    uint16_t c, d;
};

static struct key key_of(uint64_t key)
{
    return (struct key){key, (uint32_t)key * 3, (uint16_t)key, 7};
}

static const char *text_of(uint64_t key)
{
    static char text[32];
    snprintf(text, sizeof text, "%s%llx", key ? "name" : "", (unsigned long long)key);
    return key == 16 ? "" : text;
}

/* Page-aligned, as small numbers, and such that differ only in high bits. */
static uint64_t key_by_chance(uint64_t *random)
{
    uint64_t k = base_random(random, KEYS);
    return k % 3 == 0 ? k : k % 3 == 1 ? k << 12 : k << 40;
}

static void assert_same(const struct maps *m, const struct naive *naive)
{
    assert_int_equal(m->numbers.n, naive->n);
    assert_int_equal(m->pointers.of.n, naive->n);
    assert_int_equal(m->keys.n, naive->n);
    assert_int_equal(m->strings.n, naive->n);
    for (uint32_t i = 0; i < naive->n; i++) {
        struct key key = key_of(naive->key[i]);
        assert_int_equal(m->numbers.at[i].key, naive->key[i]);
        assert_int_equal(m->numbers.at[i].value, naive->value[i]);
        assert_int_equal(m->pointers.of.at[i].key, naive->key[i]);
        assert_ptr_equal(m->pointers.of.at[i].pointer, (void *)(uintptr_t)naive->value[i]);
        assert_memory_equal(dh_key_map_key(&m->keys, i), &key, sizeof key);
        assert_string_equal(m->strings.at[i].key, text_of(naive->key[i]));
        assert_int_equal(m->strings.at[i].value, naive->value[i]);
    }
}

static void add(struct maps *m, struct naive *naive, uint64_t k, uint32_t value)
{
    struct key key = key_of(k);
    naive->value[naive_number(naive, k)] = value;
    *dh_u64_map_at(&m->numbers, k) = value;
    *dh_ptr_map_at(&m->pointers, (void *)(uintptr_t)k) = (void *)(uintptr_t)value;
    dh_key_map_number(&m->keys, &key);
    *dh_string_map_at(&m->strings, text_of(k)) = value;
}

static void find(const struct maps *m, const struct naive *naive, uint64_t k)
{
    uint32_t i = naive_find(naive, k);
    const uint64_t *number = dh_u64_map_find(&m->numbers, k);
    const uint32_t *by_string = dh_string_map_find(&m->strings, text_of(k));
    assert_int_equal(dh_u64_map_seek(&m->numbers, k), i);
    assert_int_equal(dh_string_map_seek(&m->strings, text_of(k)), i);
    assert_int_equal(!number || !by_string, i == DH_ABSENT);
    assert_ptr_equal(dh_ptr_map_find(&m->pointers, (void *)(uintptr_t)k),
                     (void *)(uintptr_t)(i == DH_ABSENT ? 0 : naive->value[i]));
    if (i != DH_ABSENT && number && by_string) {
        assert_int_equal(*number, naive->value[i]);
        assert_int_equal(*by_string, naive->value[i]);
    }
}

static void number(struct maps *m, struct naive *naive, uint64_t k)
{
    struct key key = key_of(k);
    uint32_t i = naive_number(naive, k);
    assert_int_equal(dh_u64_map_number(&m->numbers, k), i);
    dh_ptr_map_at(&m->pointers, (void *)(uintptr_t)k);
    assert_int_equal(dh_key_map_number(&m->keys, &key), i);
    assert_int_equal(dh_string_map_number_n(&m->strings, text_of(k), strlen(text_of(k))), i);
}

/* Keys and strings are never removed from a map. */
static void refill(struct maps *m, const struct naive *naive)
{
    dh_key_map_release(&m->keys);
    dh_string_map_clear(&m->strings);
    for (uint32_t i = 0; i < naive->n; i++) {
        struct key key = key_of(naive->key[i]);
        dh_key_map_number(&m->keys, &key);
        *dh_string_map_at(&m->strings, text_of(naive->key[i])) = naive->value[i];
    }
}

static void take_away(struct maps *m, struct naive *naive, uint64_t k)
{
    bool was = naive_remove(naive, k);
    assert_int_equal(dh_u64_map_remove(&m->numbers, k), was);
    assert_int_equal(dh_u64_map_remove(&m->pointers.of, k), was);
    refill(m, naive);
}

static void clear(struct maps *m, struct naive *naive)
{
    naive->n = 0;
    dh_u64_map_clear(&m->numbers);
    dh_ptr_map_clear(&m->pointers);
    dh_key_map_release(&m->keys);
    dh_string_map_clear(&m->strings);
}

static void release(struct maps *m)
{
    dh_u64_map_release(&m->numbers);
    dh_ptr_map_release(&m->pointers);
    dh_key_map_release(&m->keys);
    dh_string_map_release(&m->strings);
}

static void maps_are_as_naive_ones(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct maps m = {.keys = DH_KEY_MAP(struct key)};
        struct naive naive = {.n = 0};
        for (unsigned step = 0; step < STEPS; step++) {
            uint64_t k = key_by_chance(&random);
            unsigned what = base_random(&random, 100);
            if (what < 40)
                add(&m, &naive, k, base_random(&random, 1000));
            else if (what < 50)
                number(&m, &naive, k);
            else if (what < 50 + round)
                take_away(&m, &naive, k);
            else if (what == 99 && base_random(&random, 8) == 0)
                clear(&m, &naive);
            else
                find(&m, &naive, k);
            assert_same(&m, &naive);
        }
        release(&m);
    }
}

/* Each hash has few values, so that chains wrap around and holes are filled. */
static void an_index_survives_bad_hashes(void **state)
{
    (void)state;
    struct dh_index x = {0};
    bool in[64] = {false};
    uint64_t random = 7;
    for (unsigned step = 0; step < 20000; step++) {
        uint32_t i = base_random(&random, 64);
        uint64_t hash = (uint64_t)(13 + i % 5) << 58;
        if (in[i])
            dh_index_remove(&x, hash, i);
        else
            dh_index_add(&x, hash, i);
        in[i] = !in[i];
        uint32_t k = base_random(&random, 64), seen = 0;
        struct dh_probe p = dh_index_probe(&x, (uint64_t)(13 + k % 5) << 58);
        for (uint32_t number; (number = dh_index_next(&x, &p)) != DH_ABSENT;)
            seen += number == k;
        assert_int_equal(seen, in[k]);
    }
    dh_index_release(&x);
}

static void strings_need_no_end(void **state)
{
    (void)state;
    struct dh_string_map m = {0};
    assert_null(dh_string_map_find(&m, "lock"));
    *dh_string_map_at_n(&m, "lock(m)", 4) = 5;
    assert_int_equal(*dh_string_map_find(&m, "lock"), 5);
    assert_int_equal(*dh_string_map_find_n(&m, "locks", 4), 5);
    assert_null(dh_string_map_find(&m, "locks"));
    assert_null(dh_string_map_find_n(&m, "lock", 3));
    dh_string_map_release(&m);
}

/* Neither rows of numbers nor addresses may fall together. */
static void hashes_spread(void **state)
{
    (void)state;
    enum { N = 1 << 12 };
    static uint8_t hit[N];
    for (unsigned shift = 0; shift < 52; shift += 4) {
        unsigned rows = 0, pairs = 0, combined = 0;
        memset(hit, 0, sizeof hit);
        for (uint64_t i = 0; i < N; i++)
            rows += !hit[dh_hash_u64(i << shift) >> 52]++;
        memset(hit, 0, sizeof hit);
        for (uint64_t i = 0; i < N; i++)
            pairs += !hit[dh_hash_u64((i / 64) << 32 | (i % 64) << shift % 28) >> 52]++;
        memset(hit, 0, sizeof hit);
        for (uint64_t i = 0; i < N; i++)
            combined += !hit[dh_hash_combine((i / 64) << shift, (i % 64) << shift) >> 52]++;
        assert_true(rows > N / 2); /* by chance it is 63% */
        assert_true(pairs > N / 2);
        assert_true(combined > N / 2);
    }
    assert_true(dh_hash_combine(1, 2) != dh_hash_combine(2, 1));
    assert_true(dh_hash_combine(0, 0) != 0);
    assert_true(dh_hash_string("ab") != dh_hash_string("ba"));
    assert_true(dh_hash_bytes("\0", 1) != dh_hash_bytes("\0\0", 2));
    assert_int_equal(dh_hash_string("a longer one"), dh_hash_bytes("a longer one", 12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_as_naive_ones),
        cmocka_unit_test(an_index_survives_bad_hashes),
        cmocka_unit_test(strings_need_no_end),
        cmocka_unit_test(hashes_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
