/* Object race detection against a naive one on random traces: the figures of von Praun 7.1.3 with their errata, sets of
 * locks as bits, every access kept. By field and by object, with the order of the run (hybrid) and without (eraser). */
#include "naive_order.h"

#include "detect/object.h"
#include "detect/prefilter.h"

enum { OBJECTS_HERE = BYTES / 8, MOST_KEPT = 16 };

/* More are asked for by TRACES in the environment. */
static int traces(void)
{
    const char *wanted = getenv("TRACES");
    return wanted ? atoi(wanted) : 1200;
}

enum phase { OWNED, HANDOFF, SHARED };

struct state {
    enum phase phase;
    bool wrote;
    uint32_t second;
    unsigned locks;
};

struct object {
    uint32_t owner; /* and 1; 0: not known */
    bool shared;
    struct state whole, byte[8];
    bool conflict; /* it was told of: what follows must be about the same bytes */
    int kept[MOST], n_kept;
};

struct model {
    bool fields;
    struct object object[OBJECTS_HERE];
    bool pair[MOST][MOST]; /* may meet, and what it is about has lost its last lock */
    bool any[MOST][MOST];  /* likewise, whatever the order */
    bool violation[MOST];  /* and there is something in its way */
    bool too_many;
    bool violated_object;
};

static bool advance(struct state *s, const struct naive *n, int now)
{
    const struct dh_event *e = &n->t->e[now];
    if (s->phase == OWNED)
        *s = (struct state){HANDOFF, false, e->thread, ~0u};
    s->wrote |= writes(e);
    if (s->phase == HANDOFF && s->second != e->thread)
        s->phase = SHARED;
    s->locks &= writes(e) ? n->exclusive[now] : n->any[now];
    return s->phase == SHARED && s->wrote && !s->locks;
}

/* `bytes`: of the object, that lost their last lock. */
static void violated(struct naive *n, struct object *o, int now, unsigned first, unsigned bytes)
{
    struct model *m = n->judge;
    const struct dh_event *e = &n->t->e[now];
    bool same_bytes = m->fields || o->conflict;
    for (int k = 0; k < o->n_kept; k++) {
        const struct dh_event *then = &n->t->e[o->kept[k]];
        bool overlap = false;
        for (unsigned b = 0; b < 8; b++)
            overlap |= (bytes >> b & 1) && first + b >= at_of(e) && first + b < at_of(e) + size_of(e) &&
                       first + b >= at_of(then) && first + b < at_of(then) + size_of(then);
        bool in_the_way = then->thread != e->thread && (writes(then) || writes(e));
        if (overlap && may_meet(n, o->kept[k], now))
            m->pair[o->kept[k]][now] = true;
        if (in_the_way && (overlap || !same_bytes))
            m->any[o->kept[k]][now] = m->violation[now] = o->conflict = true;
    }
}

static void model_access(struct naive *n, int now)
{
    struct model *m = n->judge;
    const struct dh_event *e = &n->t->e[now];
    unsigned at = at_of(e), first = at / 8 * 8, bytes = 0;
    struct object *o = &m->object[at / 8];
    bool tracked = false;
    if (is_atomic(e))
        return;
    if (!o->owner)
        o->owner = e->thread + 1;
    bool mine = o->owner == e->thread + 1;
    o->shared |= !mine;
    if (!o->shared)
        return;
    if (!m->fields && (o->whole.phase != OWNED || !mine)) {
        tracked = true;
        bytes = advance(&o->whole, n, now) ? 0xFF : 0;
    }
    for (unsigned b = 0; m->fields && b < 8; b++)
        if (first + b >= at && first + b < at + size_of(e) && (o->byte[b].phase != OWNED || !mine)) {
            tracked = true;
            bytes |= (unsigned)advance(&o->byte[b], n, now) << b;
        }
    if (bytes)
        violated(n, o, now, first, bytes);
    m->violated_object |= bytes != 0;
    if (tracked)
        o->kept[o->n_kept++] = now;
    m->too_many |= o->n_kept > MOST_KEPT;
}

static void model_forget(struct naive *n, const struct dh_event *e, unsigned byte)
{
    struct model *m = n->judge;
    if (byte % 8 == 0)
        m->object[byte / 8] = (struct object){.owner = e->kind == DH_EVENT_ALLOC ? e->thread + 1 : 0};
}

