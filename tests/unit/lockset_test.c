/* Lock sets against naive ones on random traces. Naive: every access is kept, for each the set of events known to be
 * before it, by the rules of handover.h read literally; every pair is tried. The detector must tell a pair for exactly
 * the bytes that have one, and no pair that is none. Eraser likewise: a state per byte, plain bit sets of locks. And
 * the two containers beneath against the simplest thing that could be in their place. */
#include "naive_order.h"

#include "detect/granule_map.h"
#include "detect/locksets.h"
#include "event/scope_table.h"

enum { TRACES = 6000 };

/* ---- naive pairs ---- */

struct pairs {
    bool alive[MOST][BYTES]; /* accesses, by the bytes not forgotten since */
    bool race[MOST][MOST], byte[BYTES];
};

static void pairs_access(struct naive *n, int now)
{
    struct pairs *p = n->judge;
    const struct dh_event *e = &n->t->e[now];
    for (unsigned b = at_of(e); b < at_of(e) + size_of(e); b++) {
        for (int then = 0; then < now; then++)
            if (p->alive[then][b] && may_meet(n, then, now))
                p->race[then][now] = p->byte[b] = true;
        p->alive[now][b] = true;
    }
}

static void pairs_forget(struct naive *n, const struct dh_event *e, unsigned byte)
{
    struct pairs *p = n->judge;
    (void)e;
    for (int i = 0; i < MOST; i++)
        p->alive[i][byte] = false;
}

/* ---- the detector ---- */

struct host {
    const struct trace *t;
    bool told[MOST][MOST];
    bool byte[BYTES], covered[BYTES]; /* told; of a pair's accesses, whatever was forgotten in between */
    int how[MOST];                    /* whether a place is a step of something */
    bool step[MOST];                  /* told of it */
};

static int flow(void *arg, uint32_t place, uint32_t lock)
{
    const struct host *h = arg;
    assert_int_equal(lock, DH_NO_PLACE);
    return h->how[place];
}

/* Whoever races with a step and writes can come between. */
static bool breaks(const struct host *h, int step, int other)
{
    return h->how[step] > 0 && h->how[step] & (DH_FLOW_UPDATES | DH_FLOW_CHECKS) &&
           dh_event_is_access(&h->t->e[step]) && writes(&h->t->e[other]);
}

static void steps_found(struct host *h, const struct dh_suspicion *s)
{
    uint32_t step = s->suspects[0].site, other = s->suspects[1].site;
    assert_true(breaks(h, (int)step, (int)other));
    assert_true(h->told[step][other] || h->told[other][step]);
    assert_false(h->step[step]);
    h->step[step] = true;
}

static void check_steps(const struct host *h)
{
    for (int a = 0; a < MOST; a++)
        for (int b = 0; b < MOST; b++)
            if (h->told[a][b] && ((breaks(h, a, b) && !h->step[a]) || (breaks(h, b, a) && !h->step[b])))
                fail_msg("a step at %d or %d is not told", a, b);
}

static const struct dh_site *site_of(void *arg, uint32_t place, const struct dh_site_table **table)
{
    const struct host *h = arg;
    return site_at(h->t, place, table);
}

static void found(void *arg, const char *detector, const void *suspicion)
{
    struct host *h = arg;
    const struct dh_suspicion *s = suspicion;
    assert_string_equal(detector, "lockset");
    if (s->kind == DH_FINDING_ATOMICITY) {
        steps_found(h, s);
        return;
    }
    assert_int_equal(s->kind, DH_FINDING_RACE);
    assert_int_equal(s->level, DH_LEVEL_SUSPECTED);
    assert_int_equal(s->n_suspects, 2);
    const struct dh_event *e[2];
    for (int i = 0; i < 2; i++) {
        const struct dh_suspect *x = &s->suspects[i];
        e[i] = &h->t->e[x->site];
        assert_int_equal(x->thread, e[i]->thread);
        assert_true(x->addr <= s->addr && x->addr + x->size >= s->addr + s->size);
        assert_true(x->addr >= e[i]->addr || x->addr % 8 == 0 || x->size > size_of(e[i]));
    }
    h->told[s->suspects[0].site][s->suspects[1].site] = true;
    for (unsigned b = 0; b < BYTES; b++)
        if (b >= at_of(e[0]) && b < at_of(e[0]) + size_of(e[0]) && b >= at_of(e[1]) && b < at_of(e[1]) + size_of(e[1]))
            h->covered[b] = true;
    for (uint64_t b = s->addr - MEMORY; b < s->addr - MEMORY + s->size; b++)
        h->byte[b] = true;
}

extern const struct dh_detector dh_detector_lockset;

static const char *option(void *arg, const char *key)
{
    return strcmp(key, "lockset") == 0 ? arg : NULL;
}

