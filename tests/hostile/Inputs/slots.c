/* More threads than the detector has names for, and more releases than it has clocks for. `wrap`: few threads that
 * order each other in every way, for long. `live`: a thousand at once. Racy: one order is left out. */
#include "order.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 4, ROUNDS = 3000, EVERY = 100, MANY = 1000, TIMES = 4, SHARED = 16 };

static int racy;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, locks[SHARED];
static pthread_rwlock_t many_readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t together;
static int under_lock, under_rwlock, turn, unguarded, shared[SHARED];
static int own[MANY];

/* ---- few threads, many releases ---- */

static struct mail {
    _Atomic int full;
    int letter;
} mail[FEW];

static void send(int to, int letter)
{
    while (atomic_load_explicit(&mail[to].full, memory_order_acquire))
        sched_yield();
    mail[to].letter = letter;
    atomic_store_explicit(&mail[to].full, 1, memory_order_release);
}

static int receive(int me)
{
    while (!atomic_load_explicit(&mail[me].full, memory_order_acquire))
        sched_yield();
    int letter = mail[me].letter;
    atomic_store_explicit(&mail[me].full, 0, memory_order_release);
    return letter;
}

static void *helper(void *arg)
{
    int *given = arg;
    ++*given;
    return arg;
}

static void let_help(int round)
{
    pthread_t t;
    int *given = malloc(sizeof *given);
    *given = round;
    pthread_create(&t, NULL, helper, given);
    pthread_join(t, NULL);
    if (*given != round + 1)
        abort();
    free(given);
}

static void take_turn(int me)
{
    pthread_mutex_lock(&lock);
    while (turn != me)
        pthread_cond_wait(&changed, &lock);
    turn = (me + 1) % FEW;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void one_round(int me, int round)
{
    pthread_mutex_lock(&lock);
    under_lock++;
    pthread_mutex_unlock(&lock);
    send((me + 1) % FEW, round);
    if (receive(me) != round)
        abort();
    pthread_rwlock_rdlock(&many_readers);
    int seen = under_rwlock;
    pthread_rwlock_unlock(&many_readers);
    if (seen > (round + FEW + 1) * FEW) /* each waits for its neighbour only: some are ahead */
        abort();
    pthread_rwlock_wrlock(&many_readers);
    under_rwlock++;
    pthread_rwlock_unlock(&many_readers);
    if (round % EVERY == 0) {
        own[me] = round;
        pthread_barrier_wait(&together);
        if (own[(me + 1) % FEW] != round)
            abort();
        pthread_barrier_wait(&together);
        take_turn(me);
        let_help(round);
    }
    if (racy && round % 16 == 5 && me < 2)
        unguarded++;
}

static void *one_of_few(void *arg)
{
    for (int round = 0; round < ROUNDS; round++)
        one_round((int)(long)arg, round);
    return arg;
}

/* ---- a thousand ---- */

static void *one_of_many(void *arg)
{
    long me = (long)arg;
    for (int time = 1; time <= TIMES; time++) {
        for (int i = 0; i < SHARED; i++) {
            int k = (int)(me + i) % SHARED;
            pthread_mutex_lock(&locks[k]);
            shared[k]++;
            pthread_mutex_unlock(&locks[k]);
        }
        own[me] = time;
        if (!racy)
            pthread_barrier_wait(&together);
        if (own[(me + 1) % MANY] != time && !racy)
            abort();
        pthread_barrier_wait(&together);
    }
    return arg;
}

static void run(void *(*routine)(void *), int n)
{
    static pthread_t t[MANY];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    pthread_barrier_init(&together, NULL, (unsigned)n);
    for (int i = 0; i < SHARED; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (long i = 0; i < n; i++)
        if (pthread_create(&t[i], &attr, routine, (void *)i) != 0)
            abort();
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

int main(int argc, char **argv)
{
    racy = argc > 2;
    if (strcmp(argv[1], "wrap") == 0)
        run(one_of_few, FEW);
    else
        run(one_of_many, MANY);
    long sum = under_lock + under_rwlock;
    for (int i = 0; i < SHARED; i++)
        sum += shared[i];
    printf("sum %ld\n", sum);
    return 0;
}
