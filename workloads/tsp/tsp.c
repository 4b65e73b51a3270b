/* The travelling salesman by branch and bound, after tsp of ETH.
 *
 * A queue holds the beginnings of tours, best lower bound first. A solver takes the best one; short ones it splits into
 * their continuations, under the queue's lock; a long one it takes with it and tries all ways to complete, dropping
 * what cannot beat the best tour known. Beginnings live in a pool that main allocates; whoever took one out of the
 * queue is its only user until it gives it back.
 *
 * The length of the best tour is written under min_lock only, but read without it, in the double check of set_best and
 * by everybody who prunes: an outdated, longer one costs work, not correctness. */
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define MAX_CITIES 18
#define SPLIT_LENGTH 4 /* beginnings shorter than this are split */

static struct {
    int threads, cities;
    uint64_t seed;
} opt = {.threads = 2, .cities = 10, .seed = 42};

struct tour {
    int path[MAX_CITIES];
    int n, length, bound;
};

static int distance[MAX_CITIES][MAX_CITIES];
static int cheapest[MAX_CITIES]; /* shortest way out of each city */

static pthread_mutex_t tour_lock = PTHREAD_MUTEX_INITIALIZER;
static struct tour *pool;
static int *queue, n_queued; /* heap of pool indices, lowest bound first */
static int *unused, n_unused;

static pthread_mutex_t min_lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef FIXED
static _Atomic int min_tour_length = INT_MAX;
#else
static int min_tour_length = INT_MAX;
#endif
static int min_tour[MAX_CITIES];

static void set_best(int length, const int *path)
{
    if (length >= min_tour_length)
        return;
    pthread_mutex_lock(&min_lock);
    if (length < min_tour_length) {
        min_tour_length = length;
        memcpy(min_tour, path, (size_t)opt.cities * sizeof *path);
    }
    pthread_mutex_unlock(&min_lock);
}

static bool before(int a, int b)
{
    return pool[queue[a]].bound < pool[queue[b]].bound;
}

static void swap_places(int a, int b)
{
    int t = queue[a];
    queue[a] = queue[b];
    queue[b] = t;
}

static void enqueue(int tour)
{
    int at = n_queued++;
    queue[at] = tour;
    for (; at > 0 && before(at, (at - 1) / 2); at = (at - 1) / 2)
        swap_places(at, (at - 1) / 2);
}

static int dequeue(void)
{
    int first = queue[0];
    queue[0] = queue[--n_queued];
    for (int at = 0, child; (child = 2 * at + 1) < n_queued; at = child) {
        if (child + 1 < n_queued && before(child + 1, child))
            child++;
        if (!before(child, at))
            break;
        swap_places(at, child);
    }
    return first;
}

static unsigned visited_by(const struct tour *t)
{
    unsigned visited = 0;
    for (int i = 0; i < t->n; i++)
        visited |= 1u << t->path[i];
    return visited;
}

/* What every completion costs at least: one way out of the last city and of each city still to visit. */
static int lower_bound(const struct tour *t)
{
    unsigned visited = visited_by(t);
    int bound = t->length + cheapest[t->path[t->n - 1]];
    for (int city = 0; city < opt.cities; city++)
        if (!(visited >> city & 1))
            bound += cheapest[city];
    return bound;
}

static void split(const struct tour *t)
{
    unsigned visited = visited_by(t);
    for (int city = 0; city < opt.cities; city++) {
        if (visited >> city & 1)
            continue;
        int index = unused[--n_unused];
        struct tour *longer = &pool[index];
        *longer = *t;
        longer->path[longer->n++] = city;
        longer->length += distance[t->path[t->n - 1]][city];
        longer->bound = lower_bound(longer);
        enqueue(index);
    }
}

enum find { NONE_LEFT, NOT_READY, READY };

/* Gives the tour the solver holds back to the pool and takes the best beginning instead; a short one is split at once.
 */
static enum find exchange(int *mine)
{
    enum find found = NONE_LEFT;
    pthread_mutex_lock(&tour_lock);
    unused[n_unused++] = *mine;
    if (n_queued > 0) {
        *mine = dequeue();
        const struct tour *t = &pool[*mine];
        bool promising = t->bound < min_tour_length;
        found = promising && t->n >= SPLIT_LENGTH ? READY : NOT_READY;
        if (promising && found == NOT_READY)
            split(t);
    }
    pthread_mutex_unlock(&tour_lock);
    return found;
}

/* One solver's way through the completions of a beginning. */
struct trip {
    int path[MAX_CITIES];
    unsigned visited;
};