static void run(const struct trace *t, struct host *h, const char *way)
{
    static const int hows[] = {0, -1, DH_FLOW_DECIDES, DH_FLOW_UPDATES, DH_FLOW_CHECKS | DH_FLOW_DECIDES};
    struct dh_run_host host = {.site = site_of, .found = found, .flow = flow, .arg = h};
    struct dh_detector_options o = {option, (void *)(uintptr_t)way};
    memset(h, 0, sizeof *h);
    h->t = t;
    for (int i = 0; i < MOST; i++)
        h->how[i] = hows[((unsigned)i * 7 + seed) % 5];
    feed(t, &dh_detector_lockset, &host, &o);
    check_steps(h);
}

static void test_hybrid(void **state)
{
    static struct trace t;
    static struct host h;
    static struct naive n;
    static struct pairs p;
    int with = 0, pairs = 0, bytes = 0;
    (void)state;
    for (int i = 0; i < TRACES; i++) {
        seed = 1000003u * (unsigned)i + 17;
        make(&t);
        run(&t, &h, i % 2 ? NULL : "hybrid");
        memset(&p, 0, sizeof p);
        n = (struct naive){.access = pairs_access, .forget = pairs_forget, .judge = &p};
        naive_run(&n, &t);
        bool any = false;
        for (int a = 0; a < MOST; a++)
            for (int b = 0; b < MOST; b++) {
                if (h.told[a][b] && !p.race[a][b]) {
                    print_trace(&t);
                    fail_msg("trace %d: pair %d, %d is told and is none", i, a, b);
                }
                pairs += h.told[a][b];
            }
        for (int b = 0; b < BYTES; b++) {
            if (h.byte[b] > p.byte[b] || h.covered[b] < p.byte[b]) {
                print_trace(&t);
                fail_msg("trace %d: byte %d: %d, should be %d", i, b, h.byte[b], p.byte[b]);
            }
            any = any || p.byte[b];
            bytes += p.byte[b];
        }
        with += any;
    }
    print_message("%d of %d traces with pairs, %d of %d bytes, %d pairs told\n", with, TRACES, bytes, TRACES * BYTES,
                  pairs);
    assert_true(with > TRACES / 10 && with < TRACES);
}

/* ---- eraser ---- */

enum phase { VIRGIN, EXCLUSIVE, SHARED, SHARED_MODIFIED };

struct eraser {
    enum phase phase[BYTES];
    uint32_t owner[BYTES];
    unsigned locks[BYTES];
    bool violated[BYTES];
    bool accessed[BYTES][THREADS][2];
};

static void eraser_access(struct eraser *x, unsigned b, const struct dh_event *e, unsigned any, unsigned exclusive)
{
    bool write = writes(e), in_the_way = false;
    for (uint32_t i = 0; i < THREADS; i++)
        in_the_way = in_the_way || (i != e->thread && (x->accessed[b][i][1] || (write && x->accessed[b][i][0])));
    if (x->phase[b] == VIRGIN)
        x->phase[b] = EXCLUSIVE, x->owner[b] = e->thread, x->locks[b] = ~0u;
    if (x->phase[b] != EXCLUSIVE || x->owner[b] != e->thread) {
        x->phase[b] = write || x->phase[b] == SHARED_MODIFIED ? SHARED_MODIFIED : SHARED;
        x->locks[b] &= write ? exclusive : any;
        /* Without an access of another thread in its way there is no pair to tell. */
        if (x->phase[b] == SHARED_MODIFIED && !x->locks[b] && in_the_way)
            x->violated[b] = true;
    }
    x->accessed[b][e->thread][write] = true;
}

static void eraser_run(struct eraser *x, const struct trace *t)
{
    int held[THREADS][LOCKS] = {0};
    memset(x, 0, sizeof *x);
    for (int i = 0; i < t->n; i++) {
        const struct dh_event *e = &t->e[i];
        unsigned any = 0, exclusive = 0;
        for (int k = 0; k < LOCKS; k++)
            any |= (unsigned)(held[e->thread][k] > 0) << k, exclusive |= (unsigned)(held[e->thread][k] > 1) << k;
        for (unsigned b = 0; b < BYTES; b++)
            if (dh_event_is_access(e) && b >= at_of(e) && b < at_of(e) + e->arg)
                eraser_access(x, b, e, any, exclusive);
            else if ((e->kind == DH_EVENT_ALLOC || e->kind == DH_EVENT_FREE) && b >= at_of(e) && b < at_of(e) + e->arg)
                x->phase[b] = VIRGIN, memset(x->accessed[b], 0, sizeof x->accessed[b]);
        if (e->kind == DH_EVENT_LOCK)
            held[e->thread][lock_of(e->addr)] = e->flags & DH_EVENT_SHARED ? 1 : 2;
        if (e->kind == DH_EVENT_UNLOCK)
            held[e->thread][lock_of(e->addr)] = 0;
    }
}

/* Atomics take no part. */
static void drop_atomics(struct trace *t)
{
    for (int i = 0; i < t->n; i++)
        if (is_atomic(&t->e[i]))
            t->e[i].kind = DH_EVENT_MARK;
}

