/* A key-value server without its sockets: worker threads serve request streams on one sharded hash map.
 *
 * The map has a mutex per shard; a shard is a chained hash table that grows by itself. Every worker reads the text
 * requests of its connection ("get K", "set K V", "del K"), executes them and checks the answers as the client would.
 * The number of items in the whole map is kept in `kv_size`, outside all shards and outside all locks: a statistic that
 * is shown on demand (-v) and nowhere used. */
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64
#define SHARDS 32
#define KEY_MAX 24
#define VALUE_MAX 64
#define REQUEST_MAX 128

static struct {
    int threads, requests, keys;
    uint64_t seed;
    bool verbose;
} opt = {.threads = 2, .requests = 2000, .keys = 500, .seed = 7};

struct item {
    struct item *next;
    uint64_t hash;
    unsigned key_length, value_length;
    char key[KEY_MAX], value[VALUE_MAX];
};

struct shard {
    pthread_mutex_t lock;
    struct item **buckets;
    unsigned n_buckets, n_items;
};

struct request {
    enum { GET, SET, DEL } op;
    const char *key, *value;
    unsigned key_length, value_length;
};

/* One worker and the client at the other end of its connection. */
struct connection {
    uint64_t random;
    long hits, misses, wrong;
};

static struct shard shards[SHARDS];
#ifdef FIXED
static _Atomic long kv_size;
#else
static long kv_size;
#endif

static uint64_t hash_of(const char *key, unsigned length)
{
    uint64_t h = 14695981039346656037u;
    for (unsigned i = 0; i < length; i++)
        h = (h ^ (unsigned char)key[i]) * 1099511628211u;
    return h ^ h >> 29;
}

static struct shard *shard_of(uint64_t hash)
{
    return &shards[hash % SHARDS];
}

/* The link that leads to the item, or the empty link where it would hang. Shard locked. */
static struct item **find_link(struct shard *s, uint64_t hash, const struct request *r)
{
    struct item **link = &s->buckets[hash / SHARDS % s->n_buckets];
    for (; *link; link = &(*link)->next) {
        struct item *it = *link;
        if (it->hash == hash && it->key_length == r->key_length && memcmp(it->key, r->key, r->key_length) == 0)
            break;
    }
    return link;
}

static void grow(struct shard *s)
{
    unsigned n = s->n_buckets * 2;
    struct item **buckets = calloc(n, sizeof *buckets);
    for (unsigned b = 0; b < s->n_buckets; b++)
        for (struct item *it = s->buckets[b], *next; it; it = next) {
            next = it->next;
            it->next = buckets[it->hash / SHARDS % n];
            buckets[it->hash / SHARDS % n] = it;
        }
    free(s->buckets);
    s->buckets = buckets;
    s->n_buckets = n;
}

/* Length of the value copied out, -1 when there is none. */
static int kv_get(const struct request *r, char *value)
{
    uint64_t hash = hash_of(r->key, r->key_length);
    struct shard *s = shard_of(hash);
    int length = -1;
    pthread_mutex_lock(&s->lock);
    struct item *it = *find_link(s, hash, r);
    if (it) {
        length = (int)it->value_length;
        memcpy(value, it->value, it->value_length);
    }
    pthread_mutex_unlock(&s->lock);
    return length;
}

static struct item *new_item(uint64_t hash, const struct request *r)
{
    struct item *it = calloc(1, sizeof *it);
    it->hash = hash;
    it->key_length = r->key_length;
    memcpy(it->key, r->key, r->key_length);
    return it;
}

static void kv_set(const struct request *r)
{
    uint64_t hash = hash_of(r->key, r->key_length);
    struct shard *s = shard_of(hash);
    bool added = false;
    pthread_mutex_lock(&s->lock);
    struct item **link = find_link(s, hash, r);
    if (!*link) {
        *link = new_item(hash, r);
        added = true;
    }
    struct item *it = *link;
    memcpy(it->value, r->value, r->value_length);
    it->value_length = r->value_length;
    if (added && ++s->n_items > s->n_buckets)
        grow(s);
    pthread_mutex_unlock(&s->lock);
    if (added)
        kv_size++;
}

static void kv_delete(const struct request *r)
{
    uint64_t hash = hash_of(r->key, r->key_length);
    struct shard *s = shard_of(hash);
    pthread_mutex_lock(&s->lock);
    struct item **link = find_link(s, hash, r), *it = *link;
    if (it) {
        *link = it->next;
        s->n_items--;
    }
    pthread_mutex_unlock(&s->lock);
    if (it)
        kv_size--;
    free(it);
}

static unsigned next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static char *put_text(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    return to;
}