/* Objects are eight bytes; the owner is who allocates. */
static void whole_objects(struct trace *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->e[i].kind == DH_EVENT_ALLOC || t->e[i].kind == DH_EVENT_FREE) {
            t->e[i].addr &= ~(uint64_t)7;
            t->e[i].arg = 8;
        }
}

/* ---- the detector ---- */

struct host {
    const struct trace *t;
    const char *granularity, *way;
    bool told[MOST][MOST];
};

static const struct dh_site *site_of(void *arg, uint32_t place, const struct dh_site_table **table)
{
    const struct host *h = arg;
    return site_at(h->t, place, table);
}

static void found(void *arg, const char *detector, const void *suspicion)
{
    struct host *h = arg;
    const struct dh_suspicion *s = suspicion;
    assert_string_equal(detector, "object");
    assert_int_equal(s->kind, DH_FINDING_RACE);
    assert_int_equal(s->level, DH_LEVEL_SUSPECTED);
    assert_int_equal(s->n_suspects, 2);
    for (int i = 0; i < 2; i++)
        assert_int_equal(s->suspects[i].thread, h->t->e[s->suspects[i].site].thread);
    h->told[s->suspects[0].site][s->suspects[1].site] = true;
}

extern const struct dh_detector dh_detector_object;

static const char *option(void *arg, const char *key)
{
    const struct host *h = arg;
    return strcmp(key, "granularity") == 0 ? h->granularity : strcmp(key, "lockset") == 0 ? h->way : NULL;
}

static void run(const struct trace *t, struct host *h, bool fields, bool eraser)
{
    struct dh_run_host host = {.site = site_of, .found = found, .arg = h};
    struct dh_detector_options o = {option, h};
    memset(h, 0, sizeof *h);
    h->t = t;
    h->granularity = fields ? "field" : "object";
    h->way = eraser ? "eraser" : "hybrid";
    feed(t, &dh_detector_object, &host, &o);
}

static void compare(const struct trace *t, const struct host *h, const struct model *m, bool eraser, int number)
{
    for (int b = 0; b < MOST; b++) {
        bool any = false;
        for (int a = 0; a < MOST; a++) {
            bool may = eraser ? m->any[a][b] : m->pair[a][b];
            any |= h->told[a][b];
            if (h->told[a][b] > may || (!eraser && h->told[a][b] < may && !m->too_many)) {
                print_trace(t);
                fail_msg("trace %d: pair %d, %d: %d, should be %d", number, a, b, h->told[a][b], may);
            }
        }
        if (eraser && !m->too_many && any != m->violation[b]) {
            print_trace(t);
            fail_msg("trace %d: access %d: %d, should be %d", number, b, any, m->violation[b]);
        }
    }
}

static void test_random(void **state)
{
    static struct trace t;
    static struct host h;
    static struct naive n;
    static struct model m;
    int with[4] = {0}, exact[4] = {0};
    (void)state;
    for (int i = 0; i < traces(); i++)
        for (int k = 0; k < 4; k++) {
            bool fields = k & 1, eraser = k & 2;
            seed = 1234577u * (unsigned)i + 31;
            make(&t);
            whole_objects(&t);
            m = (struct model){.fields = fields};
            n = (struct naive){.access = model_access, .forget = model_forget, .judge = &m};
            naive_run(&n, &t);
            run(&t, &h, fields, eraser);
            compare(&t, &h, &m, eraser, i);
            with[k] += m.violated_object;
            exact[k] += !m.too_many;
        }
    for (int k = 0; k < 4; k++) {
        print_message("%s, %s: %d of %d traces with violations, %d compared exactly\n", k & 1 ? "field" : "object",
                      k & 2 ? "eraser" : "hybrid", with[k], traces(), exact[k]);
        assert_true(with[k] > traces() / 10 && with[k] < traces() && exact[k] > traces() / 10);
    }
}

static bool is_quiet(const struct trace *t)
{
    struct dh_prefilter *s = dh_prefilter_new();
    bool quiet;
    for (int i = 0; i < t->n; i++)
        dh_prefilter_event(s, &t->e[i]);
    quiet = dh_prefilter_end(s);
    dh_prefilter_free(s);
    return quiet;
}

static bool tells(const struct host *h)
{
    for (int a = 0; a < MOST; a++)
        for (int b = 0; b < MOST; b++)
            if (h->told[a][b])
                return true;
    return false;
}

