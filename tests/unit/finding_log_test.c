/* The findings log: what was written is read, a torn or damaged record loses only itself, no bytes crash the reader. */
#include "event/finding_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct dh_log_address frames[] = {{0x1234, 0}, {0x5678, 1}, {0x7fff00001234, DH_LOG_NONE}};
static const struct dh_log_module modules[] = {{"/bin/bank", {1, 2, 3}}, {"/lib/libc.so.6", {0}}};
static const struct dh_log_thread threads[] = {
    {.index = 0, .parent = DH_LOG_NONE, .name = "bank"},
    {.index = 2, .parent = 0, .flags = DH_LOG_FINISHED, .name = "teller", .created = {frames, 2, 7}},
};
static const struct dh_log_lock locks[] = {
    {.address = 0x4000, .where = {0x40, 0}, .place = 5, .module = 1, .taken = {frames, 1, 0}},
    {.address = 0x7000, .where = {0x7000, DH_LOG_NONE}, .shared = 1, .place = DH_LOG_NONE, .module = DH_LOG_NONE},
};

static struct dh_log_finding sample(uint32_t place)
{
    struct dh_log_finding f = {
        .kind = DH_FINDING_VIEW,
        .level = DH_LEVEL_SUSPECTED,
        .time = 1700000000,
        .detector = "views",
        .text = "two sections",
        .key = "struct point",
        .address = 0x4010,
        .size = 4,
        .held = {5, 0, 0, 0},
        .n_held = 4,
        .region = DH_LOG_REGION_HEAP,
        .region_thread = 0,
        .where = {0, DH_LOG_NONE},
        .block = 0x4000,
        .n_block = 64,
        .allocated = {frames, 3, 0},
        .n_accesses = DH_LOG_ACCESSES,
        .threads = threads,
        .n_threads = 2,
        .modules = modules,
        .n_modules = 2,
    };
    f.access[0] = (struct dh_log_access){.thread = 2,
                                         .flags = DH_LOG_WRITE | DH_LOG_HAS_VALUE,
                                         .place = place,
                                         .module = 0,
                                         .size = 4,
                                         .address = 0x4010,
                                         .value = 9,
                                         .where = {0x10, 0},
                                         .note = "",
                                         .stack = {frames, 3, 0},
                                         .locks = locks,
                                         .n_locks = 2};
    f.access[1] = (struct dh_log_access){.thread = 0,
                                         .place = DH_LOG_NONE,
                                         .module = DH_LOG_NONE,
                                         .size = 8,
                                         .address = 0x400c,
                                         .where = {0, DH_LOG_NONE},
                                         .note = "in the same section",
                                         .stack = {frames, 1, 3}};
    for (uint32_t i = 2; i < f.n_accesses; i++)
        f.access[i] = (struct dh_log_access){.thread = i,
                                             .role = DH_ROLE_LOCK + i,
                                             .place = DH_LOG_NONE,
                                             .module = DH_LOG_NONE,
                                             .address = 0x4000 + i,
                                             .where = {0x40 + i, i % 2},
                                             .note = "",
                                             .stack = {frames, 2, 0}};
    return f;
}

static struct dh_log_out log_of(unsigned findings, uint8_t *bytes, size_t cap, size_t *ends)
{
    struct dh_log_out o = {bytes, 0, cap, false};
    struct dh_log_process p = {.pid = 77, .time = 1, .path = "/bin/bank", .original = "", .variant = "race", .id = {9}};
    dh_log_put_header(&o);
    dh_log_put_process(&o, &p);
    for (unsigned i = 0; i < findings; i++) {
        struct dh_log_finding f = sample(i);
        dh_log_put_finding(&o, &f);
        if (ends)
            ends[i] = o.n;
    }
    assert_false(o.full);
    return o;
}

static void same_stack(const struct dh_log_stack *a, const struct dh_log_stack *b)
{
    assert_int_equal(a->n_frames, b->n_frames);
    assert_int_equal(a->n_cut, b->n_cut);
    for (uint32_t i = 0; i < a->n_frames; i++) {
        assert_int_equal(a->frames[i].module, b->frames[i].module);
        assert_int_equal(a->frames[i].offset, b->frames[i].offset);
    }
}

