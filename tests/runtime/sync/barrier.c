/* Barriers: arrivals come before departures of the same round. Broken: the write is on the wrong side. */
#include "pair.h"

static pthread_barrier_t b;

static void make(unsigned n)
{
    CHECK(pthread_barrier_init(&b, NULL, n) == 0);
}
static void make_for_two(void)
{
    make(2);
}

static void meet(void)
{
    int result = pthread_barrier_wait(&b);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void arrive(int o)
{
    (void)o;
    if (broken)
        meet();
    guarded++;
    if (!broken)
        meet();
}
static void depart(int o)
{
    (void)o;
    meet();
    guarded++;
}

/* Later rounds order as well, whoever was late in earlier ones. */
static void arrive_late(int o)
{
    for (int i = 0; i < 1000; i++)
        meet();
    arrive(o);
}
static void depart_late(int o)
{
    for (int i = 0; i < 1000; i++)
        meet();
    depart(o);
}

/* Taking turns: each round hands over. Broken: every other round is left out. */
static void take_turns(int parity)
{
    for (int i = 0; i < 200; i++) {
        if (i % 2 == parity)
            guarded++;
        if (!broken)
            meet();
    }
}
static void even(int o)
{
    (void)o;
    take_turns(0);
}
static void odd(int o)
{
    (void)o;
    take_turns(1);
}

/* Made anew at the same place while the other may still be on its way out. */
static int rounds_made[2];
static void anew(int self)
{
    for (int i = 0; i < 300; i++) {
        meet();
        if (self == 0) {
            CHECK(pthread_barrier_destroy(&b) == 0);
            make(2);
            __atomic_store_n(&rounds_made[0], i + 1, __ATOMIC_RELAXED);
        } else {
            while (__atomic_load_n(&rounds_made[0], __ATOMIC_RELAXED) <= i)
                ;
        }
    }
}
static void arrive_anew(int o)
{
    anew(0);
    arrive(o);
}
static void depart_anew(int o)
{
    anew(1);
    depart(o);
}

/* More threads than the barrier counts: rounds are made up of whoever comes. */
static pthread_t crowd[5];
static int sum[6], arrivals;
static void *be_in_crowd(void *where)
{
    while (__atomic_fetch_add(&arrivals, 1, __ATOMIC_RELAXED) < 1800) {
        ++*(int *)where;
        meet();
    }
    return NULL;
}
static void lead_crowd(int o)
{
    for (int i = 0; i < 5; i++)
        CHECK(pthread_create(&crowd[i], NULL, be_in_crowd, &sum[i]) == 0);
    be_in_crowd(&sum[5]);
    for (int i = 0; i < 5; i++)
        CHECK(pthread_join(crowd[i], NULL) == 0);
    make_for_two();
    invisible_say(STEP);
    arrive(o);
}
static void follow_crowd(int o)
{
    invisible_await(STEP);
    depart(o);
}

static const struct pair pairs[] = {
    {"round", make_for_two, arrive, depart, TOGETHER},
    {"later-round", make_for_two, arrive_late, depart_late, TOGETHER},
    {"turns", make_for_two, even, odd, TOGETHER},
    {"anew", make_for_two, arrive_anew, depart_anew, TOGETHER},
    {"crowded", make_for_two, lead_crowd, follow_crowd, TOGETHER},
};
PAIRS_MAIN(pairs)
