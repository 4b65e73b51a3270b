/* LU factorisation with partial pivoting and the solution of one linear system, after lufact of the Java Grande suite
 * (Linpack's dgefa and dgesl, by columns).
 *
 * For every column k the first eliminator finds the pivot, swaps and scales the column; all eliminators then subtract
 * it from the columns they own (dealt out in turn). Two barriers per column keep the phases apart.
 *
 * The barrier is the suite's tournament: in each round half of those left raise their flag and leave, the other half
 * waits for its partner's flag; the champion, thread 0, raises its own flag for all. Flags are turned over at every
 * meeting. They are volatile, which orders nothing: a flag read stale looks like the one of the next meeting but one.
 */
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 64
#define BUSY_SPINS 2000 /* before giving the processor away, as the suite's barrier does */

#ifdef FIXED
#define FLAG _Atomic bool
#else
#define FLAG volatile bool
#endif

static struct {
    int threads, size;
    uint64_t seed;
} opt = {.threads = 2, .size = 120, .seed = 1325};

static double **columns; /* columns[j][i] is the element in row i, column j */
static int *pivots;

static struct {
    FLAG done;
    char line[63];
} arrived[MAX_THREADS];

static void wait_until(int who, bool done)
{
    for (int spins = 1; arrived[who].done != done; spins++)
        if (spins % BUSY_SPINS == 0)
            sched_yield();
}

static void tournament(int id)
{
    bool done = !arrived[id].done;
    for (int step = 1; step < opt.threads && (id & step) == 0; step <<= 1)
        if (id + step < opt.threads)
            wait_until(id + step, done);
    arrived[id].done = done;
    if (id != 0)
        wait_until(0, done);
}

static double random_signed(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

static double **new_matrix(int n, uint64_t seed)
{
    double **a = malloc((size_t)n * sizeof *a);
    for (int j = 0; j < n; j++) {
        a[j] = malloc((size_t)n * sizeof *a[j]);
        for (int i = 0; i < n; i++)
            a[j][i] = random_signed(&seed);
    }
    return a;
}

static void free_matrix(double **a, int n)
{
    for (int j = 0; j < n; j++)
        free(a[j]);
    free(a);
}

static int find_pivot(const double *col, int k, int n)
{
    int best = k;
    for (int i = k + 1; i < n; i++)
        if (fabs(col[i]) > fabs(col[best]))
            best = i;
    return best;
}

static void swap_rows(double *col, int k, int l)
{
    double t = col[l];
    col[l] = col[k];
    col[k] = t;
}

/* Thread 0 alone: the multipliers of column k, as dgefa stores them (negated). */
static void eliminate_column(int k, int n)
{
    double *col = columns[k];
    int l = find_pivot(col, k, n);
    pivots[k] = l;
    swap_rows(col, k, l);
    double scale = -1.0 / col[k];
    for (int i = k + 1; i < n; i++)
        col[i] *= scale;
}

static void add_multiple(double *col, const double *other, double factor, int from, int to)
{
    for (int i = from; i < to; i++)
        col[i] += factor * other[i];
}

static void update_own_columns(int id, int k, int n)
{
    const double *multipliers = columns[k];
    int l = pivots[k];
    for (int j = k + 1; j < n; j++)
        if (j % opt.threads == id) {
            swap_rows(columns[j], k, l);
            add_multiple(columns[j], multipliers, columns[j][k], k + 1, n);
        }
}

static void *eliminator(void *arg)
{
    int id = (int)(intptr_t)arg, n = opt.size;
    for (int k = 0; k < n - 1; k++) {
        if (id == 0)
            eliminate_column(k, n);
        tournament(id);
        update_own_columns(id, k, n);
        tournament(id);
    }
    return NULL;
}

static void run_eliminators(void)
{
    pthread_t eliminators[MAX_THREADS];
    for (int id = 0; id < opt.threads; id++)
        pthread_create(&eliminators[id], NULL, eliminator, (void *)(intptr_t)id);
    for (int id = 0; id < opt.threads; id++)
        pthread_join(eliminators[id], NULL);
}

static void solve(double *x, int n)
{
    for (int k = 0; k < n - 1; k++) {
        swap_rows(x, k, pivots[k]);
        add_multiple(x, columns[k], x[k], k + 1, n);
    }
    for (int k = n - 1; k >= 0; k--) {
        x[k] /= columns[k][k];
        add_multiple(x, columns[k], -x[k], 0, k);
    }
}

/* The right side makes every unknown 1. */
static void fill_right_side(double *b, double **a, int n)
{
    for (int i = 0; i < n; i++)
        b[i] = 0;
    for (int j = 0; j < n; j++)
        add_multiple(b, a[j], 1.0, 0, n);
}

/* Linpack's figure: the residual in units of what rounding alone may leave; a few tens are normal. */
static double normalised_residual(double **a, const double *x, const double *b, int n)
{
    double *r = malloc((size_t)n * sizeof *r), worst = 0, norm_a = 0, norm_x = 0;
    for (int i = 0; i < n; i++)
        r[i] = -b[i];
    for (int j = 0; j < n; j++)
        add_multiple(r, a[j], x[j], 0, n);
    for (int i = 0; i < n; i++) {
        worst = fmax(worst, isnan(r[i]) ? INFINITY : fabs(r[i]));
        norm_x = fmax(norm_x, fabs(x[i]));
        for (int j = 0; j < n; j++)
            norm_a = fmax(norm_a, fabs(a[j][i]));
    }
    free(r);
    return worst / (n * norm_a * norm_x * 0x1p-52);
}

static int check(void)
{
    int n = opt.size;
    double **a = new_matrix(n, opt.seed);
    double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
    fill_right_side(b, a, n);
    for (int i = 0; i < n; i++)
        x[i] = b[i];
    solve(x, n);
    double residual = normalised_residual(a, x, b, n);
    free(x);
    free(b);
    free_matrix(a, n);
    if (residual < 100.0) {
        puts("ok");
        return 0;
    }
    printf("FAILED: normalised residual %g\n", residual);
    return 1;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "lufact: '%s' is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "t:n:s:h")) != -1;) {
        if (c == 't')
            opt.threads = number(optarg, 1, MAX_THREADS);
        else if (c == 'n')
            opt.size = number(optarg, 2, 10000);
        else if (c == 's')
            opt.seed = (uint64_t)number(optarg, 0, INT32_MAX);
        else {
            fputs("usage: lufact [-t threads] [-n matrix size] [-s seed]\n", c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    columns = new_matrix(opt.size, opt.seed);
    pivots = calloc((size_t)opt.size, sizeof *pivots);
    run_eliminators();
    int failed = check();
    free(pivots);
    free_matrix(columns, opt.size);
    return failed;
}
