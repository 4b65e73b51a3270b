/* Three programs around one question: when does "no common lock" mean a race? Names as in the paper's figures.
 * fig4: a clause database; numDelItr is read under KeyLock and incremented under DelLock. A race, but NumLock, taken
 * for every clause in between, orders the two in nearly every run. fig6: X is guarded by lock_x here and by lock_y
 * there, yet any two accesses that could meet share a lock. No race. fig7: as fig6, but both threads also set X: now X
 * = 7 under lock_x meets Y = X under lock_y. A race, which a search that only looks back from the lockset's warning
 * does not find. */
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int numThreads = 2;
static int rounds = 10;

/* ---- fig4 ---- */

enum { LEARNT_PER_ROUND = 40, TOO_BIG = 24, MAX_LENGTH = 32 };

struct clause {
    int length; /* 0: free slot */
    unsigned literals;
};

struct solver {
    pthread_t thread;
    int myStart;
    unsigned seed;
};

static pthread_mutex_t KeyLock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t NumLock = PTHREAD_MUTEX_INITIALIZER;
#ifdef FIXED
#define DelLock KeyLock
#else
static pthread_mutex_t DelLock = PTHREAD_MUTEX_INITIALIZER;
#endif
static struct clause *clauses; /* this and the next two under NumLock */
static long NumLearnt;
static long NumDeleted;
static int poolSize = 256;
static int numDelItr;

static bool is_too_big(const struct clause *c)
{
    return c->length > TOO_BIG;
}

/* Moves the clauses to the front of the pool. */
static void compress(void)
{
    int live = 0;
    pthread_mutex_lock(&NumLock);
    for (int i = 0; i < poolSize; i++) {
        struct clause c = clauses[i];
        clauses[i].length = 0;
        if (c.length > 0)
            clauses[live++] = c;
    }
    pthread_mutex_unlock(&NumLock);
}

/* Puts the clause into the first free slot from `hint` on; a full pool forgets it. */
static void learn(struct clause c, int hint)
{
    pthread_mutex_lock(&NumLock);
    for (int i = 0; i < poolSize; i++) {
        struct clause *slot = &clauses[(hint + i) % poolSize];
        if (slot->length == 0) {
            *slot = c;
            NumLearnt++;
            break;
        }
    }
    pthread_mutex_unlock(&NumLock);
}

/* Stands for the huge program fragment around the figure: learns clauses and propagates. */
static void search(struct solver *s)
{
    for (int i = 0; i < LEARNT_PER_ROUND; i++) {
        learn((struct clause){.length = 1 + (int)((s->seed >> 8) % MAX_LENGTH), .literals = s->seed}, s->myStart);
        for (int j = 0; j < 5000; j++)
            s->seed = (s->seed ^ (s->seed >> 7)) * 1664525u + 1013904223u;
    }
    learn((struct clause){.length = 1, .literals = s->seed}, s->myStart);
}

static void delete_round(struct solver *s)
{
    pthread_mutex_lock(&KeyLock);
    if (numDelItr % 5 == 0)
        compress();
    pthread_mutex_unlock(&KeyLock);
    for (int i = s->myStart; i < s->myStart + poolSize / numThreads; ++i) {
        pthread_mutex_lock(&NumLock);
        if (is_too_big(&clauses[i])) {
            clauses[i].length = 0;
            ++NumDeleted;
        }
        pthread_mutex_unlock(&NumLock);
    }
    pthread_mutex_lock(&DelLock);
    ++numDelItr;
    pthread_mutex_unlock(&DelLock);
}

static void *solver(void *arg)
{
    struct solver *s = arg;
    for (int i = 0; i < rounds; i++) {
        search(s);
        delete_round(s);
    }
    search(s);
    return NULL;
}

static int check_fig4(void)
{
    long live = 0;
    for (int i = 0; i < poolSize; i++)
        live += clauses[i].length > 0;
    if (live != NumLearnt - NumDeleted || numDelItr != rounds * numThreads) {
        printf("FAILED: %ld clauses, %ld learnt, %ld deleted\n", live, NumLearnt, NumDeleted);
        return 1;
    }
    printf("%ld clauses learnt, %ld deleted\nok\n", NumLearnt, NumDeleted);
    return 0;
}

