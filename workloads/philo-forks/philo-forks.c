/* Dining philosophers with one mutex per fork: everybody takes the left fork first, so all of them may hold their
 * left fork and wait for the right one for ever. Between meals a philosopher thinks for long, so it seldom happens. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fork {
    pthread_mutex_t lock;
    long uses;
};

struct philo {
    pthread_t thread;
    int id;
    unsigned thought;
};

static struct fork *forks;
static int num_phil = 5;
static int meals = 20;
static int steps = 20000; /* of one thought */

static unsigned think(unsigned thought)
{
    for (int i = 0; i < steps; i++)
        thought = (thought ^ (thought >> 7)) * 1664525u + 1013904223u;
    return thought;
}

static void eat(struct fork *first, struct fork *second)
{
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    first->uses++;
    second->uses++;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *philosopher(void *arg)
{
    struct philo *p = arg;
    struct fork *left = &forks[p->id], *right = &forks[(p->id + 1) % num_phil];
#ifdef FIXED
    /* The last one reaches across the table's end: he alone would close the circle. */
    if (right < left) {
        struct fork *swap = left;
        left = right;
        right = swap;
    }
#endif
    for (int i = 0; i < meals; i++) {
        p->thought = think(p->thought);
        eat(left, right);
    }
    return NULL;
}

static long total_uses(void)
{
    long uses = 0;
    for (int i = 0; i < num_phil; i++)
        uses += forks[i].uses;
    return uses;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t philosophers (2 or more)] [-n meals] [-s steps of a thought]\n",
            prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:n:s:h")) != -1) {
        if (c == 't')
            num_phil = atoi(optarg);
        else if (c == 'n')
            meals = atoi(optarg);
        else if (c == 's')
            steps = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (num_phil < 2 || meals < 0)
        return usage(argv[0], 2);

    struct philo *philos = calloc((size_t)num_phil, sizeof *philos);
    forks = calloc((size_t)num_phil, sizeof *forks);
    for (int i = 0; i < num_phil; i++)
        pthread_mutex_init(&forks[i].lock, NULL);
    for (int i = 0; i < num_phil; i++) {
        philos[i] = (struct philo){.id = i, .thought = 7u + (unsigned)i};
        pthread_create(&philos[i].thread, NULL, philosopher, &philos[i]);
    }
    for (int i = 0; i < num_phil; i++)
        pthread_join(philos[i].thread, NULL);

    long uses = total_uses(), expected = 2L * num_phil * meals;
    free(forks);
    free(philos);
    if (uses != expected) {
        printf("FAILED: forks used %ld times, expected %ld\n", uses, expected);
        return 1;
    }
    puts("ok");
    return 0;
}
