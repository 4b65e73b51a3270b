/* The reader of running processes: random streams come out in the order in which they were made, whatever the lanes
 * and blocks they lie in; and random bytes harm nobody. */
#include "event/stream.h"
#include "trace/live.h"

#include "base/str.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { LANES = 5, EVENTS = 400, NOBODY = 0x3FFFFFFF, TRACE = 1 << 16 };

static uint32_t state;

static uint32_t below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* ---- what is read ---- */

struct reading {
    struct dh_event events[TRACE];
    size_t n;
    bool ended;
};

static void *begin(void *arg, const struct dh_meta *meta)
{
    assert_int_equal(meta->pid, NOBODY);
    return arg;
}

static void event(void *arg, const struct dh_event *e)
{
    struct reading *r = arg;
    assert_in_range(e->kind, DH_EVENT_READ, DH_EVENT_COUNT - 1);
    assert_in_range(e->thread, 0, DH_STREAM_THREADS - 1);
    if (r->n < TRACE)
        r->events[r->n] = *e;
    r->n++;
}

static void grown(void *arg)
{
    (void)arg;
}

static void end(void *arg, uint64_t lost)
{
    (void)lost;
    ((struct reading *)arg)->ended = true;
}

/* ---- what is written ---- */

static struct dh_stream_header *make_file(const struct dh_live *l)
{
    char *path = dh_format("%s/1" DH_STREAM_SUFFIX, dh_live_folder(l));
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)DH_STREAM_FILE), 0);
    struct dh_stream_header *h = mmap(NULL, DH_STREAM_FILE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(h, MAP_FAILED);
    close(fd);
    free(path);
    memcpy(h->magic, DH_STREAM_MAGIC, sizeof h->magic);
    h->version = DH_STREAM_VERSION;
    h->endianness = DH_STREAM_ENDIANNESS;
    h->size = DH_STREAM_FILE;
    h->pid = NOBODY; /* it has ended already */
    return h;
}

static struct dh_stream_block *block(struct dh_stream_header *h, uint32_t i)
{
    return (struct dh_stream_block *)((char *)h + DH_STREAM_BLOCKS_AT) + i;
}

static struct dh_stream_lane *lane(struct dh_stream_header *h, uint32_t i)
{
    return (struct dh_stream_lane *)((char *)h + DH_STREAM_LANES_AT) + i;
}

struct writer {
    struct dh_stream_header *h;
    struct dh_stream_block *block[LANES];
    uint64_t seq;
};

static void put_words(struct writer *w, uint32_t l, const uint64_t *words, uint32_t n)
{
    struct dh_stream_block *b = w->block[l];
    uint32_t used = atomic_load(&b->used);
    memcpy(b->words + used, words, n * sizeof *words);
    atomic_store(&b->used, used + n);
}

static void put_event(struct writer *w, uint32_t l, unsigned kind, uint64_t addr)
{
    uint64_t words[] = {DH_STREAM_EVENT | (uint64_t)kind << 8, addr, 0, ++w->seq};
    put_words(w, l, words, 4);
}

static void next_block(struct writer *w, uint32_t l)
{
    uint32_t number = atomic_fetch_add(&w->h->n_blocks, 1);
    if (w->block[l]) {
        put_event(w, l, DH_EVENT_MARK, 0);
        atomic_store(&w->block[l]->next, number + 1);
    } else {
        atomic_store(&lane(w->h, l)->first, number + 1);
    }
    w->block[l] = block(w->h, number);
}

static void put_access(struct writer *w, uint32_t l, uint64_t addr)
{
    uint64_t words[] = {DH_STREAM_ACCESS | (uint64_t)4 << 8, addr};
    put_words(w, l, words, 2);
}

/* ---- order ---- */

struct expected {
    struct dh_event events[TRACE];
    size_t n;
};

static void expect(struct expected *x, uint32_t thread, unsigned kind, uint64_t addr)
{
    x->events[x->n++] = (struct dh_event){.kind = (uint8_t)kind, .thread = thread, .addr = addr};
}

/* Accesses wait in their lane for its next event, and those without one for the end. */
static void make_stream(struct writer *w, struct expected *x)
{
    uint64_t waiting[LANES][TRACE / LANES];
    uint32_t n_waiting[LANES] = {0};
    uint64_t addr = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t word = DH_STREAM_THREAD | (uint64_t)i << 32;
        next_block(w, i);
        put_words(w, i, &word, 1);
    }
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t l = below(LANES);
        for (uint32_t k = below(8); k; k--) {
            waiting[l][n_waiting[l]++] = ++addr;
            put_access(w, l, addr);
        }
        if (below(10) == 0)
            next_block(w, l);
        if (below(3)) {
            for (uint32_t k = 0; k < n_waiting[l]; k++)
                expect(x, l, DH_EVENT_READ, waiting[l][k]);
            n_waiting[l] = 0;
            expect(x, l, DH_EVENT_LOCK, ++addr);
            put_event(w, l, DH_EVENT_LOCK, addr);
        }
    }
    for (uint32_t l = 0; l < LANES; l++)
        for (uint32_t k = 0; k < n_waiting[l]; k++)
            expect(x, l, DH_EVENT_READ, waiting[l][k]);
}