static void test_eraser(void **state)
{
    static struct trace t;
    static struct host h;
    static struct eraser x;
    int with = 0;
    (void)state;
    for (int i = 0; i < TRACES; i++) {
        bool any = false;
        seed = 7000003u * (unsigned)i + 5;
        make(&t);
        drop_atomics(&t);
        run(&t, &h, "eraser");
        eraser_run(&x, &t);
        for (int b = 0; b < BYTES; b++) {
            if (h.byte[b] > x.violated[b] || h.covered[b] < x.violated[b]) {
                print_trace(&t);
                fail_msg("trace %d: byte %d: %d, should be %d", i, b, h.byte[b], x.violated[b]);
            }
            any = any || x.violated[b];
        }
        for (int a = 0; a < MOST; a++)
            for (int b = 0; b < MOST; b++)
                if (h.told[a][b]) {
                    const struct dh_event *p = &t.e[a], *q = &t.e[b];
                    bool hit = false;
                    for (unsigned k = 0; k < BYTES; k++)
                        hit = hit || (x.violated[k] && k >= at_of(p) && k < at_of(p) + p->arg && k >= at_of(q) &&
                                      k < at_of(q) + q->arg);
                    assert_true(p->thread != q->thread && (writes(p) || writes(q)) && hit);
                }
        with += any;
    }
    print_message("%d of %d traces with violations\n", with, TRACES);
    assert_true(with > TRACES / 10 && with < TRACES);
}

static void test_options(void **state)
{
    struct dh_detector_options o = {option, (void *)(uintptr_t)"else"};
    const char *why = NULL;
    struct dh_run_state *w = dh_run_state_new(NULL);
    (void)state;
    assert_null(dh_detector_lockset.begin(w, &o, &why));
    assert_non_null(why);
    dh_run_state_free(w);
}

/* ---- beneath ---- */

enum { CELLS = 4096 };
struct mirror {
    uint32_t cell[CELLS];
    uint32_t value;
    bool only_known;
};

static uint32_t set_step(void *arg, uint32_t old, uint64_t granule, unsigned mask)
{
    struct mirror *m = arg;
    size_t i = granule / 8 % CELLS;
    assert_int_equal(old, m->cell[i]);
    assert_true(mask != 0 && mask <= 0xFF && (!m->only_known || old));
    m->cell[i] = mask == 0xFF ? m->value : m->value ? m->value ^ mask : 0;
    return m->cell[i];
}

static void test_granules(void **state)
{
    static struct mirror m;
    struct dh_granule_map g;
    (void)state;
    dh_granule_map_init(&g);
    memset(&m, 0, sizeof m);
    seed = 3;
    for (int i = 0; i < 20000; i++) {
        bool visit = m.only_known = pick(2);
        uint64_t size = pick(20) ? pick(40) : pick(9000), at = pick(8 * CELLS - 9000);
        m.value = pick(3) ? 1 + pick(1000) : 0;
        (visit ? dh_granule_map_visit : dh_granule_map_update)(&g, at, size, set_step, &m);
    }
    m.value = 0;
    m.only_known = true;
    dh_granule_map_visit(&g, 0, UINT64_MAX, set_step, &m);
    for (int i = 0; i < CELLS; i++)
        assert_int_equal(m.cell[i], 0);
    assert_int_equal(g.pages.n, 0);
    m.only_known = false;
    dh_granule_map_update(&g, UINT64_MAX - 3, 100, set_step, &m); /* ends where addresses end */
    dh_granule_map_release(&g, NULL, NULL);
}

static void test_locksets(void **state)
{
    enum { N = 40 };
    struct dh_locksets *s = dh_locksets_new();
    uint32_t set[N] = {0}, bits[N] = {0};
    (void)state;
    seed = 11;
    for (int i = 0; i < 50000; i++) {
        unsigned a = pick(N), b = pick(N), c = pick(N);
        uint32_t locks[6], all = 0;
        size_t n = pick(6);
        for (size_t k = 0; k < n; k++)
            locks[k] = pick(10), all |= 1u << locks[k];
        bool fresh = pick(2);
        uint32_t new = fresh ? dh_locksets_get(s, locks, n) : dh_locksets_intersect(s, set[a], set[b]);
        uint32_t expected = fresh ? all : bits[a] & bits[b];
        dh_locksets_unref(s, set[c]);
        set[c] = new;
        bits[c] = expected;
        assert_int_equal(dh_locksets_disjoint(s, set[a], set[c]), !(bits[a] & bits[c]));
        assert_int_equal(dh_locksets_is_subset(s, set[a], set[c]), !(bits[a] & ~bits[c]));
        assert_int_equal(set[a] == set[c], bits[a] == bits[c]);
    }
    dh_locksets_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_granules), cmocka_unit_test(test_locksets), cmocka_unit_test(test_options),
        cmocka_unit_test(test_hybrid),   cmocka_unit_test(test_eraser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