static void same_access(const struct dh_log_access *a, const struct dh_log_access *b)
{
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->role, b->role);
    assert_int_equal(a->where.module, b->where.module);
    assert_int_equal(a->where.offset, b->where.offset);
    assert_string_equal(a->note, b->note);
    assert_int_equal(a->place, b->place);
    assert_int_equal(a->module, b->module);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->value, b->value);
    same_stack(&a->stack, &b->stack);
    assert_int_equal(a->n_locks, b->n_locks);
    for (uint32_t i = 0; i < a->n_locks; i++) {
        assert_int_equal(a->locks[i].address, b->locks[i].address);
        assert_int_equal(a->locks[i].where.module, b->locks[i].where.module);
        assert_int_equal(a->locks[i].where.offset, b->locks[i].where.offset);
        assert_int_equal(a->locks[i].shared, b->locks[i].shared);
        assert_int_equal(a->locks[i].place, b->locks[i].place);
        assert_int_equal(a->locks[i].module, b->locks[i].module);
        same_stack(&a->locks[i].taken, &b->locks[i].taken);
    }
}

static void same_finding(const struct dh_log_finding *a, const struct dh_log_finding *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->level, b->level);
    assert_string_equal(a->text, b->text);
    assert_string_equal(a->key, b->key);
    assert_int_equal(a->time, b->time);
    assert_string_equal(a->detector, b->detector);
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->n_held, b->n_held);
    assert_memory_equal(a->held, b->held, sizeof a->held);
    assert_int_equal(a->region, b->region);
    assert_int_equal(a->block, b->block);
    assert_int_equal(a->n_block, b->n_block);
    same_stack(&a->allocated, &b->allocated);
    assert_int_equal(a->n_accesses, b->n_accesses);
    for (uint32_t i = 0; i < a->n_accesses; i++)
        same_access(&a->access[i], &b->access[i]);
    assert_int_equal(a->n_threads, b->n_threads);
    for (uint32_t i = 0; i < a->n_threads; i++) {
        assert_int_equal(a->threads[i].index, b->threads[i].index);
        assert_int_equal(a->threads[i].parent, b->threads[i].parent);
        assert_int_equal(a->threads[i].flags, b->threads[i].flags);
        assert_string_equal(a->threads[i].name, b->threads[i].name);
        same_stack(&a->threads[i].created, &b->threads[i].created);
    }
    assert_int_equal(a->n_modules, b->n_modules);
    for (uint32_t i = 0; i < a->n_modules; i++) {
        assert_string_equal(a->modules[i].path, b->modules[i].path);
        assert_memory_equal(a->modules[i].id, b->modules[i].id, 16);
    }
}

static void what_was_written_is_read(void **state)
{
    static uint8_t bytes[1 << 16];
    struct dh_log_out o = log_of(1, bytes, sizeof bytes, NULL);
    struct dh_log_reader r;
    struct dh_log_record record;
    struct dh_log_process p;
    struct dh_log_finding f, expected = sample(0);
    struct dh_log_memory m = {0};
    const char *why;
    (void)state;
    assert_true(dh_log_open(&r, o.at, o.n, &why));
    assert_true(dh_log_next(&r, &record));
    assert_true(dh_log_read_process(&record, &p));
    assert_int_equal(p.pid, 77);
    assert_string_equal(p.path, "/bin/bank");
    assert_string_equal(p.variant, "race");
    assert_true(dh_log_next(&r, &record));
    assert_true(dh_log_read_finding(&record, &f, &m));
    same_finding(&f, &expected);
    assert_false(dh_log_next(&r, &record));
    assert_int_equal(r.damaged, 0);
    dh_log_memory_release(&m);
}

/* ---- the first version, byte by byte as its writer wrote it ---- */

static void add(struct dh_log_out *o, const void *bytes, size_t n)
{
    memcpy(o->at + o->n, bytes, n);
    o->n += n;
}

static void add_numbers(struct dh_log_out *o, unsigned n, uint32_t value)
{
    while (n--)
        add(o, &value, sizeof value);
}

static void add_old_access(struct dh_log_out *o, uint32_t thread, uint32_t flags, uint32_t place)
{
    add_numbers(o, 1, thread);
    add_numbers(o, 1, flags);
    add_numbers(o, 1, place);
    add_numbers(o, 1, 0); /* module */
    add_numbers(o, 1, 4); /* size */
    add_numbers(o, 4, 7); /* address, value */
    add_numbers(o, 3, 0); /* stack, locks */
}

