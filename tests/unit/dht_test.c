/* Recorded traces: what was written is read again, whole or up to where the file was cut; damage is told, never read.
 */
#include "trace/dht.h"

#include "base/str.h"
#include "event/site.h"
#include "host/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint32_t seed = 1;
static uint32_t random_number(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static char path[] = "/tmp/dht_testXXXXXX";

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static uint64_t random_value(void)
{
    uint64_t v = random_number() | (uint64_t)random_number() << 24 | (uint64_t)random_number() << 48;
    return v >> random_number() % 64;
}

/* Anything at all that a stream may hold. */
static struct dh_event any_event(uint64_t *seq)
{
    struct dh_event e = {.kind = (uint8_t)(random_number() % DH_EVENT_COUNT),
                         .flags = random_number() % 4 ? 0 : (uint8_t)random_number(),
                         .thread = random_number() % 3 ? random_number() % 4 : random_number() % (1u << 20),
                         .site = random_number() % 8 ? random_number() % 500 : DH_NO_PLACE,
                         .ctx = random_number() % 4 ? 0 : (uint32_t)random_value(),
                         .addr = random_value(),
                         .arg = random_number() % 2 ? 4 : random_value()};
    if (random_number() % 4 == 0)
        e.seq = ++*seq;
    return e;
}

static bool same(const struct dh_event *a, const struct dh_event *b)
{
    return a->kind == b->kind && a->flags == b->flags && a->thread == b->thread && a->site == b->site &&
           a->ctx == b->ctx && a->addr == b->addr && a->arg == b->arg && a->seq == b->seq;
}

static void add_meta(struct dh_meta *m, unsigned i)
{
    struct dh_meta_module module = {.path = dh_format("/lib/%u.so", i), .id = {(uint8_t)i}, .load = i, .high = i << 20};
    struct dh_meta_thread thread = {.parent = i - 1, .ctx = i, .name = i % 2 ? dh_strdup("worker") : NULL};
    struct dh_meta_place place = {3, i, dh_strdup("a.c"), dh_strdup("f"), dh_format("v%u", i)};
    dh_vec_push(&m->modules, module);
    dh_vec_push(&m->threads, thread);
    dh_vec_push(&m->places, place);
    struct dh_meta_context context = {(uint32_t)m->contexts.n / 2, random_value()};
    dh_vec_push(&m->contexts, context);
}

static void same_meta(const struct dh_meta *a, const struct dh_meta *b)
{
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->started, b->started);
    assert_string_equal(a->program, b->program);
    assert_null(b->variant);
    assert_int_equal(a->modules.n, b->modules.n);
    assert_int_equal(a->threads.n, b->threads.n);
    assert_int_equal(a->places.n, b->places.n);
    assert_int_equal(a->contexts.n, b->contexts.n);
    for (size_t i = 0; i < a->modules.n; i++) {
        assert_string_equal(a->modules.at[i].path, b->modules.at[i].path);
        assert_memory_equal(a->modules.at[i].id, b->modules.at[i].id, 16);
        assert_int_equal(a->modules.at[i].high, b->modules.at[i].high);
        assert_int_equal(a->threads.at[i].parent, b->threads.at[i].parent);
        assert_string_equal(a->threads.at[i].name ? a->threads.at[i].name : "-",
                            b->threads.at[i].name ? b->threads.at[i].name : "-");
        assert_string_equal(a->places.at[i].variable, b->places.at[i].variable);
        assert_int_equal(a->contexts.at[i].return_address, b->contexts.at[i].return_address);
    }
}

enum { EVENTS = 300000 };

