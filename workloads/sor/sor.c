/* Successive over-relaxation of a square grid, after the SOR kernel of the Java Grande suite and ETH's sor.
 *
 * Rows are coloured odd and even. Each relaxer owns a block of consecutive rows and sweeps the rows of one colour,
 * which depend only on rows of the other colour; then all meet at a barrier and sweep the other colour. Neighbours
 * therefore share exactly the two rows at the seam of their blocks.
 *
 * Variant a meets at a pthread barrier. Variant b is the suite's own barrier: each relaxer counts the sweeps it has
 * finished and spins until its neighbours have counted as far. The counters are volatile, which orders nothing, so the
 * seam rows may be read stale. */
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define BUSY_SPINS 2000 /* before giving the processor away, so that more relaxers than processors still finish */
#define OMEGA 1.25

#ifdef FIXED
#define COUNTER _Atomic long
#else
#define COUNTER volatile long
#endif

static struct {
    int threads, size, iterations;
    uint64_t seed;
    bool counters; /* variant b */
} opt = {.threads = 2, .size = 200, .iterations = 20, .seed = 10101};

/* What a sequential run gives for the sizes that are too long to solve twice. */
static const struct {
    int size, iterations;
    uint64_t seed;
    double sum;
} known_sums[] = {
    {700, 220, 10101, 0.24388602907796186},
    {1000, 220, 10101, 0.49776842403330257},
    {1400, 220, 10101, 0.97668756164860626},
};

static double **grid;
static pthread_barrier_t sweep_barrier;
static COUNTER sweeps_done[MAX_THREADS][8]; /* one cache line each, only [0] is used */

static double random_unit(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static double **new_grid(int size, uint64_t seed)
{
    double **rows = malloc((size_t)size * sizeof *rows);
    for (int i = 0; i < size; i++) {
        rows[i] = malloc((size_t)size * sizeof *rows[i]);
        for (int j = 0; j < size; j++)
            rows[i][j] = random_unit(&seed) * 1e-6;
    }
    return rows;
}

static void free_grid(double **rows, int size)
{
    for (int i = 0; i < size; i++)
        free(rows[i]);
    free(rows);
}

static double sum_of(double **rows, int size)
{
    double sum = 0;
    for (int i = 1; i < size - 1; i++)
        for (int j = 1; j < size - 1; j++)
            sum += rows[i][j];
    return sum;
}

static void relax_row(double *row, const double *above, const double *below, int size)
{
    const double omega_over_four = OMEGA * 0.25, one_minus_omega = 1.0 - OMEGA;
    for (int j = 1; j < size - 1; j++) {
        double around = above[j] + below[j] + row[j - 1] + row[j + 1];
        row[j] = omega_over_four * around + one_minus_omega * row[j];
    }
}

static void sweep(double **rows, int low, int high, int colour, int size)
{
    for (int i = low + ((low ^ colour) & 1); i < high; i += 2)
        relax_row(rows[i], rows[i - 1], rows[i + 1], size);
}

static void wait_for(int neighbour, long sweeps)
{
    for (int spins = 1; sweeps_done[neighbour][0] < sweeps; spins++)
        if (spins % BUSY_SPINS == 0)
            sched_yield();
}

static void meet_neighbours(int id)
{
    long mine = sweeps_done[id][0] + 1;
    sweeps_done[id][0] = mine;
    if (id > 0)
        wait_for(id - 1, mine);
    if (id < opt.threads - 1)
        wait_for(id + 1, mine);
}

static void *relaxer(void *arg)
{
    int id = (int)(intptr_t)arg, inner = opt.size - 2;
    int low = 1 + (int)((long)inner * id / opt.threads), high = 1 + (int)((long)inner * (id + 1) / opt.threads);
    for (int half = 0; half < 2 * opt.iterations; half++) {
        sweep(grid, low, high, half & 1, opt.size);
        if (opt.counters)
            meet_neighbours(id);
        else
            pthread_barrier_wait(&sweep_barrier);
    }
    return NULL;
}

static void run_relaxers(void)
{
    pthread_t relaxers[MAX_THREADS];
    pthread_barrier_init(&sweep_barrier, NULL, (unsigned)opt.threads);
    for (int id = 0; id < opt.threads; id++)
        pthread_create(&relaxers[id], NULL, relaxer, (void *)(intptr_t)id);
    for (int id = 0; id < opt.threads; id++)
        pthread_join(relaxers[id], NULL);
    pthread_barrier_destroy(&sweep_barrier);
}

static double expected_sum(void)
{
    for (size_t k = 0; k < sizeof known_sums / sizeof known_sums[0]; k++)
        if (known_sums[k].size == opt.size && known_sums[k].iterations == opt.iterations &&
            known_sums[k].seed == opt.seed)
            return known_sums[k].sum;
    double **rows = new_grid(opt.size, opt.seed);
    for (int half = 0; half < 2 * opt.iterations; half++)
        sweep(rows, 1, opt.size - 1, half & 1, opt.size);
    double sum = sum_of(rows, opt.size);
    free_grid(rows, opt.size);
    return sum;
}

static int check(double sum, double expected)
{
    if (fabs(sum - expected) > 1e-11 * fabs(expected)) {
        printf("FAILED: sum of the grid %.17g, expected %.17g\n", sum, expected);
        return 1;
    }
    puts("ok");
    return 0;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "sor: '%s' is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static void usage(FILE *to)
{
    fputs("usage: sor [-t threads] [-n grid size] [-i iterations] [-s seed] [--variant=a|b]\n"
          "  a: pthread barrier, b: hand-made counter barrier\n",
          to);
}

static void parse(int argc, char **argv)
{
    static const struct option names[] = {{"variant", required_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "t:n:i:s:h", names, NULL)) != -1;) {
        if (c == 't')
            opt.threads = number(optarg, 1, MAX_THREADS);
        else if (c == 'n')
            opt.size = number(optarg, 3, 20000);
        else if (c == 'i')
            opt.iterations = number(optarg, 1, 1000000);
        else if (c == 's')
            opt.seed = (uint64_t)number(optarg, 0, INT32_MAX);
        else if (c == 'V' && (strcmp(optarg, "a") == 0 || strcmp(optarg, "b") == 0))
            opt.counters = optarg[0] == 'b';
        else {
            usage(c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    grid = new_grid(opt.size, opt.seed);
    run_relaxers();
    int failed = check(sum_of(grid, opt.size), expected_sum());
    free_grid(grid, opt.size);
    return failed;
}