static void add_old_finding(struct dh_log_out *o)
{
    static const uint8_t id[16] = {1};
    size_t start = o->n;
    add_numbers(o, 4, 0);
    add_numbers(o, 1, 2);     /* kind: misuse of a lock */
    add_numbers(o, 2, 0);     /* time */
    add_numbers(o, 1, 4);     /* detector */
    add(o, "race", 5);        /* with its NUL */
    add_numbers(o, 1, 0);     /* text */
    add(o, "", 1);            /* its NUL */
    add_numbers(o, 4, 0);     /* address, size, held */
    add(o, id, 16);           /* held */
    add_numbers(o, 2, 0);     /* region */
    add_numbers(o, 1, ~0u);   /* where */
    add_numbers(o, 2 + 4, 0); /* where, block */
    add_numbers(o, 2, 0);     /* allocated */
    add_numbers(o, 1, 2);
    add_old_access(o, 3, DH_LOG_WRITE, 11);
    add_old_access(o, 0, 0, 12);
    add_numbers(o, 1, 0); /* threads */
    add_numbers(o, 1, 1); /* modules */
    add(o, id, 16);
    add_numbers(o, 1, 3);
    add(o, "/a0", 4);
    uint32_t head[4] = {DH_LOG_RECORD_MARK, 0, DH_LOG_FINDING, (uint32_t)(o->n - start - DH_LOG_RECORD_SIZE)};
    memcpy(o->at + start, head, sizeof head);
    head[1] = dh_log_crc(o->at + start + 8, o->n - start - 8);
    memcpy(o->at + start, head, sizeof head);
}

static void the_first_version_is_read(void **state)
{
    static uint8_t bytes[1 << 12];
    struct dh_log_out o = {bytes, 0, sizeof bytes, false};
    struct dh_log_reader r;
    struct dh_log_record record;
    struct dh_log_finding f;
    struct dh_log_memory m = {0};
    const char *why;
    (void)state;
    dh_log_put_header(&o);
    bytes[8] = 1;
    add_old_finding(&o);
    assert_true(dh_log_open(&r, bytes, o.n, &why));
    assert_true(dh_log_next(&r, &record));
    assert_true(dh_log_read_finding(&record, &f, &m));
    assert_int_equal(f.kind, DH_FINDING_LOCK_MISUSE);
    assert_int_equal(f.level, DH_LEVEL_OBSERVED);
    assert_string_equal(f.detector, "race");
    assert_string_equal(f.key, "");
    assert_int_equal(f.n_accesses, 2);
    assert_int_equal(f.access[0].thread, 3);
    assert_int_equal(f.access[0].place, 11);
    assert_int_equal(f.access[0].role, DH_ROLE_ACCESS);
    assert_int_equal(f.access[0].where.module, DH_LOG_NONE);
    assert_int_equal(f.access[1].place, 12);
    assert_string_equal(f.access[1].note, "");
    assert_string_equal(f.modules[0].path, "/a0");
    dh_log_memory_release(&m);
}

/* Names are part of what users and other programs read: one each, and the way back. */
static void every_kind_and_role_has_its_word(void **state)
{
    (void)state;
    assert_string_equal(dh_finding_kind_name(DH_FINDING_CRITICAL_WAIT), "critical-wait");
    assert_string_equal(dh_finding_kind_name(DH_FINDING_KIND_COUNT), "unknown");
    for (uint32_t i = 1; i < DH_ROLE_COUNT; i++)
        assert_int_equal(dh_log_role_of_op(dh_log_role_words(i)->op), i);
    assert_int_equal(dh_log_role_of_op("write"), DH_ROLE_ACCESS);
}

/* Which of the findings 0..31 are still read, as bits. */
static uint32_t places_read(const uint8_t *bytes, size_t n, unsigned *damaged)
{
    /* A copy of exactly that size: address checkers see a byte too far. */
    uint8_t *copy = malloc(n ? n : 1);
    struct dh_log_reader r;
    struct dh_log_record record;
    const char *why;
    uint32_t seen = 0;
    memcpy(copy, bytes, n);
    if (dh_log_open(&r, copy, n, &why)) {
        while (dh_log_next(&r, &record)) {
            struct dh_log_memory m = {0};
            struct dh_log_finding f;
            if (record.type == DH_LOG_FINDING && dh_log_read_finding(&record, &f, &m))
                seen |= 1u << f.access[0].place;
            dh_log_memory_release(&m);
        }
        *damaged = r.damaged;
    }
    free(copy);
    return seen;
}

static void torn_end_loses_only_the_last(void **state)
{
    static uint8_t bytes[1 << 16];
    size_t ends[3];
    struct dh_log_out o = log_of(3, bytes, sizeof bytes, ends);
    unsigned damaged = 0;
    (void)state;
    for (size_t n = ends[1]; n < o.n; n++)
        assert_int_equal(places_read(bytes, n, &damaged), 3);
    assert_int_equal(damaged, 1);
    assert_int_equal(places_read(bytes, o.n, &damaged), 7);
    assert_int_equal(damaged, 0);
}

