/* Finds all primes up to a limit: workers take intervals under one lock and append what they find to a common list
 * under another. How much fits into the list is changed by the worker that makes it grow, under the list's lock, and
 * looked at by a worker that takes an interval, under the other one. Growing is rare, and appending to the list orders
 * the two accesses unless the list grows between a worker's look and its first prime. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { START_CAPACITY = 8192, SHORT = 4096, LONG = 16384 };

struct interval {
    int from, to; /* to is outside */
};

struct worker {
    pthread_t thread;
    long tested;
};

static int limit = 400000;
static int n_workers = 2;

static pthread_mutex_t range_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_number = 2;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static int *primes;
static int n_primes;
static int capacity;

static bool take_interval(struct interval *v)
{
    bool more = false;
    pthread_mutex_lock(&range_lock);
#ifdef FIXED
    pthread_mutex_lock(&list_lock);
#endif
    /* The first numbers are full of primes: share them in small pieces. */
    int width = capacity > START_CAPACITY ? LONG : SHORT;
#ifdef FIXED
    pthread_mutex_unlock(&list_lock);
#endif
    if (next_number <= limit) {
        v->from = next_number;
        v->to = v->from + width <= limit ? v->from + width : limit + 1;
        next_number = v->to;
        more = true;
    }
    pthread_mutex_unlock(&range_lock);
    return more;
}

static void grow_locked(void)
{
    capacity *= 2;
    primes = realloc(primes, (size_t)capacity * sizeof *primes);
    if (!primes)
        abort();
}

static void add_prime(int p)
{
    pthread_mutex_lock(&list_lock);
    if (n_primes == capacity)
        grow_locked();
    primes[n_primes++] = p;
    pthread_mutex_unlock(&list_lock);
}

static bool is_prime(int k)
{
    if (k % 2 == 0)
        return k == 2;
    for (int d = 3; d <= k / d; d += 2) {
        if (k % d == 0)
            return false;
    }
    return true;
}

static void *worker(void *arg)
{
    struct worker *w = arg;
    struct interval v;
    while (take_interval(&v)) {
        for (int k = v.from; k < v.to; k++) {
            w->tested++;
            if (is_prime(k))
                add_prime(k);
        }
    }
    return NULL;
}

/* The sieve's count and sum must be the list's. */
static int check(void)
{
    bool *composite = calloc((size_t)limit + 1, sizeof *composite);
    int count = 0;
    long sum = 0;
    for (long p = 2; p <= limit; p++) {
        if (composite[p])
            continue;
        count++;
        sum += p;
        for (long m = p * p; m <= limit; m += p)
            composite[m] = true;
    }
    free(composite);
    for (int i = 0; i < n_primes; i++)
        sum -= primes[i];
    if (count != n_primes || sum != 0) {
        printf("FAILED: %d primes found, there are %d\n", n_primes, count);
        return 1;
    }
    printf("%d primes\nok\n", n_primes);
    return 0;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t workers] [-n limit]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:h")) != -1) {
        if (c == 't')
            n_workers = atoi(optarg);
        else if (c == 'n')
            limit = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_workers < 1 || limit < 2)
        return usage(argv[0], 2);

    struct worker *workers = calloc((size_t)n_workers, sizeof *workers);
    capacity = START_CAPACITY;
    primes = malloc((size_t)capacity * sizeof *primes);
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i].thread, NULL, worker, &workers[i]);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i].thread, NULL);
    int result = check();
    free(primes);
    free(workers);
    return result;
}