/* Every second unit is only read, or all are locked: else something is wrong nearly everywhere. */
static void soothe(struct trace *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->e[i].kind == DH_EVENT_WRITE && (t->e[i].addr / 4 % 2 || pick(3)))
            t->e[i].kind = DH_EVENT_READ;
}

/* Accesses may be told before their thread's next event, with others' between. */
static void scatter(struct trace *t)
{
    for (int n = 3 * t->n; n > 0; n--) {
        int i = (int)pick((unsigned)t->n - 1);
        struct dh_event first = t->e[i], *two = &t->e[i];
        struct dh_site site = t->site[i];
        if (!dh_event_is_access(&two[1]) || first.thread == two[1].thread ||
            (first.kind == DH_EVENT_THREAD_CREATE && first.arg == two[1].thread))
            continue;
        two[0] = two[1];
        two[1] = first;
        t->site[i] = t->site[i + 1];
        t->site[i + 1] = site;
        two[0].site = (uint32_t)i;
        two[1].site = (uint32_t)i + 1;
    }
}

/* Where the screen is quiet the detector is. */
static void test_screen(void **state)
{
    static struct trace t;
    static struct host h;
    int quiet = 0, silent = 0;
    (void)state;
    for (int i = 0; i < 2 * traces(); i++) {
        seed = 7654321u * (unsigned)i + 17;
        make(&t);
        if (i % 3)
            whole_objects(&t);
        if (i % 4)
            soothe(&t);
        if (i % 5 > 2)
            scatter(&t);
        bool is = is_quiet(&t), told = false;
        for (int k = 0; k < 2; k++) {
            run(&t, &h, k, false);
            told |= tells(&h);
        }
        if (is && told) {
            print_trace(&t);
            fail_msg("trace %d: the screen is quiet, the detector is not", i);
        }
        quiet += is;
        silent += !told;
    }
    print_message("%d of %d traces say nothing, %d of them are known to by the screen\n", silent, 2 * traces(), quiet);
    assert_true(quiet > silent / 8);
}

/* Fig. 7.1 step by step, as counted for Table 7.2. */
static void test_counts(void **state)
{
    static const struct {
        uint32_t thread, kind;
        struct dh_object_counts then;
    } steps[] = {
        {0, DH_EVENT_WRITE, {1, 0, 0, 0, 0}}, /* owned */
        {1, DH_EVENT_READ, {1, 1, 0, 0, 0}},  /* handed over */
        {1, DH_EVENT_READ, {1, 1, 0, 0, 0}},  /* to the second owner */
        {2, DH_EVENT_READ, {1, 1, 1, 0, 0}},  /* shared, read */
        {0, DH_EVENT_READ, {1, 1, 1, 0, 0}},  {2, DH_EVENT_WRITE, {1, 1, 1, 1, 1}},
    };
    struct dh_run_state *w = dh_run_state_new(NULL);
    void *self = dh_detector_object.begin(w, NULL, NULL);
    struct dh_event alloc = {.kind = DH_EVENT_ALLOC, .addr = MEMORY, .arg = 8, .site = DH_NO_PLACE};
    (void)state;
    dh_run_state_before(w, &alloc);
    dh_detector_object.event(self, &alloc);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct dh_event e = {.kind = (uint8_t)steps[i].kind, .thread = steps[i].thread, .addr = MEMORY, .arg = 4};
        dh_detector_object.event(self, &e);
        assert_memory_equal(dh_object_counts(self), &steps[i].then, sizeof steps[i].then);
    }
    dh_detector_object.end(self);
    dh_detector_object.release(self);
    dh_run_state_free(w);
}

static void test_options(void **state)
{
    struct host h = {.granularity = "byte"};
    struct dh_detector_options o = {option, &h};
    const char *why = NULL;
    struct dh_run_state *w = dh_run_state_new(NULL);
    (void)state;
    assert_null(dh_detector_object.begin(w, &o, &why));
    assert_string_equal(why, "--granularity takes object or field");
    h = (struct host){.way = "none"};
    assert_null(dh_detector_object.begin(w, &o, &why));
    assert_string_equal(why, "--lockset takes eraser or hybrid");
    dh_run_state_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_screen),
                                       cmocka_unit_test(test_counts), cmocka_unit_test(test_options)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