/* A mark delivers what came before it, which is as good as the next event: compare what does not depend on it. */
static void compare(const struct reading *r, const struct expected *x)
{
    size_t events = 0, of_thread[LANES] = {0};
    assert_int_equal(r->n, x->n);
    for (uint32_t l = 0; l < LANES; l++)
        for (size_t i = 0, k = 0; i < r->n; i++) {
            if (r->events[i].thread != l)
                continue;
            while (x->events[k].thread != l)
                k++;
            assert_int_equal(r->events[i].kind, x->events[k].kind);
            assert_int_equal(r->events[i].addr, x->events[k].addr);
            k++;
            of_thread[l]++;
        }
    for (size_t i = 0, k = 0; i < r->n; i++) {
        if (!r->events[i].seq)
            continue;
        while (x->events[k].kind != DH_EVENT_LOCK)
            k++;
        assert_int_equal(r->events[i].addr, x->events[k++].addr);
        events++;
    }
    assert_true(events > 0 && of_thread[0] > 0);
}

static void read_all(struct dh_live *l, struct reading *r)
{
    while (dh_live_poll(l))
        ;
    assert_true(r->ended);
    dh_live_close(l);
}

static void random_streams_come_in_order(void **unused)
{
    (void)unused;
    struct reading *r = malloc(sizeof *r);
    struct expected *x = malloc(sizeof *x);
    for (state = 1; state <= 40; state++) {
        uint32_t seed = state;
        *r = (struct reading){0};
        x->n = 0;
        struct dh_err err = {0};
        struct dh_live *l = dh_live_open(&(struct dh_live_sink){begin, event, grown, end, r}, &err);
        assert_non_null(l);
        struct writer w = {.h = make_file(l)};
        atomic_store(&w.h->n_lanes, LANES);
        make_stream(&w, x);
        munmap(w.h, DH_STREAM_FILE);
        read_all(l, r);
        compare(r, x);
        state = seed;
    }
    free(r);
    free(x);
}

/* ---- nonsense ---- */

static uint64_t any_word(void)
{
    uint64_t word = (uint64_t)below(1 << 24) << 40 ^ (uint64_t)below(1 << 24) << 20 ^ below(1 << 24);
    return below(3) ? (word & 0xFFFF00FF) | below(DH_EVENT_COUNT + 2) << 8 : word;
}

static void scribble(struct dh_stream_header *h)
{
    struct dh_stream_context *contexts = (void *)((char *)h + DH_STREAM_CONTEXTS_AT);
    uint32_t blocks = 1 + below(4), lanes = 1 + below(6);
    atomic_store(&h->n_blocks, below(20) ? blocks : UINT32_MAX);
    atomic_store(&h->n_lanes, below(20) ? lanes : DH_STREAM_LANES);
    atomic_store(&h->n_modules, below(3) * 300);
    atomic_store(&h->modules_changed, below(2));
    for (uint32_t i = 0; i < 1000; i++)
        contexts[i] = (struct dh_stream_context){any_word(), below(2000), 0};
    for (uint32_t i = 0; i < lanes; i++) {
        atomic_store(&lane(h, i)->first, below(blocks + 2));
        for (uint32_t k = 0; k < 20; k++)
            lane(h, i)->runs[below(2 * DH_STREAM_RUNS)] = (struct dh_stream_run){
                any_word(), (int32_t)below(1000) - 500, any_word(), below(1000), below(2000), 4, {0}};
    }
    for (uint32_t i = 0; i < blocks; i++) {
        for (uint32_t k = 0; k < 600; k++)
            block(h, i)->words[k] = any_word() & (below(2) ? ~(uint64_t)0 : 0x00FFFFFFFFu);
        atomic_store(&block(h, i)->used, below(10) ? below(600) : UINT32_MAX);
        atomic_store(&block(h, i)->next, below(blocks + 2));
    }
}

/* Runs of nonsense may be long, but not these: counts are small where the upper half of the words is. */
static void limit_runs(struct dh_stream_header *h)
{
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k + 2 < 600; k++)
            if ((block(h, i)->words[k] & 15) == DH_STREAM_RUN)
                block(h, i)->words[k + 2] &= 0xFFFFFFFF000000FFu;
}

static void nonsense_is_survived(void **unused)
{
    (void)unused;
    struct reading *r = malloc(sizeof *r);
    for (uint32_t seed = 1; seed <= 100; seed++) {
        state = seed;
        *r = (struct reading){0};
        struct dh_err err = {0};
        struct dh_live *l = dh_live_open(&(struct dh_live_sink){begin, event, grown, end, r}, &err);
        assert_non_null(l);
        struct dh_stream_header *h = make_file(l);
        scribble(h);
        limit_runs(h);
        munmap(h, DH_STREAM_FILE);
        read_all(l, r);
    }
    free(r);
}

static void foreign_files_are_left_alone(void **unused)
{
    (void)unused;
    struct reading r = {.n = 0};
    struct dh_err err = {0};
    struct dh_live *l = dh_live_open(&(struct dh_live_sink){begin, event, grown, end, &r}, &err);
    assert_non_null(l);
    struct dh_stream_header *h = make_file(l);
    h->version++;
    munmap(h, DH_STREAM_FILE);
    assert_false(dh_live_poll(l));
    dh_live_close(l);
    assert_false(r.ended);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_streams_come_in_order),
        cmocka_unit_test(nonsense_is_survived),
        cmocka_unit_test(foreign_files_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
