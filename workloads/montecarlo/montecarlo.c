/* Monte Carlo pricing of a stock by simulated price paths, after montecarlo of the Java Grande suite.
 *
 * From a year's history of prices main derives drift and volatility. Every task simulates one path of daily prices with
 * a random sequence of its own, and works out the expected return and volatility that path would have shown. Pricers
 * take the tasks in turn and file their results under a lock; main averages them.
 *
 * As in the suite, every object set up sets the program-wide debug flag, always to the same value, and every object
 * asks it before it would print. Nobody locks for that. */
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define TRADING_DAYS 250

#ifdef FIXED
static _Atomic bool universal_debug;
#else
static bool universal_debug;
#endif

static struct {
    int threads, paths, days;
    uint64_t seed;
    bool debug;
} opt = {.threads = 2, .paths = 60, .days = TRADING_DAYS, .seed = 4711};

struct rates {
    double drift, volatility; /* per year */
};

struct price_path {
    int task, days;
    double *prices;
    uint64_t random;
};

struct result {
    int task;
    double drift, volatility, last_price;
};

static double *history;
static struct rates market;

static pthread_mutex_t results_lock = PTHREAD_MUTEX_INITIALIZER;
static struct result *results;
static int n_results;

static double random_unit(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(*state >> 12) + 0.5) * 0x1p-52;
}

static double random_gauss(uint64_t *state)
{
    for (;;) {
        double u = 2 * random_unit(state) - 1, v = 2 * random_unit(state) - 1, s = u * u + v * v;
        if (s > 0 && s < 1)
            return u * sqrt(-2 * log(s) / s);
    }
}

static void set_debug(bool on)
{
    universal_debug = on;
}

static void debug_print(const char *what, int task, double value)
{
    if (universal_debug)
        fprintf(stderr, "task %d: %s %g\n", task, what, value);
}

static void path_init(struct price_path *path, int task, int days, double *prices)
{
    set_debug(opt.debug);
    *path = (struct price_path){task, days, prices, opt.seed + 0x9e3779b97f4a7c15u * (uint64_t)(task + 1)};
    random_unit(&path->random);
}

/* Geometric Brownian motion in daily steps. */
static void simulate(struct price_path *path, const struct rates *rates, double first_price)
{
    double step = 1.0 / TRADING_DAYS;
    double steady = (rates->drift - 0.5 * rates->volatility * rates->volatility) * step;
    double shaken = rates->volatility * sqrt(step);
    path->prices[0] = first_price;
    for (int day = 1; day < path->days; day++)
        path->prices[day] = path->prices[day - 1] * exp(steady + shaken * random_gauss(&path->random));
    debug_print("last price", path->task, path->prices[path->days - 1]);
}

static struct rates estimate(const double *prices, int days)
{
    double sum = 0, square = 0;
    int n = days - 1;
    for (int day = 1; day < days; day++) {
        double gain = log(prices[day] / prices[day - 1]);
        sum += gain;
        square += gain * gain;
    }
    double variance = (square - sum * sum / n) / (n - 1) * TRADING_DAYS;
    return (struct rates){sum / n * TRADING_DAYS + 0.5 * variance, sqrt(variance)};
}

static struct result run_task(int task, double *prices)
{
    struct price_path path;
    path_init(&path, task, opt.days, prices);
    simulate(&path, &market, history[TRADING_DAYS - 1]);
    struct rates seen = estimate(path.prices, path.days);
    debug_print("expected return", task, seen.drift);
    return (struct result){task, seen.drift, seen.volatility, path.prices[path.days - 1]};
}

static void file_result(struct result r)
{
    pthread_mutex_lock(&results_lock);
    results[n_results++] = r;
    pthread_mutex_unlock(&results_lock);
}

static void *pricer(void *arg)
{
    int id = (int)(intptr_t)arg;
    double *prices = malloc((size_t)opt.days * sizeof *prices);
    for (int task = id; task < opt.paths; task += opt.threads)
        file_result(run_task(task, prices));
    free(prices);
    return NULL;
}

static void run_pricers(void)
{
    pthread_t pricers[MAX_THREADS];
    for (int id = 0; id < opt.threads; id++)
        pthread_create(&pricers[id], NULL, pricer, (void *)(intptr_t)id);
    for (int id = 0; id < opt.threads; id++)
        pthread_join(pricers[id], NULL);
}

static void invent_history(void)
{
    struct price_path path;
    path_init(&path, -1, TRADING_DAYS, history);
    simulate(&path, &(struct rates){0.06, 0.25}, 100);
    market = estimate(history, TRADING_DAYS);
}

static bool same_result(const struct result *a, const struct result *b)
{
    return a->task == b->task && a->drift == b->drift && a->volatility == b->volatility &&
           a->last_price == b->last_price;
}

/* Every task once, some simulated again by main, and the mean near the drift that went in. */
static const char *complaint(void)
{
    double mean = 0, *prices = malloc((size_t)opt.days * sizeof *prices);
    const char *why = n_results == opt.paths ? NULL : "results are missing";
    char *seen = calloc((size_t)opt.paths, 1);
    for (int i = 0; i < n_results && !why; i++) {
        mean += results[i].drift / opt.paths;
        if (seen[results[i].task]++)
            why = "a task has two results";
        if (results[i].task % 50 == 0) {
            struct result again = run_task(results[i].task, prices);
            if (!same_result(&results[i], &again))
                why = "a result differs from a sequential run";
        }
    }
    double years = (double)opt.days / TRADING_DAYS * opt.paths;
    if (!why && !(fabs(mean - market.drift) <= 6 * market.volatility / sqrt(years) + 0.05))
        why = "the mean return is far from the market's";
    free(seen);
    free(prices);
    return why;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "montecarlo: '%s' is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "t:n:d:s:vh")) != -1;) {
        if (c == 't')
            opt.threads = number(optarg, 1, MAX_THREADS);
        else if (c == 'n')
            opt.paths = number(optarg, 1, 10000000);
        else if (c == 'd')
            opt.days = number(optarg, 3, 1000000);
        else if (c == 's')
            opt.seed = (uint64_t)number(optarg, 0, INT32_MAX);
        else if (c == 'v')
            opt.debug = true;
        else {
            fputs("usage: montecarlo [-t threads] [-n paths] [-d days] [-s seed] [-v]\n", c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    history = malloc(TRADING_DAYS * sizeof *history);
    results = calloc((size_t)opt.paths, sizeof *results);
    invent_history();
    run_pricers();
    const char *why = complaint();
    if (why)
        printf("FAILED: %s\n", why);
    else
        puts("ok");
    free(results);
    free(history);
    return why != NULL;
}