/* `rest` is the least that the cities not yet visited and the last one cost on their way out. */
static void visit(struct trip *trip, int n, int length, int rest)
{
    int last = trip->path[n - 1];
    if (n == opt.cities) {
        set_best(length + distance[last][trip->path[0]], trip->path);
        return;
    }
    for (int city = 1; city < opt.cities; city++) {
        if (trip->visited >> city & 1)
            continue;
        int longer = length + distance[last][city];
        if (longer + rest - cheapest[last] >= min_tour_length)
            continue;
        trip->path[n] = city;
        trip->visited |= 1u << city;
        visit(trip, n + 1, longer, rest - cheapest[last]);
        trip->visited &= ~(1u << city);
    }
}

static void complete(const struct tour *t)
{
    struct trip trip;
    memcpy(trip.path, t->path, sizeof trip.path);
    trip.visited = visited_by(t);
    visit(&trip, t->n, t->length, t->bound - t->length);
}

static void *solver(void *arg)
{
    int mine = (int)(intptr_t)arg;
    for (enum find found; (found = exchange(&mine)) != NONE_LEFT;)
        if (found == READY)
            complete(&pool[mine]);
    return NULL;
}

static void run_solvers(void)
{
    pthread_t solvers[MAX_THREADS];
    for (int id = 0; id < opt.threads; id++)
        pthread_create(&solvers[id], NULL, solver, (void *)(intptr_t)(1 + id));
    for (int id = 0; id < opt.threads; id++)
        pthread_join(solvers[id], NULL);
}

static void place_cities(void)
{
    uint64_t state = opt.seed;
    int at[MAX_CITIES][2];
    for (int i = 0; i < opt.cities; i++)
        for (int d = 0; d < 2; d++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            at[i][d] = (int)(state >> 33) % 1000;
        }
    for (int i = 0; i < opt.cities; i++) {
        cheapest[i] = INT_MAX;
        for (int j = 0; j < opt.cities; j++) {
            distance[i][j] = abs(at[i][0] - at[j][0]) + abs(at[i][1] - at[j][1]);
            if (i != j && distance[i][j] < cheapest[i])
                cheapest[i] = distance[i][j];
        }
    }
}

static void fill_pool(void)
{
    int size = opt.cities * opt.cities * opt.cities + MAX_THREADS;
    pool = calloc((size_t)size, sizeof *pool);
    queue = calloc((size_t)size, sizeof *queue);
    unused = calloc((size_t)size, sizeof *unused);
    for (int i = 1 + opt.threads; i < size; i++) /* each solver starts with one in its hands */
        unused[n_unused++] = i;
    pool[0] = (struct tour){.path = {0}, .n = 1, .bound = 0};
    enqueue(0);
}

/* Held and Karp: the shortest way from city 0 through each set of cities to each last one. */
static int sequential_optimum(void)
{
    int n = opt.cities - 1;
    int(*best)[MAX_CITIES] = malloc((sizeof *best) << n);
    for (unsigned set = 1; set < 1u << n; set++)
        for (int last = 0; last < n; last++) {
            unsigned others = set & ~(1u << last);
            best[set][last] = others ? INT_MAX / 2 : distance[0][last + 1];
            for (int k = 0; k < n && set >> last & 1; k++)
                if (others >> k & 1 && best[others][k] + distance[k + 1][last + 1] < best[set][last])
                    best[set][last] = best[others][k] + distance[k + 1][last + 1];
        }
    int optimum = INT_MAX;
    for (int last = 0; last < n; last++)
        if (best[(1u << n) - 1][last] + distance[last + 1][0] < optimum)
            optimum = best[(1u << n) - 1][last] + distance[last + 1][0];
    free(best);
    return optimum;
}

static int length_of_best(void)
{
    int length = 0;
    unsigned visited = 0;
    for (int i = 0; i < opt.cities; i++) {
        visited |= 1u << min_tour[i];
        length += distance[min_tour[i]][min_tour[(i + 1) % opt.cities]];
    }
    return visited == (1u << opt.cities) - 1 ? length : -1;
}

static int check(void)
{
    int optimum = sequential_optimum();
    if (min_tour_length == optimum && length_of_best() == optimum) {
        puts("ok");
        return 0;
    }
    printf("FAILED: found %d by a tour of length %d, the optimum is %d\n", min_tour_length, length_of_best(), optimum);
    return 1;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "tsp: '%s' is not a number from %d to %d\n", text, low, high);
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
            opt.cities = number(optarg, SPLIT_LENGTH + 1, MAX_CITIES);
        else if (c == 's')
            opt.seed = (uint64_t)number(optarg, 0, INT32_MAX);
        else {
            fputs("usage: tsp [-t threads] [-n cities] [-s seed]\n", c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    place_cities();
    fill_pool();
    run_solvers();
    int failed = check();
    free(unused);
    free(queue);
    free(pool);
    return failed;
}
