/* The lock-order analysis against the truth: on small random programs of locks, forks and joins, whatever one run of
 * them tells the detector, it must suspect a deadlock exactly if some order of their steps ends in one. */
#include "detect/detector.h"
#include "detect/online_scc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct dh_detector dh_detector_deadlock;

enum { THREADS = 4, LOCKS = 5, OPS = 14, PROGRAMS = 10000, LOCK_AT = 0x1000, COND_AT = 0x8000 };

enum what { TAKE, READ, TRY, GIVE, FORK, JOIN };
struct op {
    enum what what;
    int arg;  /* lock or thread */
    int skip; /* TRY: where to go on when it fails */
};

struct program {
    struct op ops[THREADS][OPS + 2 * LOCKS];
    int n[THREADS];
    int threads;
    bool nested;
};

static uint32_t seed;
static unsigned chance(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

/* ---- programs ---- */

static void emit(struct program *p, int t, enum what what, int arg)
{
    p->ops[t][p->n[t]++] = (struct op){what, arg, 0};
}

static void give(struct program *p, int t, int *held, int *taken_at, int *n, int which)
{
    emit(p, t, GIVE, held[which]);
    if (p->ops[t][taken_at[which]].what == TRY)
        p->ops[t][taken_at[which]].skip = p->n[t];
    memmove(held + which, held + which + 1, (size_t)(*n - which - 1) * sizeof *held);
    memmove(taken_at + which, taken_at + which + 1, (size_t)(*n - which - 1) * sizeof *held);
    --*n;
}

static bool holds(const int *held, int n, int lock)
{
    for (int i = 0; i < n; i++)
        if (held[i] == lock)
            return true;
    return false;
}

/* What is tried is closed before anything that was taken earlier, or the way around it would leave locks behind. */
static bool may_give(const struct program *p, int t, const int *taken_at, int n, int which)
{
    for (int i = which + 1; i < n; i++)
        if (p->ops[t][taken_at[i]].what == TRY)
            return false;
    return which == n - 1 || p->ops[t][taken_at[which]].what != TRY;
}

static void write_thread(struct program *p, int t, int locks)
{
    int held[LOCKS], taken_at[LOCKS], n = 0, forked = 0, joined = 0;
    int children = t == 0 ? p->threads - 1 : 0, length = 4 + (int)chance(OPS - 5);
    bool inside = false; /* forks and joins may not be skipped */
    while (p->n[t] < length || n || joined < children) {
        inside = false;
        for (int i = 0; i < n; i++)
            inside = inside || p->ops[t][taken_at[i]].what == TRY;
        bool late = p->n[t] >= length;
        if (children && !inside && forked < children && (late || chance(4) == 0)) {
            emit(p, t, FORK, ++forked);
        } else if (joined < forked && !inside && (late || chance(12) == 0)) {
            emit(p, t, JOIN, ++joined);
        } else if (n && (late || chance(3) == 0)) {
            int which = p->nested ? n - 1 : (int)chance((unsigned)n);
            if (!may_give(p, t, taken_at, n, which))
                which = n - 1;
            give(p, t, held, taken_at, &n, which);
        } else if (n < 3 && n < locks && !late) {
            int lock = (int)chance((unsigned)locks);
            while (holds(held, n, lock))
                lock = (lock + 1) % locks;
            taken_at[n] = p->n[t];
            held[n++] = lock;
            unsigned how = chance(10);
            emit(p, t, how == 0 ? TRY : how == 1 && lock == 0 ? READ : TAKE, lock);
        }
    }
}

static struct program random_program(bool nested)
{
    struct program p = {.nested = nested, .threads = 2 + (int)chance(THREADS - 1)};
    int locks = 2 + (int)chance(LOCKS - 1);
    for (int t = 0; t < p.threads; t++)
        write_thread(&p, t, locks);
    return p;
}

/* ---- running them ---- */

struct state {
    uint8_t at[THREADS], begun[THREADS];
    uint8_t writer[LOCKS], readers[LOCKS]; /* thread + 1; set of threads */
};

static const struct op *next_op(const struct program *p, const struct state *s, int t)
{
    return s->begun[t] && s->at[t] < p->n[t] ? &p->ops[t][s->at[t]] : NULL;
}

static bool enabled(const struct program *p, const struct state *s, int t)
{
    const struct op *o = next_op(p, s, t);
    if (!o)
        return false;
    switch (o->what) {
    case TAKE:
        return !s->writer[o->arg] && !s->readers[o->arg];
    case READ:
        return !s->writer[o->arg];
    case JOIN:
        return s->at[o->arg] == p->n[o->arg];
    default:
        return true;
    }
}

static void step(const struct program *p, struct state *s, int t)
{
    const struct op *o = &p->ops[t][s->at[t]++];
    switch (o->what) {
    case TRY:
        if (s->writer[o->arg] || s->readers[o->arg]) {
            s->at[t] = (uint8_t)o->skip;
            break;
        }
        s->writer[o->arg] = (uint8_t)(t + 1);
        break;
    case TAKE:
        s->writer[o->arg] = (uint8_t)(t + 1);
        break;
    case READ:
        s->readers[o->arg] |= (uint8_t)(1 << t);
        break;
    case GIVE:
        if (s->writer[o->arg] == t + 1)
            s->writer[o->arg] = 0;
        s->readers[o->arg] &= (uint8_t)~(1 << t);
        break;
    case FORK:
        s->begun[o->arg] = 1;
        break;
    case JOIN:
        break;
    }
}

static bool finished(const struct program *p, const struct state *s)
{
    for (int t = 0; t < p->threads; t++)
        if (s->at[t] < p->n[t])
            return false;
    return true;
}

/* States are known by where threads are: what is held follows. */
struct seen {
    uint64_t *at; /* below the number of the program */
    size_t cap;
    uint64_t program;
};

static bool saw(struct seen *seen, const struct state *s)
{
    uint64_t key = seen->program;
    for (int t = 0; t < THREADS; t++)
        key = key * 32 + s->at[t];
    for (size_t i = key * 0x9e3779b97f4a7c15u >> 40;; i++) {
        uint64_t *row = &seen->at[i & (seen->cap - 1)];
        if (*row == key)
            return true;
        if (*row >> 5 * THREADS != key >> 5 * THREADS) {
            *row = key;
            return false;
        }
    }
}

static bool deadlock_from(const struct program *p, const struct state *s, struct seen *seen)
{
    bool any = false;
    if (saw(seen, s) || finished(p, s))
        return false;
    for (int t = 0; t < p->threads; t++) {
        if (!enabled(p, s, t))
            continue;
        struct state after = *s;
        any = true;
        step(p, &after, t);
        if (deadlock_from(p, &after, seen))
            return true;
    }
    return !any;
}

static bool naive_deadlock(const struct program *p)
{
    static uint64_t rows[1 << 20], program;
    struct seen seen = {rows, sizeof rows / sizeof *rows, ++program};
    struct state s = {.begun = {1}};
    return deadlock_from(p, &s, &seen);
}

/* ---- what the detector says ---- */

struct feed {
    struct dh_run_state *world;
    void *self;
    const struct dh_detector *detector;
    int found[DH_FINDING_KIND_COUNT][2];
    struct dh_suspicion last;
    struct dh_suspect suspects[DH_SUSPECTS];
};

static void found(void *arg, const char *detector, const void *suspicion)
{
    struct feed *f = arg;
    f->last = *(const struct dh_suspicion *)suspicion;
    assert_string_equal(detector, "deadlock");
    assert_true(f->last.n_suspects >= 1 && f->last.n_suspects <= DH_SUSPECTS);
    memcpy(f->suspects, f->last.suspects, f->last.n_suspects * sizeof *f->suspects);
    f->found[f->last.kind][f->last.level]++;
}

static void feed_begin(struct feed *f)
{
    struct dh_run_host host = {.found = found, .arg = f};
    struct dh_detector_options none = {0};
    const char *why = NULL;
    memset(f, 0, sizeof *f);
    f->detector = &dh_detector_deadlock;
    f->world = dh_run_state_new(&host);
    f->self = f->detector->begin(f->world, &none, &why);
    assert_non_null(f->self);
}

static void feed(struct feed *f, struct dh_event e)
{
    dh_run_state_before(f->world, &e);
    f->detector->event(f->self, &e);
    dh_run_state_after(f->world, &e);
}

static void feed_end(struct feed *f)
{
    f->detector->end(f->self);
    f->detector->release(f->self);
    dh_run_state_free(f->world);
}

static void say(struct feed *f, enum dh_event_kind kind, int thread, uint64_t addr, uint64_t arg, unsigned flags,
                int site)
{
    feed(f, (struct dh_event){.kind = (uint8_t)kind,
                              .flags = (uint8_t)flags,
                              .thread = (uint32_t)thread,
                              .site = (uint32_t)site,
                              .addr = addr,
                              .arg = arg});
}

static void say_op(struct feed *f, const struct program *p, int t, int at, bool got)
{
    const struct op *o = &p->ops[t][at];
    uint64_t lock = LOCK_AT + 64 * (uint64_t)o->arg;
    int site = t * 100 + at;
    switch (o->what) {
    case TAKE:
        say(f, DH_EVENT_LOCK, t, lock, 0, 0, site);
        break;
    case READ:
        say(f, DH_EVENT_LOCK, t, lock, 0, DH_EVENT_SHARED, site);
        break;
    case TRY:
        if (got)
            say(f, DH_EVENT_LOCK, t, lock, 0, DH_EVENT_TRY, site);
        break;
    case GIVE:
        say(f, DH_EVENT_UNLOCK, t, lock, 0, 0, site);
        break;
    case FORK:
        say(f, DH_EVENT_THREAD_CREATE, t, 0, (uint64_t)o->arg, 0, site);
        say(f, DH_EVENT_THREAD_BEGIN, o->arg, 0, 0, 0, site);
        break;
    case JOIN:
        say(f, DH_EVENT_THREAD_END, o->arg, 0, 0, 0, site);
        say(f, DH_EVENT_THREAD_JOIN, t, 0, (uint64_t)o->arg, 0, site);
        break;
    }
}

/* One run, told to the detector. False when it ended in a deadlock or left something out: another one is better. */
static bool run(const struct program *p, struct feed *f)
{
    struct state s = {.begun = {1}};
    bool whole = true;
    while (!finished(p, &s)) {
        int ready[THREADS], n = 0;
        for (int t = 0; t < p->threads; t++)
            if (enabled(p, &s, t))
                ready[n++] = t;
        if (!n)
            return false;
        int t = ready[chance((unsigned)n)], at = s.at[t];
        step(p, &s, t);
        bool got = s.at[t] == at + 1;
        whole = whole && (got || p->ops[t][at].what != TRY);
        say_op(f, p, t, at, got);
    }
    return whole;
}

static void print(const struct program *p)
{
    static const char *const names[] = {"take", "read", "try", "give", "fork", "join"};
    for (int t = 0; t < p->threads; t++) {
        printf("thread %d:", t);
        for (int i = 0; i < p->n[t]; i++)
            printf(" %s%d", names[p->ops[t][i].what], p->ops[t][i].arg);
        printf("\n");
    }
}

enum answer { UNKNOWN, SILENT, SUSPECTS };

static enum answer ask(const struct program *p)
{
    for (int tries = 0; tries < 50; tries++) {
        struct feed f;
        feed_begin(&f);
        bool whole = run(p, &f);
        feed_end(&f);
        if (whole)
            return f.found[DH_FINDING_DEADLOCK][DH_LEVEL_SUSPECTED] ? SUSPECTS : SILENT;
    }
    return UNKNOWN;
}

static void random_programs(bool nested, int counts[2][2])
{
    for (int i = 0; i < PROGRAMS; i++) {
        seed = (uint32_t)i * 2654435761u + nested;
        struct program p = random_program(nested);
        enum answer a = ask(&p);
        if (a == UNKNOWN)
            continue;
        bool truth = naive_deadlock(&p), suspected = a == SUSPECTS;
        counts[truth][suspected]++;
        if (truth == suspected || (!nested && suspected))
            continue;
        printf("program %d: %s, but %s\n", i, truth ? "can deadlock" : "cannot deadlock",
               suspected ? "suspected" : "not suspected");
        print(&p);
        fail();
    }
}

static void test_nested(void **state)
{
    int n[2][2] = {{0}};
    (void)state;
    random_programs(true, n);
    printf("nested: %d deadlocks, %d without\n", n[1][1], n[0][0]);
    assert_true(n[1][1] > PROGRAMS / 20 && n[0][0] > PROGRAMS / 20);
}

/* Locks given in another order than taken can keep threads apart in ways that are not looked at: nothing is missed. */
static void test_any_order(void **state)
{
    int n[2][2] = {{0}};
    (void)state;
    random_programs(false, n);
    printf("any order: %d deadlocks, %d without, %d suspected wrongly\n", n[1][1], n[0][0], n[0][1]);
    assert_true(n[0][1] * 50 < n[1][1]);
}

/* ---- components of a growing graph ---- */

enum { VERTICES = 14, GRAPHS = 4000, EDGES = 40 };

static void find_ways(bool edge[VERTICES][VERTICES], bool way[VERTICES][VERTICES])
{
    memcpy(way, edge, sizeof(bool[VERTICES][VERTICES]));
    for (int k = 0; k < VERTICES; k++)
        for (int i = 0; i < VERTICES; i++)
            for (int j = 0; j < VERTICES; j++)
                way[i][j] = way[i][j] || (way[i][k] && way[k][j]);
}

/* Removing one takes its edges; what was together stays so, so a component is left out once one of it has gone. */
static void test_cycles(void **state)
{
    (void)state;
    for (int n = 0; n < GRAPHS; n++) {
        bool edge[VERTICES][VERTICES] = {{0}}, way[VERTICES][VERTICES] = {{0}};
        uint32_t vertex[VERTICES];
        struct dh_online_scc *g = dh_online_scc_new();
        seed = (uint32_t)n * 2654435761u;
        for (int i = 0; i < VERTICES; i++)
            vertex[i] = dh_online_scc_add_vertex(g);
        for (int e = 0; e < EDGES; e++) {
            int a = (int)chance(VERTICES), b = (int)chance(VERTICES);
            bool alone = true;
            for (int i = 0; i < VERTICES; i++)
                alone = alone && !(way[a][i] && way[i][a]);
            if (alone && chance(12) == 0) { /* another one in its place */
                dh_online_scc_remove(g, vertex[a]);
                vertex[a] = dh_online_scc_add_vertex(g);
                for (int i = 0; i < VERTICES; i++)
                    edge[a][i] = edge[i][a] = false;
                find_ways(edge, way);
                continue;
            }
            dh_online_scc_add_edge(g, vertex[a], vertex[b]);
            edge[a][b] = true;
            find_ways(edge, way);
            for (int i = 0; i < VERTICES; i++)
                for (int j = 0; j < VERTICES; j++)
                    assert_int_equal(dh_online_scc_same(g, vertex[i], vertex[j]), i == j || (way[i][j] && way[j][i]));
        }
        dh_online_scc_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
