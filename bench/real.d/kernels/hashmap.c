/* Two threads count words in a chained hash map with one mutex for each of 64 shards. Argument: how much work. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHARDS = 64, BUCKETS = 1024, KEYS = 40000, THREADS = 2 };

struct entry {
    struct entry *next;
    uint32_t key, count;
};

struct shard {
    pthread_mutex_t lock;
    struct entry *bucket[BUCKETS];
    uint64_t size;
};

static struct shard map[SHARDS];
static long steps;

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

static void count(uint32_t key)
{
    uint32_t hash = mix(key);
    struct shard *s = &map[hash % SHARDS];
    struct entry **slot = &s->bucket[hash / SHARDS % BUCKETS];
    pthread_mutex_lock(&s->lock);
    struct entry *e = *slot;
    while (e && e->key != key)
        e = e->next;
    if (!e) {
        e = malloc(sizeof *e);
        *e = (struct entry){.next = *slot, .key = key};
        *slot = e;
        s->size++;
    }
    e->count++;
    pthread_mutex_unlock(&s->lock);
}

static void *fill(void *seed)
{
    uint32_t state = (uint32_t)(long)seed;
    for (long i = 0; i < steps; i++) {
        state = state * 1664525U + 1013904223U;
        count((state >> 8) % KEYS);
    }
    return NULL;
}

static void summary(void)
{
    uint64_t size = 0, total = 0;
    for (int i = 0; i < SHARDS; i++) {
        size += map[i].size;
        for (int b = 0; b < BUCKETS; b++)
            for (struct entry *e = map[i].bucket[b]; e; e = e->next)
                total += (uint64_t)e->count * mix(e->key);
    }
    printf("%llu keys, %llu\n", (unsigned long long)size, (unsigned long long)total);
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-')
        return 0;
    steps = 1000000L * atoi(argv[1]);
    for (int i = 0; i < SHARDS; i++)
        pthread_mutex_init(&map[i].lock, NULL);
    pthread_t worker[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&worker[i], NULL, fill, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(worker[i], NULL);
    summary();
    return 0;
}
