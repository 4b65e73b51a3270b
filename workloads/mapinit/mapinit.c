/* A lazily filled map after von Praun, Program 5.5 ("example of overreporting"). Nothing is wrong with it.
 * Every client calls map_init and then map_get. The flag is raised before the tables are filled, which looks wrong,
 * but the filler holds the lock until they are full and map_get needs that lock. The lock views of init (update) and
 * get (read) form no chain, so method consistency complains; the effect of a client is the same in every interleaving.
 * The clients translate numbers to their squares and compare with what they compute themselves. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_CLIENTS 64
#define ENTRIES 512
#define SLOTS 1024

struct map {
    pthread_mutex_t lock;
    atomic_bool init_done; /* Java's volatile */
    unsigned *keys;        /* 0 = free slot */
    unsigned long *values;
};

struct client {
    pthread_t thread;
    unsigned number, lookups, wrong;
};

static struct map *map;

static unsigned slot_of(const struct map *m, unsigned key)
{
    unsigned slot = key * 2654435761u % SLOTS;
    while (m->keys[slot] && m->keys[slot] != key)
        slot = (slot + 1) % SLOTS;
    return slot;
}

static void fill(struct map *m)
{
    m->keys = calloc(SLOTS, sizeof *m->keys);
    m->values = calloc(SLOTS, sizeof *m->values);
    if (!m->keys || !m->values)
        exit(2);
    for (unsigned key = 1; key <= ENTRIES; key++) {
        unsigned slot = slot_of(m, key);
        m->keys[slot] = key;
        m->values[slot] = (unsigned long)key * key;
    }
}

static void map_init(struct map *m)
{
    if (atomic_load(&m->init_done))
        return;
    pthread_mutex_lock(&m->lock);
    if (!atomic_load(&m->init_done)) {
        atomic_store(&m->init_done, true);
        fill(m);
    }
    pthread_mutex_unlock(&m->lock);
}

static unsigned long map_get(struct map *m, unsigned key)
{
    pthread_mutex_lock(&m->lock);
    unsigned slot = slot_of(m, key);
    unsigned long value = m->keys[slot] == key ? m->values[slot] : 0;
    pthread_mutex_unlock(&m->lock);
    return value;
}

static void *client_run(void *arg)
{
    struct client *me = arg;
    map_init(map);
    for (unsigned i = 0; i < me->lookups; i++) {
        unsigned key = 1 + (me->number * 131 + i * 17) % (ENTRIES + 9); /* the last few are not in the map */
        unsigned long expected = key <= ENTRIES ? (unsigned long)key * key : 0;
        me->wrong += map_get(map, key) != expected;
    }
    return NULL;
}

/* A fresh map for every round, so that initialisation is met again; returns the number of wrong answers. */
static unsigned run_once(int clients, unsigned lookups)
{
    struct client crowd[MAX_CLIENTS];
    unsigned wrong = 0;
    map = calloc(1, sizeof *map);
    if (!map)
        exit(2);
    pthread_mutex_init(&map->lock, NULL);
    for (int c = 0; c < clients; c++) {
        crowd[c] = (struct client){.number = (unsigned)c, .lookups = lookups};
        if (pthread_create(&crowd[c].thread, NULL, client_run, &crowd[c]))
            exit(2);
    }
    for (int c = 0; c < clients; c++) {
        pthread_join(crowd[c].thread, NULL);
        wrong += crowd[c].wrong;
    }
    pthread_mutex_destroy(&map->lock);
    free(map->keys);
    free(map->values);
    free(map);
    return wrong;
}

int main(int argc, char **argv)
{
    int clients = 2, option;
    long rounds = 10, lookups = 200, wrong = 0;
    while ((option = getopt(argc, argv, "t:n:s:h")) != -1) {
        if (option == 't')
            clients = atoi(optarg);
        else if (option == 'n')
            rounds = atol(optarg);
        else if (option == 's')
            lookups = atol(optarg);
        else {
            printf("usage: mapinit [-t clients (1..%d)] [-n maps] [-s lookups per client and map]\n", MAX_CLIENTS);
            return option == 'h' ? 0 : 2;
        }
    }
    if (clients < 1 || clients > MAX_CLIENTS || rounds < 0 || lookups < 0)
        return fprintf(stderr, "mapinit: bad number of clients, maps or lookups\n"), 2;
    for (long r = 0; r < rounds; r++)
        wrong += run_once(clients, (unsigned)lookups);
    if (wrong)
        printf("FAILED: %ld wrong answers\n", wrong);
    else
        printf("ok\n");
    return wrong != 0;
}
