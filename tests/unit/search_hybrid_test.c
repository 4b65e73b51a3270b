/* Pairs of accesses that only locks put in order and none protects, against a naive reading of the definition: for
 * every event the set of those that come before it, with and without the order of locks. What is reported is such a
 * pair; where the latest access to a variable and the next one are such a pair, something is reported. */
#include "event/site.h"
#include "search/schedule_races.h"
#include "search_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 160, THREADS = 4, LOCKS = 3, VARIABLES = 4, SEMAPHORES = 2, TRACES = 4000 };

static uint64_t seed = 7;
static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* ---- naive ---- */

struct past {
    bool event[EVENTS];
};

struct order {
    struct past thread[THREADS], lock[LOCKS], semaphore[SEMAPHORES];
    struct past at[EVENTS]; /* of each event */
};

struct naive {
    struct order all, unlocked;
    struct {
        unsigned thread, variable;
        bool writes;
        unsigned locks; /* held, a bit each */
    } access[EVENTS];
    unsigned held[THREADS];
};

static void learn(struct past *to, const struct past *from)
{
    for (unsigned i = 0; i < EVENTS; i++)
        to->event[i] |= from->event[i];
}

static bool is_candidate(const struct naive *n, unsigned i, unsigned k)
{
    unsigned a = n->access[i].locks, b = n->access[k].locks;
    return n->access[i].thread != n->access[k].thread && n->access[i].variable == n->access[k].variable &&
           (n->access[i].writes || n->access[k].writes) && n->all.at[k].event[i] && !n->unlocked.at[k].event[i] &&
           !(a & b) && (a | b);
}

/* ---- traces ---- */

#define VARIABLE_AT(i) (0x10000u + 8 * (i))
#define LOCK_AT(i) (0x20000u + 64 * (i))
#define SEMAPHORE_AT(i) (0x30000u + 64 * (i))

struct trace {
    struct dh_schedule_races *h;
    struct naive *n;
    unsigned last[VARIABLES]; /* latest access, + 1 */
    unsigned expected, reported;
};

static void execute(struct trace *t, unsigned event, unsigned thread, struct dh_step s)
{
    struct dh_schedule_race race;
    s.site = event;
    dh_schedule_races_step(t->h, thread, &s, &race);
    t->n->all.thread[thread].event[event] = t->n->unlocked.thread[thread].event[event] = true;
}

static void toggle_lock(struct trace *t, unsigned event, unsigned thread)
{
    struct naive *n = t->n;
    unsigned lock = pick(LOCKS), others = 0;
    for (unsigned i = 0; i < THREADS; i++)
        others |= i == thread ? 0 : n->held[i];
    if (others & 1u << lock)
        return;
    bool releases = n->held[thread] & 1u << lock;
    execute(t, event, thread,
            (struct dh_step){.kind = releases ? DH_STEP_UNLOCK : DH_STEP_LOCK, .object = LOCK_AT(lock)});
    n->held[thread] ^= 1u << lock;
    if (releases)
        learn(&n->all.lock[lock], &n->all.thread[thread]);
    else
        learn(&n->all.thread[thread], &n->all.lock[lock]);
}

static void post_or_wait(struct trace *t, unsigned event, unsigned thread)
{
    unsigned semaphore = pick(SEMAPHORES);
    bool posts = pick(2);
    struct order *orders[] = {&t->n->all, &t->n->unlocked};
    execute(t, event, thread,
            (struct dh_step){.kind = posts ? DH_STEP_SEM_POST : DH_STEP_SEM_WAIT, .object = SEMAPHORE_AT(semaphore)});
    for (unsigned i = 0; i < 2; i++)
        if (posts)
            learn(&orders[i]->semaphore[semaphore], &orders[i]->thread[thread]);
        else
            learn(&orders[i]->thread[thread], &orders[i]->semaphore[semaphore]);
}

static void access(struct trace *t, unsigned event, unsigned thread)
{
    struct naive *n = t->n;
    unsigned variable = pick(VARIABLES), last = t->last[variable];
    bool writes = pick(2);
    uint32_t sites[2];
    n->access[event].thread = thread;
    n->access[event].variable = variable;
    n->access[event].writes = writes;
    n->access[event].locks = n->held[thread];
    n->all.at[event] = n->all.thread[thread];
    n->unlocked.at[event] = n->unlocked.thread[thread];
    execute(t, event, thread,
            (struct dh_step){.kind = writes ? DH_STEP_WRITE : DH_STEP_READ,
                             .flags = writes ? DH_STEP_WRITES : DH_STEP_READS,
                             .object = VARIABLE_AT(variable),
                             .size = 8});
    bool reported = dh_schedule_races_take_unprotected(t->h, sites);
    bool expected = last && is_candidate(n, last - 1, event);
    assert_true(!reported || (sites[1] == event && is_candidate(n, sites[0], event)));
    assert_true(!expected || reported);
    t->reported += reported;
    t->expected += expected;
    t->last[variable] = event + 1;
}

static void make_trace(struct trace *t)
{
    typedef void make(struct trace *, unsigned, unsigned);
    static make *const kinds[] = {toggle_lock, toggle_lock, toggle_lock, access, access, access, access, post_or_wait};
    memset(t->n, 0, sizeof *t->n);
    memset(t->last, 0, sizeof t->last);
    dh_schedule_races_begin(t->h);
    for (unsigned i = 1; i < THREADS; i++) {
        execute(t, i - 1, 0, (struct dh_step){.kind = DH_STEP_CREATE, .object = i});
        learn(&t->n->all.thread[i], &t->n->all.thread[0]);
        learn(&t->n->unlocked.thread[i], &t->n->unlocked.thread[0]);
    }
    for (unsigned i = 1; i < THREADS; i++)
        execute(t, THREADS - 2 + i, i, (struct dh_step){.kind = DH_STEP_BEGIN, .object = i});
    for (unsigned event = 2 * THREADS; event < EVENTS; event++)
        kinds[pick(sizeof kinds / sizeof *kinds)](t, event, pick(THREADS));
}

static void agrees_with_naive(void **state)
{
    struct dh_search search;
    struct trace t = {.n = calloc(1, sizeof *t.n)};
    (void)state;
    model_search_init(&search, 1);
    t.h = dh_schedule_races_new(&search);
    assert_true(dh_schedule_races_want_unprotected(t.h));
    for (unsigned i = 0; i < TRACES; i++)
        make_trace(&t);
    print_message("%u traces, %u such pairs, %u reported\n", (unsigned)TRACES, t.expected, t.reported);
    assert_true(t.expected > TRACES / 8 && t.reported > TRACES);
    free(t.n);
    model_search_release(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_naive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
