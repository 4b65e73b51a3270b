/* Races of a schedule against a naive reading of the rules: for every thread and object the set of events it knows. */
#include "event/site.h"
#include "search/schedule_races.h"
#include "search_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 200, OBJECTS = 6, MANY = 70 };

static uint64_t seed;
static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* ---- naive ---- */

struct known {
    bool event[EVENTS];
};

struct naive {
    unsigned n;
    struct {
        uint32_t thread;
        struct dh_step step;
    } event[EVENTS];
    struct known thread[MANY], fence_release[MANY], fence_acquire[MANY];
    bool has_fence[MANY];
    struct known object[OBJECTS], readers[OBJECTS];
    bool arrived[OBJECTS][MANY];
};

static void learn(struct known *to, const struct known *from)
{
    for (unsigned i = 0; i < EVENTS; i++)
        to->event[i] |= from->event[i];
}

static unsigned object_of(uint64_t address)
{
    return (unsigned)(address - 0x1000) / 8;
}

static void naive_barrier(struct naive *v, uint32_t t, const struct dh_step *s)
{
    unsigned o = object_of(s->object), n = 0;
    v->arrived[o][t] = true;
    learn(&v->object[o], &v->thread[t]);
    for (unsigned i = 0; i < MANY; i++)
        n += v->arrived[o][i];
    if (n < s->size)
        return;
    for (unsigned i = 0; i < MANY; i++)
        if (v->arrived[o][i])
            learn(&v->thread[i], &v->object[o]);
    memset(v->arrived[o], 0, sizeof v->arrived[o]);
    memset(&v->object[o], 0, sizeof v->object[o]);
}

