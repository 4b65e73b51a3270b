/* A shared database simulator: clients plan and run queries (find a key, move an amount between two rows, sum a range)
 * on one table. A client that has changed many rows rebuilds the table's index and then counts the reorganisation
 * under the log's lock; planning a query looks at the count under the planner's lock, to refresh what the client knows
 * about the table. The table's lock, taken for every batch of rows, orders the two in nearly every run. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 8, SAMPLES = 16 };
enum query_kind { FIND, MOVE, SUM, KINDS };

struct row {
    int key;
    long amount;
};

struct query {
    enum query_kind kind;
    int a, b;
};

struct client {
    pthread_t thread;
    unsigned seed;
    int generation; /* of the table, when the samples were taken */
    long samples[SAMPLES];
    long moves, mismatches, seen;
};

static int n_clients = 2;
static int n_rows = 256;
static int n_queries = 2000; /* of each client */
static int period = 400;     /* moves between two reorganisations */

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct row *rows;
static int *index_of_key;

static pthread_mutex_t plan_lock = PTHREAD_MUTEX_INITIALIZER;
static long plans;

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int reorganised;
static long logged_moves;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- planning ---- */

static int current_generation(void)
{
    pthread_mutex_lock(&plan_lock);
    plans++;
#ifdef FIXED
    pthread_mutex_lock(&log_lock);
#endif
    int generation = reorganised;
#ifdef FIXED
    pthread_mutex_unlock(&log_lock);
#endif
    pthread_mutex_unlock(&plan_lock);
    return generation;
}

static void take_samples(struct client *c)
{
    pthread_mutex_lock(&table_lock);
    for (int i = 0; i < SAMPLES; i++)
        c->samples[i] = rows[i * n_rows / SAMPLES].amount;
    pthread_mutex_unlock(&table_lock);
}

static struct query plan_query(struct client *c)
{
    struct query q = {.kind = (enum query_kind)(next_random(&c->seed) % KINDS),
                      .a = (int)(next_random(&c->seed) % (unsigned)n_rows),
                      .b = (int)(next_random(&c->seed) % (unsigned)n_rows)};
    int generation = current_generation();
    if (generation != c->generation) {
        take_samples(c);
        c->generation = generation;
    }
    return q;
}

/* ---- running ---- */

static void find(struct client *c, int key)
{
    pthread_mutex_lock(&table_lock);
    if (rows[index_of_key[key]].key != key)
        c->mismatches++;
    pthread_mutex_unlock(&table_lock);
}

static void move(struct client *c, int from, int to, long amount)
{
    pthread_mutex_lock(&table_lock);
    rows[from].amount -= amount;
    rows[to].amount += amount;
    pthread_mutex_unlock(&table_lock);
    c->moves++;
}

/* In batches, so that others get their turn: the sum is an estimate. */
static void sum(struct client *c, int from)
{
    for (int i = from; i < n_rows; i += BATCH) {
        pthread_mutex_lock(&table_lock);
        for (int j = i; j < i + BATCH && j < n_rows; j++)
            c->seen += rows[j].amount;
        pthread_mutex_unlock(&table_lock);
    }
}

/* Turns the table by one row and makes a new index. */
static void reorganise(struct client *c)
{
    pthread_mutex_lock(&table_lock);
    struct row first = rows[0];
    for (int i = 0; i < n_rows; i++) {
        rows[i] = i + 1 < n_rows ? rows[i + 1] : first;
        index_of_key[rows[i].key] = i;
    }
    pthread_mutex_unlock(&table_lock);
    pthread_mutex_lock(&log_lock);
    reorganised++;
    logged_moves += c->moves;
    pthread_mutex_unlock(&log_lock);
    c->moves = 0;
}

static void run_query(struct client *c, struct query q)
{
    if (q.kind == FIND)
        find(c, q.a);
    else if (q.kind == MOVE)
        move(c, q.a, q.b, 1 + q.a % 7);
    else
        sum(c, q.a);
    if (c->moves >= period)
        reorganise(c);
}

static void *client(void *arg)
{
    struct client *c = arg;
    for (int i = 0; i < n_queries; i++)
        run_query(c, plan_query(c));
    /* The answers are looked at once more before the client leaves. */
    take_samples(c);
    return NULL;
}

/* ---- database ---- */

static void make_table(void)
{
    rows = calloc((size_t)n_rows, sizeof *rows);
    index_of_key = calloc((size_t)n_rows, sizeof *index_of_key);
    for (int i = 0; i < n_rows; i++) {
        rows[i] = (struct row){.key = i, .amount = 100};
        index_of_key[i] = i;
    }
}

static int check(const struct client *clients)
{
    long money = 0, mismatches = 0, unlogged = 0;
    for (int i = 0; i < n_rows; i++)
        money += rows[i].amount;
    for (int i = 0; i < n_clients; i++) {
        mismatches += clients[i].mismatches;
        unlogged += clients[i].moves;
    }
    if (money != 100L * n_rows || mismatches || plans != (long)n_clients * n_queries) {
        printf("FAILED: %ld in the table, %ld keys not found, %ld plans\n", money, mismatches, plans);
        return 1;
    }
    printf("%ld moves, %d reorganisations\nok\n", logged_moves + unlogged, reorganised);
    return 0;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout,
            "usage: %s [-t clients] [-n queries] [-r rows] [-p moves between reorganisations]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:r:p:h")) != -1) {
        if (c == 't')
            n_clients = atoi(optarg);
        else if (c == 'n')
            n_queries = atoi(optarg);
        else if (c == 'r')
            n_rows = atoi(optarg);
        else if (c == 'p')
            period = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_clients < 1 || n_rows < SAMPLES || period < 1)
        return usage(argv[0], 2);

    struct client *clients = calloc((size_t)n_clients, sizeof *clients);
    make_table();
    for (int i = 0; i < n_clients; i++) {
        clients[i].seed = 1u + (unsigned)i;
        pthread_create(&clients[i].thread, NULL, client, &clients[i]);
    }
    for (int i = 0; i < n_clients; i++)
        pthread_join(clients[i].thread, NULL);
    int result = check(clients);
    free(clients);
    free(rows);
    free(index_of_key);
    return result;
}
