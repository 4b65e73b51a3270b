/* A parallel quicksort: workers share a stack of segments under the pool's lock. A worker that starts reads under that
 * lock how many have already finished, to size its pieces; a worker that ends counts itself under the report's lock.
 * Two locks, one variable: the accesses meet only if a worker starts when another one has found the pool empty, and all
 * the locking of the pool in between orders them in any other run. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct segment {
    int from, to; /* to is outside */
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct segment *stack;
    int top;
    int busy; /* workers that may still push */
};

struct worker {
    pthread_t thread;
    int cutoff; /* shorter pieces are not worth sharing */
    long swaps;
};

static int *array;
static int n = 20000;
static int n_workers = 2;
static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static int finished_workers;
static long total_swaps;

/* ---- pool ---- */

static void push(struct segment s)
{
    pthread_mutex_lock(&pool.lock);
    pool.stack[pool.top++] = s;
    pthread_cond_signal(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

static bool take(struct segment *s)
{
    pthread_mutex_lock(&pool.lock);
    while (pool.top == 0 && pool.busy > 0)
        pthread_cond_wait(&pool.changed, &pool.lock);
    bool found = pool.top > 0;
    if (found) {
        *s = pool.stack[--pool.top];
        pool.busy++;
    }
    pthread_mutex_unlock(&pool.lock);
    return found;
}

static void done(void)
{
    pthread_mutex_lock(&pool.lock);
    if (--pool.busy == 0)
        pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

/* ---- sorting ---- */

static void swap(struct worker *w, int i, int j)
{
    int t = array[i];
    array[i] = array[j];
    array[j] = t;
    w->swaps++;
}

/* Elements before the result are smaller than those from it on; both parts are shorter than s. */
static int partition(struct worker *w, struct segment s)
{
    int pivot = array[s.from + (s.to - s.from - 1) / 2], i = s.from - 1, j = s.to;
    for (;;) {
        do
            i++;
        while (array[i] < pivot);
        do
            j--;
        while (array[j] > pivot);
        if (i >= j)
            return j + 1;
        swap(w, i, j);
    }
}

static void sort(struct worker *w, struct segment s)
{
    while (s.to - s.from > 1) {
        int middle = partition(w, s);
        struct segment low = {s.from, middle}, high = {middle, s.to};
        if (low.to - low.from > w->cutoff)
            push(low);
        else
            sort(w, low);
        s = high;
    }
}

/* ---- workers ---- */

static void start(struct worker *w)
{
    pthread_mutex_lock(&pool.lock);
#ifdef FIXED
    pthread_mutex_lock(&report_lock);
#endif
    int active = n_workers - finished_workers;
#ifdef FIXED
    pthread_mutex_unlock(&report_lock);
#endif
    w->cutoff = n / (32 * active);
    pthread_mutex_unlock(&pool.lock);
}

static void finish(struct worker *w)
{
    pthread_mutex_lock(&report_lock);
    finished_workers++;
    total_swaps += w->swaps;
    pthread_mutex_unlock(&report_lock);
}

static void *worker(void *arg)
{
    struct worker *w = arg;
    struct segment s;
    start(w);
    while (take(&s)) {
        sort(w, s);
        done();
    }
    finish(w);
    return NULL;
}

static long fill(void)
{
    unsigned seed = 11;
    long sum = 0;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        array[i] = (int)(seed >> 4);
        sum += array[i];
    }
    return sum;
}

static int check(long sum)
{
    for (int i = 0; i < n; i++) {
        sum -= array[i];
        if (i > 0 && array[i - 1] > array[i]) {
            printf("FAILED: elements %d and %d are in the wrong order\n", i - 1, i);
            return 1;
        }
    }
    if (sum != 0 || finished_workers != n_workers) {
        puts("FAILED: elements or workers got lost");
        return 1;
    }
    printf("%ld swaps\nok\n", total_swaps);
    return 0;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t workers] [-n elements]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:h")) != -1) {
        if (c == 't')
            n_workers = atoi(optarg);
        else if (c == 'n')
            n = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_workers < 1 || n < 1)
        return usage(argv[0], 2);

    array = malloc((size_t)n * sizeof *array);
    pool.stack = malloc(((size_t)n + 1) * sizeof *pool.stack);
    struct worker *workers = calloc((size_t)n_workers, sizeof *workers);
    long sum = fill();
    push((struct segment){0, n});
    for (int i = 0; i < n_workers; i++)
        pthread_create(&workers[i].thread, NULL, worker, &workers[i]);
    for (int i = 0; i < n_workers; i++)
        pthread_join(workers[i].thread, NULL);
    int result = check(sum);
    free(workers);
    free(pool.stack);
    free(array);
    return result;
}