static void written_is_read(void **state)
{
    (void)state;
    struct dh_err err = {0};
    struct dh_meta meta = {.pid = 7, .started = 99, .program = dh_strdup("/bin/x")}, got = {0};
    struct dh_event *all = malloc(EVENTS * sizeof *all), e;
    uint64_t seq = 0;
    struct dh_dht *w = dh_dht_create(path, &meta, NULL, &err);
    assert_non_null(w);
    for (unsigned i = 0; i < EVENTS; i++) {
        if (i % 10000 == 0) {
            add_meta(&meta, i / 10000 + 1);
            assert_true(dh_dht_meta(w, &meta));
        }
        all[i] = any_event(&seq);
        assert_true(dh_dht_add(w, &all[i]));
    }
    free(meta.threads.at[0].name);
    meta.threads.at[0].name = dh_strdup("renamed");
    assert_true(dh_dht_meta(w, &meta));
    assert_true(dh_dht_close(w, &err));
    struct dh_dht_reader *r = dh_dht_open(path, &got, &err);
    assert_non_null(r);
    struct dh_dht_counts totals;
    dh_dht_totals(r, &totals);
    assert_int_equal(totals.events, EVENTS);
    for (unsigned i = 0; i < EVENTS; i++) {
        if (dh_dht_next(r, &e, &err) != DH_DHT_EVENT)
            fail_msg("event %u: %s", i, err.text ? err.text : "the end");
        if (!same(&e, &all[i]))
            fail_msg("event %u is another", i);
        assert_true(got.modules.n > i / 10000); /* what it needs is there */
    }
    assert_int_equal(dh_dht_next(r, &e, &err), DH_DHT_END);
    assert_false(dh_dht_is_cut(r));
    same_meta(&meta, &got);
    dh_dht_reader_free(r);
    dh_meta_release(&meta);
    dh_meta_release(&got);
    free(all);
}

/* Two threads that walk arrays and lists under a lock. */
static struct dh_event loop_event(unsigned i, uint64_t *seq)
{
    unsigned step = i % 16, round = i / 16;
    struct dh_event e = {.kind = step % 3 ? DH_EVENT_READ : DH_EVENT_WRITE,
                         .thread = round / 50 % 2,
                         .site = 100 + step,
                         .ctx = 5 + round % 3,
                         .addr = 0x7f0000000000u + step * 0x10000 + round * 8u,
                         .arg = 8};
    if (step == 7) /* a list: anywhere, but the fields are where they were */
        e.addr = 0x600000000000u + (round * 2654435761u) % 100000 * 64;
    if (step == 8)
        e.addr = 0x600000000010u + (round * 2654435761u) % 100000 * 64;
    if (round % 50 == 49 && step == 15)
        e = (struct dh_event){.kind = DH_EVENT_UNLOCK, .thread = e.thread, .site = 50, .addr = 0x1000, .seq = ++*seq};
    return e;
}

static void loops_are_small(void **state)
{
    (void)state;
    struct dh_err err = {0};
    struct dh_meta meta = {0};
    struct dh_dht_counts c;
    uint64_t seq = 0;
    struct dh_dht *w = dh_dht_create(path, &meta, NULL, &err);
    for (unsigned i = 0; i < 1000000; i++) {
        struct dh_event e = loop_event(i, &seq);
        assert_true(dh_dht_add(w, &e));
    }
    assert_true(dh_dht_flush(w));
    dh_dht_counts(w, &c);
    assert_true(dh_dht_close(w, &err));
    print_message("%.3f bytes an event\n", (double)c.bytes / (double)c.events);
    assert_true(c.bytes < c.events);
}

static void write_small(unsigned n)
{
    struct dh_err err = {0};
    struct dh_meta meta = {.program = dh_strdup("p")};
    uint64_t seq = 0;
    seed = 5;
    add_meta(&meta, 1);
    struct dh_dht *w = dh_dht_create(path, &meta, NULL, &err);
    for (unsigned i = 0; i < n; i++) {
        struct dh_event e = any_event(&seq);
        dh_dht_add(w, &e);
        if (i % 100 == 99)
            dh_dht_flush(w);
    }
    assert_true(dh_dht_close(w, &err));
    dh_meta_release(&meta);
}