static int run_fig4(void)
{
    struct solver *solvers = calloc((size_t)numThreads, sizeof *solvers);
    clauses = calloc((size_t)poolSize, sizeof *clauses);
    for (int i = 0; i < numThreads; i++) {
        solvers[i].myStart = i * (poolSize / numThreads);
        solvers[i].seed = 1u + (unsigned)i;
        pthread_create(&solvers[i].thread, NULL, solver, &solvers[i]);
    }
    for (int i = 0; i < numThreads; i++)
        pthread_join(solvers[i].thread, NULL);
    int result = check_fig4();
    free(solvers);
    free(clauses);
    return result;
}

/* ---- fig6 and fig7 ---- */

static pthread_mutex_t lock_x = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock_y = PTHREAD_MUTEX_INITIALIZER;
static int X, Y;

static void *fig6_thread1(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock_x);
    pthread_mutex_lock(&lock_y);
    X = Y;
    pthread_mutex_unlock(&lock_y);
    pthread_mutex_unlock(&lock_x);
    return NULL;
}

static void *fig6_thread2(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock_x);
    X = 7;
    pthread_mutex_unlock(&lock_x);
    pthread_mutex_lock(&lock_y);
    Y = X;
    pthread_mutex_unlock(&lock_y);
    return NULL;
}

static void copy_x_to_y(void)
{
    pthread_mutex_lock(&lock_x);
    pthread_mutex_lock(&lock_y);
    Y = X;
    pthread_mutex_unlock(&lock_y);
    pthread_mutex_unlock(&lock_x);
}

static void *fig7_thread1(void *unused)
{
    (void)unused;
    copy_x_to_y();
    pthread_mutex_lock(&lock_x);
    X = 7;
    pthread_mutex_unlock(&lock_x);
    return NULL;
}

static void *fig7_thread2(void *unused)
{
    (void)unused;
    copy_x_to_y();
    pthread_mutex_lock(&lock_x);
    X = 7;
    pthread_mutex_unlock(&lock_x);
#ifdef FIXED
    copy_x_to_y();
#else
    pthread_mutex_lock(&lock_y);
    Y = X;
    pthread_mutex_unlock(&lock_y);
#endif
    return NULL;
}

/* One start of both threads is one round. */
static void run_pair(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t t1, t2;
    X = Y = 0;
    pthread_create(&t1, NULL, first, NULL);
    pthread_create(&t2, NULL, second, NULL);
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
}

static int check_pair(bool good)
{
    if (!good) {
        printf("FAILED: X = %d, Y = %d\n", X, Y);
        return 1;
    }
    return 0;
}

static int run_fig6(void)
{
    for (int i = 0; i < rounds; i++) {
        run_pair(fig6_thread1, fig6_thread2);
        /* Thread 1 comes before, between or after the two steps of thread 2; X = Y = 0 only if between. */
        if (check_pair(X == Y && (X == 7 || X == 0)))
            return 1;
    }
    puts("ok");
    return 0;
}

static int run_fig7(void)
{
    for (int i = 0; i < rounds; i++) {
        run_pair(fig7_thread1, fig7_thread2);
        if (check_pair(X == 7 && Y == 7))
            return 1;
    }
    puts("ok");
    return 0;
}

/* ---- main ---- */

static const struct {
    const char *name;
    int (*run)(void);
} variants[] = {{"fig4", run_fig4}, {"fig6", run_fig6}, {"fig7", run_fig7}};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [--variant=fig4|fig6|fig7] [-t threads, fig4 only] [-n rounds]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"variant", required_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *variant = "fig4";
    int c;
    while ((c = getopt_long(argc, argv, "v:t:n:h", options, NULL)) != -1) {
        if (c == 'v')
            variant = optarg;
        else if (c == 't')
            numThreads = atoi(optarg);
        else if (c == 'n')
            rounds = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (numThreads < 1 || numThreads > poolSize)
        return usage(argv[0], 2);
    for (int i = 0; i < N_VARIANTS; i++) {
        if (strcmp(variants[i].name, variant) == 0)
            return variants[i].run();
    }
    return usage(argv[0], 2);
}
