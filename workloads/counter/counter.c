/* Doubling counters after von Praun, Program 5.4 ("example of underreporting").
 * inc() is synchronised and the only way to the value, so there is no data race, and method consistency sees a single
 * lock view. Yet doubling = inc(0), then inc(what was read) takes two critical sections: a doubling made by another
 * thread in between is lost. After T threads each counter must have grown from 1 to 2^T. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_DOUBLERS 40
#define COUNTERS 1024

struct counter {
    pthread_mutex_t lock; /* recursive, as a Java monitor is */
    long val;
};

static struct counter *ctr;

static long counter_inc(struct counter *c, long a)
{
    pthread_mutex_lock(&c->lock);
    c->val = c->val + a;
    long now = c->val;
    pthread_mutex_unlock(&c->lock);
    return now;
}

static void double_it(struct counter *c)
{
#ifdef FIXED
    pthread_mutex_lock(&c->lock);
#endif
    long i = counter_inc(c, 0);
    counter_inc(c, i);
#ifdef FIXED
    pthread_mutex_unlock(&c->lock);
#endif
}

static void *doubler_run(void *arg)
{
    (void)arg;
    for (int i = 0; i < COUNTERS; i++)
        double_it(&ctr[i]);
    return NULL;
}

static void create_counters(void)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    ctr = calloc(COUNTERS, sizeof *ctr);
    if (!ctr)
        exit(2);
    for (int i = 0; i < COUNTERS; i++)
        pthread_mutex_init(&ctr[i].lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

static void destroy_counters(void)
{
    for (int i = 0; i < COUNTERS; i++)
        pthread_mutex_destroy(&ctr[i].lock);
    free(ctr);
}

/* One run of the program as printed; returns the number of counters that lost a doubling. */
static int run_once(int doublers)
{
    pthread_t threads[MAX_DOUBLERS];
    int lost = 0;
    for (int i = 0; i < COUNTERS; i++)
        ctr[i].val = 1;
    for (int t = 0; t < doublers; t++)
        if (pthread_create(&threads[t], NULL, doubler_run, NULL))
            exit(2);
    for (int t = 0; t < doublers; t++)
        pthread_join(threads[t], NULL);
    for (int i = 0; i < COUNTERS; i++)
        lost += ctr[i].val != 1L << doublers;
    return lost;
}

int main(int argc, char **argv)
{
    int doublers = 2, option;
    long rounds = 10, lost = 0;
    while ((option = getopt(argc, argv, "t:n:h")) != -1) {
        if (option == 't')
            doublers = atoi(optarg);
        else if (option == 'n')
            rounds = atol(optarg);
        else {
            printf("usage: counter [-t doublers (1..%d)] [-n rounds over %d counters]\n", MAX_DOUBLERS, COUNTERS);
            return option == 'h' ? 0 : 2;
        }
    }
    if (doublers < 1 || doublers > MAX_DOUBLERS || rounds < 0)
        return fprintf(stderr, "counter: bad number of doublers or rounds\n"), 2;
    create_counters();
    for (long r = 0; r < rounds; r++)
        lost += run_once(doublers);
    destroy_counters();
    if (lost)
        printf("FAILED: %ld of %ld counters lost a doubling\n", lost, rounds * COUNTERS);
    else
        printf("ok\n");
    return lost != 0;
}