/* How many events are read before the end or the error; *answer is what came then. */
static unsigned read_events(struct dh_err *err, enum dh_dht_answer *answer, bool *cut)
{
    struct dh_meta meta = {0};
    struct dh_event e;
    unsigned n = 0;
    struct dh_dht_reader *r = dh_dht_open(path, &meta, err);
    *answer = DH_DHT_ERROR;
    *cut = false;
    if (r) {
        while ((*answer = dh_dht_next(r, &e, err)) == DH_DHT_EVENT)
            n++;
        *cut = dh_dht_is_cut(r);
    }
    dh_dht_reader_free(r);
    dh_meta_release(&meta);
    return n;
}

/* A recorder that is killed leaves whole blocks and a piece of the next. */
static void cut_anywhere(void **state)
{
    (void)state;
    struct dh_err err = {0};
    struct dh_bytes bytes;
    enum dh_dht_answer answer;
    unsigned last = 0;
    bool cut;
    write_small(1000);
    assert_true(dh_file_read(path, &bytes, &err));
    for (size_t n = 0; n < bytes.n; n += n < 100 ? 1 : 37) {
        assert_int_equal(truncate(path, 0), 0);
        assert_true(dh_file_write(path, bytes.at, n, 0600, &err));
        unsigned events = read_events(&err, &answer, &cut);
        if (n < 16) {
            assert_int_equal(answer, DH_DHT_ERROR);
            assert_non_null(strstr(err.text, "offset"));
            dh_err_release(&err);
            continue;
        }
        assert_int_equal(answer, DH_DHT_END);
        assert_true(cut);
        assert_true(events >= last && events % 100 == 0);
        last = events;
    }
    assert_int_equal(last, 1000);
    dh_bytes_release(&bytes);
}

static void damage_is_told(void **state)
{
    (void)state;
    struct dh_err err = {0};
    struct dh_bytes bytes;
    enum dh_dht_answer answer;
    bool cut;
    write_small(500);
    assert_true(dh_file_read(path, &bytes, &err));
    for (size_t i = 0; i < bytes.n; i += 11) {
        bytes.at[i] ^= (uint8_t)(1u << i % 8);
        assert_true(dh_file_write(path, bytes.at, bytes.n, 0600, &err));
        read_events(&err, &answer, &cut);
        assert_true(answer == DH_DHT_ERROR || cut);
        if (answer == DH_DHT_ERROR) {
            assert_non_null(strstr(err.text, "offset"));
            dh_err_release(&err);
        }
        bytes.at[i] ^= (uint8_t)(1u << i % 8);
    }
    dh_bytes_release(&bytes);
}

static void bounds_are_kept(void **state)
{
    (void)state;
    struct dh_err err = {0};
    struct dh_meta meta = {0};
    struct dh_dht_counts c;
    struct dh_dht_options o = {.per_site_limit = 10};
    uint64_t seq = 0;
    struct dh_dht *w = dh_dht_create(path, &meta, &o, &err);
    for (unsigned i = 0; i < 160000; i++) {
        struct dh_event e = loop_event(i, &seq);
        dh_dht_add(w, &e);
    }
    dh_dht_counts(w, &c);
    assert_true(dh_dht_close(w, &err));
    assert_int_equal(c.accesses, 16 * 2 * 10);
    assert_int_equal(c.accesses + c.left_out + seq, 160000);
    assert_int_equal(c.events - c.accesses, seq); /* all of the synchronisation */
    o = (struct dh_dht_options){.max_size = 1 << 20};
    w = dh_dht_create(path, &meta, &o, &err);
    for (unsigned i = 0; i < 3000000; i++) {
        struct dh_event e = any_event(&seq);
        e.kind = DH_EVENT_WRITE;
        e.site = i / 1000; /* ever new places */
        e.seq = 0;
        dh_dht_add(w, &e);
    }
    dh_dht_counts(w, &c);
    assert_true(dh_dht_close(w, &err));
    assert_true(c.left_out > 0 && c.bytes < 1u << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(written_is_read), cmocka_unit_test(loops_are_small),
                                       cmocka_unit_test(cut_anywhere), cmocka_unit_test(damage_is_told),
                                       cmocka_unit_test(bounds_are_kept)};
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
