/* Dining philosophers around a table that is a monitor: a philosopher gets both forks in one step or waits.
 * There is nothing to find here: one lock guards the forks and the snacks, each philosopher counts its own meals,
 * and main reads the counts after the join. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct table {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int num_phil;
    long num_snacks;
    bool *forks; /* true: lies on the table */
};

struct philo {
    pthread_t thread;
    int id;
    struct table *table;
    long snacks_eaten;
    unsigned taste;
};

static bool get_forks(struct table *t, int id)
{
    int id2 = (id + 1) % t->num_phil;
    bool fed = false;
    pthread_mutex_lock(&t->lock);
    while (!(t->forks[id] && t->forks[id2]))
        pthread_cond_wait(&t->changed, &t->lock);
    if (t->num_snacks > 0) {
        t->num_snacks--;
        t->forks[id] = t->forks[id2] = false;
        fed = true;
    } else {
        /* Pass the word on: whoever still waits must learn that nothing is left. */
        pthread_cond_signal(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return fed;
}

static void put_forks(struct table *t, int id)
{
    int id2 = (id + 1) % t->num_phil;
    pthread_mutex_lock(&t->lock);
    t->forks[id] = t->forks[id2] = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* Stands for the random sleep of the original: up to 20,000 steps of a random walk. */
static unsigned eat(unsigned taste)
{
    unsigned bites = taste % 20000;
    for (unsigned i = 0; i < bites; i++)
        taste = (taste ^ (taste >> 7)) * 1664525u + 1013904223u;
    return taste * 1664525u + 1013904223u;
}

static void *philosopher(void *arg)
{
    struct philo *p = arg;
    while (get_forks(p->table, p->id)) {
        p->taste = eat(p->taste);
        p->snacks_eaten++;
        put_forks(p->table, p->id);
    }
    return NULL;
}

static void table_init(struct table *t, int num_phil, long num_snacks)
{
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    t->num_phil = num_phil;
    t->num_snacks = num_snacks;
    t->forks = malloc((size_t)num_phil * sizeof *t->forks);
    for (int i = 0; i < num_phil; i++)
        t->forks[i] = true;
}

static void seat(struct philo *p, int id, struct table *t)
{
    p->id = id;
    p->table = t;
    p->snacks_eaten = 0;
    p->taste = 12345u + 977u * (unsigned)id;
    pthread_create(&p->thread, NULL, philosopher, p);
}

static long report(struct philo *p)
{
    pthread_join(p->thread, NULL);
    printf("philosopher %d ate %ld snacks\n", p->id, p->snacks_eaten);
    return p->snacks_eaten;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t philosophers] [-n snacks]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int num_phil = 5, c;
    long num_snacks = 200, eaten = 0;
    while ((c = getopt(argc, argv, "t:n:h")) != -1) {
        if (c == 't')
            num_phil = atoi(optarg);
        else if (c == 'n')
            num_snacks = atol(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (num_phil < 1 || num_snacks < 0)
        return usage(argv[0], 2);

    struct table table;
    struct philo *philos = calloc((size_t)num_phil, sizeof *philos);
    table_init(&table, num_phil, num_snacks);
    for (int i = 0; i < num_phil; i++)
        seat(&philos[i], i, &table);
    for (int i = 0; i < num_phil; i++)
        eaten += report(&philos[i]);
    free(philos);
    free(table.forks);
    if (eaten != num_snacks) {
        printf("FAILED: %ld snacks eaten of %ld\n", eaten, num_snacks);
        return 1;
    }
    puts("ok");
    return 0;
}