static char *put_number(char *to, unsigned n)
{
    char digits[12];
    int count = 0;
    do
        digits[count++] = (char)('0' + n % 10);
    while (n /= 10);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

/* The value a client stores: the key's number, as often as a random length asks. */
static char *put_value(char *to, unsigned key, unsigned repeats)
{
    for (unsigned i = 0; i < repeats; i++) {
        to = put_number(to, key);
        *to++ = ',';
    }
    return to;
}

/* The client's side: 75 in 100 get, 20 set, 5 delete; low keys are asked for more often. */
static unsigned write_request(struct connection *c, char *line)
{
    unsigned dice = next_random(&c->random) % 100, keys = (unsigned)opt.keys;
    unsigned key = next_random(&c->random) % (next_random(&c->random) % keys + 1);
    char *to = put_text(line, dice < 75 ? "get " : dice < 95 ? "set " : "del ");
    to = put_number(put_text(to, "user:"), key);
    if (dice >= 75 && dice < 95) {
        *to++ = ' ';
        to = put_value(to, key, 1 + next_random(&c->random) % 5);
    }
    *to = '\0';
    return key;
}

static bool parse_request(const char *line, struct request *r)
{
    static const char ops[3][5] = {"get ", "set ", "del "};
    int op = 0;
    while (op < 3 && memcmp(line, ops[op], 4) != 0)
        op++;
    if (op == 3)
        return false;
    r->op = (unsigned)op == GET ? GET : (unsigned)op == SET ? SET : DEL;
    r->key = line + 4;
    r->key_length = (unsigned)strcspn(r->key, " ");
    r->value = r->key + r->key_length + (r->op == SET);
    r->value_length = (unsigned)strlen(r->value);
    return r->key_length <= KEY_MAX && r->value_length <= VALUE_MAX;
}

/* Whatever repeats, a stored value must be made of the key asked for and whole. */
static bool plausible(const char *value, int length, unsigned key)
{
    char piece[16];
    int size = (int)(put_value(piece, key, 1) - piece);
    if (length == 0 || length % size != 0)
        return false;
    for (int at = 0; at < length; at += size)
        if (memcmp(value + at, piece, (size_t)size) != 0)
            return false;
    return true;
}

static void serve(struct connection *c, const char *line, unsigned key)
{
    struct request r;
    char value[VALUE_MAX];
    if (!parse_request(line, &r)) {
        c->wrong++;
        return;
    }
    if (r.op == SET)
        kv_set(&r);
    else if (r.op == DEL)
        kv_delete(&r);
    else {
        int length = kv_get(&r, value);
        *(length < 0 ? &c->misses : &c->hits) += 1;
        if (length >= 0 && !plausible(value, length, key))
            c->wrong++;
    }
}

static void *worker(void *arg)
{
    struct connection *connection = arg, c = *connection;
    char line[REQUEST_MAX];
    for (int i = 0; i < opt.requests / opt.threads; i++) {
        unsigned key = write_request(&c, line);
        serve(&c, line, key);
    }
    *connection = c;
    return NULL;
}

static void open_map(void)
{
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&shards[i].lock, NULL);
        shards[i].n_buckets = 8;
        shards[i].buckets = calloc(8, sizeof *shards[i].buckets);
    }
}

/* Frees everything; false if an item hung in the wrong place or a shard had miscounted. */
static bool close_map(long *items)
{
    bool sound = true;
    *items = 0;
    for (int i = 0; i < SHARDS; i++) {
        struct shard *s = &shards[i];
        unsigned found = 0;
        for (unsigned b = 0; b < s->n_buckets; b++)
            for (struct item *it = s->buckets[b], *next; it; it = next, found++) {
                next = it->next;
                sound &= it->hash % SHARDS == (unsigned)i && it->hash / SHARDS % s->n_buckets == b;
                free(it);
            }
        sound &= found == s->n_items;
        *items += found;
        free(s->buckets);
        pthread_mutex_destroy(&s->lock);
    }
    return sound;
}

static void run_workers(struct connection *connections)
{
    pthread_t workers[MAX_THREADS];
    for (int id = 0; id < opt.threads; id++) {
        connections[id] = (struct connection){.random = opt.seed + 0x9e3779b97f4a7c15u * (uint64_t)(id + 1)};
        pthread_create(&workers[id], NULL, worker, &connections[id]);
    }
    for (int id = 0; id < opt.threads; id++)
        pthread_join(workers[id], NULL);
}

static int check(const struct connection *connections)
{
    long hits = 0, misses = 0, wrong = 0, items;
    for (int id = 0; id < opt.threads; id++) {
        hits += connections[id].hits;
        misses += connections[id].misses;
        wrong += connections[id].wrong;
    }
    if (opt.verbose)
        fprintf(stderr, "%ld hits, %ld misses, about %ld items\n", hits, misses, kv_size);
    bool sound = close_map(&items);
    if (sound && wrong == 0) {
        puts("ok");
        return 0;
    }
    printf("FAILED: %ld wrong answers, map of %ld items %s\n", wrong, items, sound ? "sound" : "damaged");
    return 1;
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "kv: '%s' is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "t:n:k:s:vh")) != -1;) {
        if (c == 't')
            opt.threads = number(optarg, 1, MAX_THREADS);
        else if (c == 'n')
            opt.requests = number(optarg, 1, INT32_MAX);
        else if (c == 'k')
            opt.keys = number(optarg, 1, 100000000);
        else if (c == 's')
            opt.seed = (uint64_t)number(optarg, 0, INT32_MAX);
        else if (c == 'v')
            opt.verbose = true;
        else {
            fputs("usage: kv [-t threads] [-n requests] [-k keys] [-s seed] [-v]\n", c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    struct connection connections[MAX_THREADS];
    parse(argc, argv);
    open_map();
    run_workers(connections);
    return check(connections);
}