static bool is_acquire(unsigned order)
{
    return order == DH_ORDER_ACQUIRE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

static bool is_release(unsigned order)
{
    return order == DH_ORDER_RELEASE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

static void naive_atomic_before(struct naive *v, uint32_t t, const struct dh_step *s)
{
    if (s->flags & DH_STEP_READS)
        learn(is_acquire(s->order) ? &v->thread[t] : &v->fence_acquire[t], &v->object[object_of(s->object)]);
}

static void naive_atomic_after(struct naive *v, uint32_t t, const struct dh_step *s)
{
    struct known *o = &v->object[object_of(s->object)];
    if (!(s->flags & DH_STEP_WRITES))
        return;
    if (!(s->flags & DH_STEP_READS))
        memset(o, 0, sizeof *o);
    if (is_release(s->order))
        learn(o, &v->thread[t]);
    else if (v->has_fence[t])
        learn(o, &v->fence_release[t]);
}

static void naive_sync(struct naive *v, uint32_t t, const struct dh_step *s)
{
    bool shared = s->flags & DH_STEP_SHARED;
    switch (s->kind) {
    case DH_STEP_LOCK:
        learn(&v->thread[t], &v->object[object_of(s->object)]);
        if (!shared)
            learn(&v->thread[t], &v->readers[object_of(s->object)]);
        break;
    case DH_STEP_UNLOCK:
        learn(shared ? &v->readers[object_of(s->object)] : &v->object[object_of(s->object)], &v->thread[t]);
        break;
    case DH_STEP_WAIT:
        learn(&v->object[object_of(s->second)], &v->thread[t]);
        break;
    case DH_STEP_WAKE:
        learn(&v->thread[t], &v->object[object_of(s->second)]);
        learn(&v->thread[t], &v->readers[object_of(s->second)]);
        break;
    case DH_STEP_SEM_POST:
        learn(&v->object[object_of(s->object)], &v->thread[t]);
        break;
    case DH_STEP_SEM_WAIT:
        learn(&v->thread[t], &v->object[object_of(s->object)]);
        break;
    case DH_STEP_BARRIER:
        naive_barrier(v, t, s);
        break;
    case DH_STEP_CREATE:
        learn(&v->thread[s->object], &v->thread[t]);
        break;
    case DH_STEP_JOIN:
        learn(&v->thread[t], &v->thread[s->object]);
        break;
    case DH_STEP_FENCE:
        if (is_acquire(s->order))
            learn(&v->thread[t], &v->fence_acquire[t]);
        if (is_release(s->order)) {
            memset(&v->fence_release[t], 0, sizeof v->fence_release[t]);
            learn(&v->fence_release[t], &v->thread[t]);
            v->has_fence[t] = true;
        }
        break;
    default:
        break;
    }
}

static bool is_memory(const struct dh_step *s)
{
    return (s->kind >= DH_STEP_READ && s->kind <= DH_STEP_COPY) || s->kind == DH_STEP_FREE;
}

/* Does the event race with anybody, with `site` among them? */
static bool naive_races(const struct naive *v, uint32_t t, const struct dh_step *s, uint32_t site, bool *with)
{
    bool any = false;
    for (unsigned i = 0; i < v->n; i++) {
        if (v->event[i].thread == t || v->thread[t].event[i] || !dh_steps_race(&v->event[i].step, s))
            continue;
        any = true;
        *with |= v->event[i].step.site == site;
    }
    return any;
}

/* ---- traces by chance ---- */

/* Mostly memory of the thread's own, at the end of which that of the next one begins. */
static void make_own_access(struct dh_step *s, unsigned me)
{
    bool writes = pick(2);
    s->object = 0x1ff0 + (uint64_t)me * 96 + pick(100);
    s->size = pick(30) ? 1u << pick(4) : 8192 + pick(64);
    s->kind = writes ? DH_STEP_WRITE : DH_STEP_READ;
    s->flags = writes ? DH_STEP_WRITES : DH_STEP_READS;
}

static void make_access(struct dh_step *s)
{
    static const uint16_t flags[] = {DH_STEP_READS, DH_STEP_WRITES, DH_STEP_READS | DH_STEP_WRITES};
    unsigned what = pick(12), kind = pick(3);
    s->object = 0x1000 + pick(8 * OBJECTS);
    s->size = 1u << pick(4);
    s->kind = (uint8_t)(DH_STEP_READ + kind);
    s->flags = flags[kind];
    if (what < 5) { /* an atomic: aligned, of eight bytes */
        s->object &= ~(uint64_t)7;
        s->size = 8;
        s->flags |= DH_STEP_ATOMIC;
        s->order = (uint8_t)(DH_ORDER_RELAXED + pick(5));
    } else if (what == 5) {
        s->kind = DH_STEP_COPY;
        s->flags = DH_STEP_WRITES | DH_STEP_RANGE;
        s->second = 0x1000 + pick(8 * OBJECTS);
        s->size = 1 + pick(20);
    } else if (what == 6) {
        s->kind = DH_STEP_FREE;
        s->flags = DH_STEP_WRITES;
        s->size = 1 + pick(30);
    } else if (what == 7) { /* kept as a range */
        s->object -= pick(2) * pick(4000);
        s->size = 8192 + pick(64);
    }
}

static void make_step(struct dh_step *s, unsigned threads, unsigned me, unsigned event, bool calm)
{
    memset(s, 0, sizeof *s);
    s->site = event + 1;
    s->occurrence = event;
    if (calm && pick(8)) {
        make_own_access(s, me);
        return;
    }
    if (pick(2)) {
        make_access(s);
        return;
    }
    static const uint8_t kinds[] = {DH_STEP_LOCK,  DH_STEP_UNLOCK,   DH_STEP_LOCK,     DH_STEP_UNLOCK,  DH_STEP_WAIT,
                                    DH_STEP_WAKE,  DH_STEP_SEM_POST, DH_STEP_SEM_WAIT, DH_STEP_BARRIER, DH_STEP_FENCE,
                                    DH_STEP_FENCE, DH_STEP_JOIN,     DH_STEP_CREATE,   DH_STEP_SIGNAL};
    s->kind = kinds[pick(sizeof kinds)];
    s->object = 0x1000 + 8 * pick(OBJECTS - 1);
    s->second = 0x1000 + 8 * pick(OBJECTS - 1);
    if (s->kind == DH_STEP_LOCK || s->kind == DH_STEP_UNLOCK)
        s->flags = pick(3) ? 0 : DH_STEP_SHARED;
    if (s->kind == DH_STEP_BARRIER) {
        s->object = 0x1000 + 8 * (OBJECTS - 1);
        s->size = 2;
    }
    if (s->kind == DH_STEP_FENCE)
        s->order = (uint8_t)(DH_ORDER_ACQUIRE + pick(4));
    if (s->kind == DH_STEP_JOIN || s->kind == DH_STEP_CREATE)
        s->object = (me + 1 + pick(threads - 1)) % threads;
}

/* What has to be different for a barrier: a thread that waits there does nothing. */
static bool waits(const struct naive *v, unsigned t)
{
    return v->arrived[OBJECTS - 1][t];
}

/* As the engine's hooks do: an invisible access that is known is not checked. */
static bool check_access(struct dh_schedule_races *h, uint32_t t, const struct dh_step *s,
                         struct dh_schedule_race *race, unsigned *skipped)
{
    struct dh_shadow_known *k = dh_schedule_races_known(h);
    struct dh_schedule_access a = {.thread = t,
                                   .site = s->site,
                                   .size = s->size,
                                   .address = s->object,
                                   .flags = (uint8_t)(s->flags & (DH_STEP_WRITES | DH_STEP_ATOMIC)),
                                   .frees = s->kind == DH_STEP_FREE};
    k->self = dh_schedule_races_self(h, t);
    if (s->kind <= DH_STEP_WRITE && dh_shadow_knows(k, s->object, s->size, s->flags & DH_STEP_WRITES)) {
        ++*skipped;
        return false;
    }
    return dh_schedule_access(h, &a, race);
}

static bool is_invisible(const struct dh_step *s)
{
    return is_memory(s) && s->kind != DH_STEP_COPY && !(s->flags & DH_STEP_ATOMIC);
}

static unsigned schedule(struct dh_schedule_races *h, struct naive *v, unsigned threads, unsigned *skipped)
{
    bool calm = pick(2), hides_any = pick(3);
    unsigned last = 0;
    unsigned races = 0;
    memset(v, 0, sizeof *v);
    dh_schedule_races_begin(h);
    for (unsigned i = 0; i < EVENTS; i++) {
        unsigned t = calm && pick(8) ? last : pick(threads);
        struct dh_step s;
        struct dh_schedule_race race;
        bool with = false;
        if (waits(v, t))
            t = (t + 1) % threads;
        last = t;
        make_step(&s, threads, t, i, calm);
        bool hides = hides_any && is_invisible(&s) && pick(8);
        s.site = hides ? 1 + pick(4) : s.site;
        bool found = hides ? check_access(h, t, &s, &race, skipped) : dh_schedule_races_step(h, t, &s, &race);
        if (is_memory(&s)) {
            if (s.flags & DH_STEP_ATOMIC)
                naive_atomic_before(v, t, &s);
            bool expected = naive_races(v, t, &s, found ? race.first.site : 0, &with);
            assert_int_equal(found, expected);
            assert_true(!found || (with && race.second.site == s.site && race.second.thread == t));
            races += found;
        }
        v->event[v->n].thread = t;
        v->event[v->n].step = s;
        v->thread[t].event[v->n++] = true;
        if (is_memory(&s) && s.flags & DH_STEP_ATOMIC)
            naive_atomic_after(v, t, &s);
        else if (!is_memory(&s))
            naive_sync(v, t, &s);
    }
    return races;
}

static void agrees_with_naive(void **state)
{
    static struct naive v;
    struct dh_search search;
    unsigned races = 0, skipped = 0;
    unsigned long n = getenv("SCHEDULES") ? strtoul(getenv("SCHEDULES"), NULL, 0) : 1000;
    (void)state;
    model_search_init(&search, 1);
    struct dh_schedule_races *h = dh_schedule_races_new(&search);
    seed = getenv("SEED") ? strtoul(getenv("SEED"), NULL, 0) : 1;
    for (unsigned long i = 0; i < n; i++) {
        races += schedule(h, &v, pick(20) ? 2 + pick(4) : MANY, &skipped);
    }
    print_message("%lu schedules: %u accesses race, %u are known\n", n, races, skipped);
    assert_true(races > n && skipped > n);
    model_search_release(&search);
}

static void access(struct dh_schedule_races *h, uint32_t thread, uint64_t at, uint32_t size, unsigned flags, bool races)
{
    struct dh_schedule_access a = {
        .thread = thread, .site = thread + 1, .address = at, .size = size, .flags = (uint8_t)flags};
    struct dh_schedule_race race;
    assert_int_equal(dh_schedule_access(h, &a, &race), races);
}

static void memory_that_comes_again_has_no_past(void **state)
{
    struct dh_search search;
    (void)state;
    model_search_init(&search, 1);
    struct dh_schedule_races *h = dh_schedule_races_new(&search);
    dh_schedule_races_begin(h);
    access(h, 0, 0x2003, 30, DH_STEP_WRITES, false);
    dh_schedule_races_forget(h, 0x2004, 16);
    access(h, 1, 0x2004, 16, DH_STEP_WRITES, false);
    access(h, 1, 0x2003, 1, 0, true);
    access(h, 1, 0x2014, 1, 0, true);
    dh_schedule_races_begin(h);
    access(h, 1, 0x2003, 30, DH_STEP_WRITES, false);
    access(h, 1, 0x40001ff8, 16, DH_STEP_WRITES, false);
    dh_schedule_races_forget(h, 0x2010, 0x40000000 - 0x10); /* larger than what is known of */
    access(h, 0, 0x200f, 1, 0, true);
    access(h, 0, 0x2010, 8, DH_STEP_WRITES, false);
    access(h, 0, 0x40001ff8, 8, DH_STEP_WRITES, false);
    access(h, 0, 0x40002000, 8, 0, true);
    model_search_release(&search);
}

static void ranges_have_a_past(void **state)
{
    enum { LONG = 1 << 20 };
    struct dh_search search;
    (void)state;
    model_search_init(&search, 1);
    struct dh_schedule_races *h = dh_schedule_races_new(&search);
    dh_schedule_races_begin(h);
    access(h, 0, 0x100003, LONG, DH_STEP_WRITES, false);
    access(h, 1, 0x100002, 1, 0, false);
    access(h, 1, 0x100003, 1, 0, true);
    access(h, 1, 0x100003 + LONG - 1, 1, 0, true);
    access(h, 1, 0x100003 + LONG, 1, 0, false);
    dh_schedule_races_forget(h, 0x110000, 0x1000);
    access(h, 1, 0x110800, 8, DH_STEP_WRITES, false);
    access(h, 1, 0x10fff8, 8, DH_STEP_WRITES, true);
    access(h, 1, 0x111000, 8, DH_STEP_WRITES, true);
    dh_schedule_races_begin(h);
    access(h, 1, 0x140000, 4, DH_STEP_WRITES, false);
    access(h, 0, 0x100000, LONG, 0, true);
    for (unsigned i = 0; i < 200; i++) /* more than are kept as a whole */
        access(h, 2, 0x1000000 + i * 0x10000, 0x8000, DH_STEP_WRITES, false);
    for (unsigned i = 0; i < 200; i++)
        access(h, 3, 0x1000000 + i * 0x10000 + 0x4000, 8, 0, true);
    model_search_release(&search);
}

/* A thousand threads write beside each other, then all read one byte that one of them wrote. */
static void many_threads(void **state)
{
    struct dh_search search;
    (void)state;
    model_search_init(&search, 1);
    struct dh_schedule_races *h = dh_schedule_races_new(&search);
    for (unsigned round = 0; round < 3; round++) {
        dh_schedule_races_begin(h);
        for (uint32_t t = 0; t < 1024; t++)
            access(h, t, 0x4000 + t, 1, DH_STEP_WRITES, false);
        for (uint32_t t = 0; t < 1024; t++)
            access(h, t, 0x4007, 1, 0, t != 7);
    }
    model_search_release(&search);
}

static void a_pair_of_sites_is_new_once(void **state)
{
    struct dh_search search;
    struct dh_schedule_race race;
    (void)state;
    model_search_init(&search, 1);
    struct dh_schedule_races *h = dh_schedule_races_new(&search);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t site = 0; site < 1000; site++) {
            dh_schedule_races_begin(h);
            struct dh_schedule_access a = {
                .thread = 0, .site = site, .address = 0x4000, .size = 4, .flags = DH_STEP_WRITES};
            struct dh_schedule_access b = {.thread = 1, .site = 2000, .address = 0x4002, .size = 4};
            assert_false(dh_schedule_access(h, &a, &race));
            assert_true(dh_schedule_access(h, &b, &race));
            assert_int_equal(race.is_new, round == 0);
            assert_int_equal(race.first.address, 0x4000);
            assert_int_equal(race.first.size, 4);
        }
    model_search_release(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_naive),           cmocka_unit_test(memory_that_comes_again_has_no_past),
        cmocka_unit_test(ranges_have_a_past),          cmocka_unit_test(many_threads),
        cmocka_unit_test(a_pair_of_sites_is_new_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
