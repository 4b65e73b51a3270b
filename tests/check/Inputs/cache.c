/* Cache behind a read-write lock: lookup updates "uses" of the entry and the hit count under the read lock only. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = 4 };
struct entry {
    int key, value, uses;
};
static struct {
    pthread_rwlock_t lock;
    struct entry at[ENTRIES];
    int n, lookups;
} cache = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static int compute(int key)
{
    return key * key + 1;
}

static int find(int key, int *value)
{
    int found = 0;
#ifdef FIXED
    pthread_rwlock_wrlock(&cache.lock);
#else
    pthread_rwlock_rdlock(&cache.lock);
#endif
    cache.lookups++;
    for (int i = 0; i < cache.n && !found; i++)
        if (cache.at[i].key == key) {
            cache.at[i].uses++;
            *value = cache.at[i].value;
            found = 1;
        }
    pthread_rwlock_unlock(&cache.lock);
    return found;
}

static void add(int key, int value)
{
    pthread_rwlock_wrlock(&cache.lock);
    int victim = 0, known = 0;
    for (int i = 0; i < cache.n; i++)
        known |= cache.at[i].key == key;
    if (known) {
        pthread_rwlock_unlock(&cache.lock);
        return;
    }
    if (cache.n < ENTRIES)
        victim = cache.n++;
    else
        for (int i = 1; i < ENTRIES; i++)
            if (cache.at[i].uses < cache.at[victim].uses)
                victim = i;
    cache.at[victim] = (struct entry){key, value, 1};
    pthread_rwlock_unlock(&cache.lock);
}

static void *user(void *arg)
{
    int base = (int)(long)arg;
    for (int i = 0; i < 6; i++) {
        int key = (base + i) % 5, value;
        if (!find(key, &value)) {
            value = compute(key);
            add(key, value);
        }
        if (value != compute(key))
            abort();
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, user, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%d lookups\n", cache.lookups);
    return cache.lookups != 18;
}