static void damage_in_the_middle_loses_only_its_record(void **state)
{
    static uint8_t bytes[1 << 16];
    size_t ends[3];
    struct dh_log_out o = log_of(3, bytes, sizeof bytes, ends);
    (void)state;
    for (size_t at = ends[0]; at < ends[1]; at++) {
        unsigned damaged = 0;
        bytes[at] ^= 0x40;
        assert_int_equal(places_read(bytes, o.n, &damaged), 5);
        assert_int_equal(damaged, 1);
        bytes[at] ^= 0x40;
    }
}

/* As a full disk leaves it: a part of a record, then whole ones. */
static void half_record_before_whole_ones(void **state)
{
    static uint8_t bytes[1 << 16], joined[1 << 16];
    size_t ends[3];
    struct dh_log_out o = log_of(3, bytes, sizeof bytes, ends);
    size_t half = ends[0] + (ends[1] - ends[0]) / 2;
    unsigned damaged = 0;
    (void)state;
    memcpy(joined, bytes, half);
    memcpy(joined + half, bytes + ends[1], o.n - ends[1]);
    assert_int_equal(places_read(joined, half + o.n - ends[1], &damaged), 5);
    assert_int_equal(damaged, 1);
}

static void what_is_no_log_is_refused(void **state)
{
    static uint8_t bytes[1 << 16];
    struct dh_log_out o = log_of(1, bytes, sizeof bytes, NULL);
    struct dh_log_reader r;
    const char *why = NULL;
    (void)state;
    for (size_t n = 0; n < DH_LOG_HEADER_SIZE; n++)
        assert_false(dh_log_open(&r, bytes, n, &why));
    bytes[8] = 99;
    assert_false(dh_log_open(&r, bytes, o.n, &why));
    assert_non_null(strstr(why, "version"));
    bytes[0] = 'X';
    assert_false(dh_log_open(&r, bytes, o.n, &why));
    assert_non_null(strstr(why, "magic"));
}

/* A record whose sum is right but whose content points outside, as only malice makes it. */
static void indices_outside_are_refused(void **state)
{
    static uint8_t bytes[1 << 16];
    struct dh_log_out o = {bytes, 0, sizeof bytes, false};
    struct dh_log_finding f = sample(1);
    unsigned damaged = 0;
    (void)state;
    f.n_modules = 1;
    dh_log_put_header(&o);
    dh_log_put_finding(&o, &f);
    assert_int_equal(places_read(bytes, o.n, &damaged), 0);
}

static void words_outside_are_refused(void **state)
{
    static uint8_t bytes[1 << 16];
    (void)state;
    for (unsigned which = 0; which < 3; which++) {
        struct dh_log_out o = {bytes, 0, sizeof bytes, false};
        struct dh_log_finding f = sample(1);
        unsigned damaged = 0;
        uint32_t *fields[] = {&f.kind, &f.level, &f.access[2].role};
        *fields[which] = 77;
        dh_log_put_header(&o);
        dh_log_put_finding(&o, &f);
        assert_int_equal(places_read(bytes, o.n, &damaged), 0);
    }
}

static void what_does_not_fit_is_left_out(void **state)
{
    uint8_t bytes[200];
    struct dh_log_out o = {bytes, 0, sizeof bytes, false};
    struct dh_log_finding f = sample(1);
    unsigned damaged = 0;
    (void)state;
    dh_log_put_header(&o);
    dh_log_put_finding(&o, &f);
    assert_true(o.full);
    assert_int_equal(o.n, DH_LOG_HEADER_SIZE);
    assert_int_equal(places_read(bytes, o.n, &damaged), 0);
    assert_int_equal(damaged, 0);
}

static void the_sum_is_crc32(void **state)
{
    (void)state;
    assert_int_equal(dh_log_crc((const uint8_t *)"123456789", 9), 0xcbf43926);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(the_first_version_is_read),
        cmocka_unit_test(every_kind_and_role_has_its_word),
        cmocka_unit_test(torn_end_loses_only_the_last),
        cmocka_unit_test(damage_in_the_middle_loses_only_its_record),
        cmocka_unit_test(half_record_before_whole_ones),
        cmocka_unit_test(what_is_no_log_is_refused),
        cmocka_unit_test(indices_outside_are_refused),
        cmocka_unit_test(words_outside_are_refused),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(the_sum_is_crc32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
